"""Skills on an arm: what they do, how they judge it, and what they leave behind when they fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fake_kitchen import LOOK_EVERY, RATE, ROBOT, STOP, FakeKitchen, thing
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried

from kc_vla.planning.skills import SKILLS, Call
from kc_vla.skills.interface import ArmReading, PolicyStage, SkillError
from kc_vla.skills.perceived import PerceivedThing
from kc_vla.skills.policy_skill import skill_instruction
from kc_vla.skills.skill_run import LONGEST_GAP
from kc_vla.skills.skill_table import MOTIONS, SkillWay, begin_skill, ways_of


def test_an_apple_is_put_into_a_drawer() -> None:
    kitchen = FakeKitchen()
    assert kitchen.do("OpenObject", "drawer_1").done
    assert kitchen.opening > 0.1
    assert kitchen.do("PickupObject", "apple_1").done
    assert kitchen.in_hand == "apple_1"
    assert kitchen.do("PutObject", "apple_1", "drawer_1").done
    assert kitchen.do("CloseObject", "drawer_1").done
    assert kitchen.things["apple_1"].attributes == {"place": "in drawer_1"}
    assert kitchen.opening < 0.01


def test_what_is_held_is_put_aside_to_open_a_drawer() -> None:
    kitchen = FakeKitchen()
    assert kitchen.do("PickupObject", "apple_1").done
    assert kitchen.do("OpenObject", "drawer_1").done
    assert kitchen.opening > 0.1
    assert kitchen.in_hand == "apple_1"


def test_what_is_seen_and_held_is_reported_as_the_planner_knows_it() -> None:
    kitchen = FakeKitchen()
    kitchen.do("PickupObject", "apple_1")
    seen = {each.object_id: each for each in kitchen.station.seen()}
    assert seen["apple_1"].relation == "held"
    assert not seen["drawer_1"].movable
    assert seen["drawer_1"].container == "cabinet_1"
    assert "worktop" in seen
    assert set(seen["drawer_1"].attributes) == {"place"}


def test_a_thing_that_was_moved_is_taken_where_it_is_then() -> None:
    kitchen = FakeKitchen()

    def move(now: FakeKitchen) -> None:
        if now.station.run is not None and now.station.run.stage == "reach":
            apple = now.things["apple_1"]
            now.things["apple_1"] = replace(apple, position=np.array([0.42, -0.3, 0.038]))

    kitchen.each_step = move
    outcome = kitchen.do("PickupObject", "apple_1")
    assert (outcome.done, outcome.remark) == (True, "grasps that missed before: 1")
    assert kitchen.in_hand == "apple_1"


def test_a_thing_that_moves_on_is_not_taken_to_be_held() -> None:
    kitchen = FakeKitchen()

    def move(now: FakeKitchen) -> None:
        if now.station.run is not None and now.station.run.stage == "reach":
            at = (0.42, -0.3, 0.038) if now.index // 100 % 2 else (0.42, 0.2, 0.038)
            if np.linalg.norm(now.things["apple_1"].position[:2] - now.tool[:2]) < 0.05:
                now.move("apple_1", at if np.linalg.norm(np.array(at)[:2] - now.tool[:2]) > 0.1 else (0.5, 0.0, 0.038))

    kitchen.each_step = move
    outcome = kitchen.do("PickupObject", "apple_1")
    assert outcome.reason == "there is nothing between the fingers where apple_1 was seen"
    assert kitchen.station.context.held is None


def test_fingers_that_do_not_open_are_noticed_before_the_hand_goes_down() -> None:
    kitchen = FakeKitchen()

    def closed(now: FakeKitchen) -> None:
        now.width = 0.0

    kitchen.each_step = closed
    outcome = kitchen.do("PickupObject", "apple_1")
    assert outcome.reason.startswith("the fingers do not open: they are 0.0 cm apart, and 8.0 cm were asked for")
    assert kitchen.tool[2] > 0.1


def test_a_thing_that_slips_out_is_noticed() -> None:
    kitchen = FakeKitchen()

    def drop(now: FakeKitchen) -> None:
        if now.station.run is not None and now.station.run.stage == "carry" and now.in_hand:
            now.things[now.in_hand] = thing("apple_1", (0.42, 0.2, 0.038), (0.07, 0.07, 0.076))
            now.in_hand = ""

    kitchen.do("OpenObject", "drawer_1")
    kitchen.do("PickupObject", "apple_1")
    kitchen.each_step = drop
    outcome = kitchen.do("PutObject", "apple_1", "drawer_1")
    assert outcome.reason == "apple_1 fell out of the hand on the way to drawer_1"
    assert kitchen.station.context.held is None


def drop(kitchen: FakeKitchen, place: tuple[float, float, float] = (0.42, 0.2, 0.038)) -> None:
    """Let the apple fall out of the hand, and lie somewhere."""
    kitchen.things["apple_1"] = thing("apple_1", place, (0.07, 0.07, 0.076))
    kitchen.in_hand = ""


def relation_of(kitchen: FakeKitchen, name: str) -> str:
    """Return how a thing stands, as a planner gets it."""
    return next(each.relation for each in kitchen.station.seen() if each.object_id == name)


def test_what_falls_out_of_an_idle_hand_is_reported_as_dropped_until_it_is_seen() -> None:
    kitchen = FakeKitchen()
    kitchen.do("PickupObject", "apple_1")
    kitchen.blind = True
    drop(kitchen)
    for _ in range(5):
        kitchen.step()
    assert relation_of(kitchen, "apple_1") == "dropped"
    kitchen.blind = False
    for _ in range(20):
        kitchen.step()
    assert relation_of(kitchen, "apple_1") == "on"
    assert kitchen.do("PickupObject", "apple_1").done
    assert relation_of(kitchen, "apple_1") == "held"


def test_what_falls_into_a_drawer_that_is_closed_is_not_reported_as_held() -> None:
    kitchen = FakeKitchen()
    kitchen.do("PickupObject", "apple_1")
    drop(kitchen, (0.6, 0.0, 0.17))
    kitchen.things["apple_1"] = replace(kitchen.things["apple_1"], attributes={"place": "in drawer_1"})
    kitchen.do("GoToObject", "drawer_1")
    assert relation_of(kitchen, "apple_1") == "dropped"


def test_after_a_restart_the_hand_stays_closed_on_what_is_seen_between_the_fingers() -> None:
    kitchen = FakeKitchen()
    kitchen.do("PickupObject", "apple_1")
    kitchen.restart()
    kitchen.blind = True
    for _ in range(20):
        kitchen.step()
    assert kitchen.in_hand == "apple_1"
    refused = "something is in the hand, and it is not known what: take it out of the fingers by hand"
    assert kitchen.do("PickupObject", "apple_1").reason == refused
    kitchen.blind = False
    kitchen.report()
    assert relation_of(kitchen, "apple_1") == "held"
    assert kitchen.do("PutObject", "apple_1", "worktop").done


def test_after_a_restart_a_hand_that_was_half_open_is_found_empty() -> None:
    kitchen = FakeKitchen()
    kitchen.width, kitchen.index = 0.04, 200
    kitchen.restart()
    for _ in range(6):
        kitchen.step()
    assert kitchen.do("PickupObject", "apple_1").done


def test_what_is_in_the_hand_as_an_episode_begins_is_not_dropped_before_it_is_known() -> None:
    kitchen = FakeKitchen()
    kitchen.do("PickupObject", "apple_1")
    kitchen.restart()
    kitchen.index, kitchen.blind = 0, True
    width = kitchen.width
    for _ in range(20):
        kitchen.step()
    assert kitchen.width == width
    refused = "something is in the hand, and it is not known what: take it out of the fingers by hand"
    for call in (("PickupObject", "apple_1"), ("PutObject", "apple_1", "worktop")):
        assert kitchen.do(*call).reason == refused
        assert kitchen.in_hand == "apple_1"
    kitchen.blind = False
    kitchen.report()
    assert kitchen.do("PutObject", "apple_1", "worktop").done


def test_an_empty_hand_that_is_half_open_as_an_episode_begins_is_felt_to_be_empty() -> None:
    kitchen = FakeKitchen()
    kitchen.width = 0.04
    kitchen.restart()
    for _ in range(20):
        kitchen.step()
    assert kitchen.width == 0.04
    assert kitchen.do("PickupObject", "apple_1").done


def rename(kitchen: FakeKitchen, name: str, other: str) -> None:
    """Let perception call a thing otherwise, as after a restart."""
    kitchen.things[other] = replace(kitchen.things.pop(name), object_id=other)
    kitchen.in_hand = other if kitchen.in_hand == name else kitchen.in_hand


def test_what_is_in_the_hand_keeps_its_name_when_perception_is_started_again() -> None:
    kitchen = FakeKitchen()
    kitchen.do("PickupObject", "apple_1")
    rename(kitchen, "apple_1", "apple_1-2b")
    for _ in range(LOOK_EVERY * 8):
        kitchen.step()
    seen = {each.object_id: each.relation for each in kitchen.station.seen()}
    assert seen["apple_1"] == "held"
    assert "apple_1-2b" not in seen
    assert kitchen.do("PutObject", "apple_1", "worktop").done


def test_without_perception_nothing_moves() -> None:
    kitchen = FakeKitchen()
    kitchen.blind = True
    before = kitchen.joints.copy()
    outcome = kitchen.do("OpenObject", "drawer_1")
    assert outcome.reason.startswith("perception has reported nothing for 4 s")
    assert np.allclose(kitchen.joints, before)


def test_a_drawer_that_stays_shut_is_not_reported_open() -> None:
    kitchen = FakeKitchen()

    def shut(now: FakeKitchen) -> None:
        now.opening = 0.0

    kitchen.each_step = shut
    outcome = kitchen.do("OpenObject", "drawer_1")
    assert outcome.reason == ("drawer_1 is not seen open after it was pulled: the handle may have slipped away")


def test_a_drawer_that_was_opened_while_nobody_saw_it_is_not_reported_closed() -> None:
    kitchen = FakeKitchen()
    kitchen.hidden, kitchen.opening = frozenset({"drawer_1"}), 0.1
    outcome = kitchen.do("CloseObject", "drawer_1")
    assert not outcome.done
    assert outcome.reason.startswith("drawer_1 is not seen now, so it is not known whether it is closed")
    kitchen.hidden = frozenset()
    assert kitchen.do("CloseObject", "drawer_1").done
    assert kitchen.opening < 0.01


def test_a_drawer_that_is_open_in_part_is_pulled_out_before_a_hand_reaches_in() -> None:
    inside = thing("egg_1", (0.47, 0.0, 0.147), (0.05, 0.05, 0.04), attributes={"place": "in drawer_1"})
    kitchen = FakeKitchen({"egg_1": inside}, opening=0.08)
    assert kitchen.do("PickupObject", "egg_1").done
    assert kitchen.opening > 0.12
    assert kitchen.in_hand == "egg_1"


def test_a_drawer_is_pulled_until_it_stops_and_no_further_and_not_again() -> None:
    kitchen = FakeKitchen(opening=0.05)
    beyond = [0.0]

    def note(now: FakeKitchen) -> None:
        if now.station.run is not None and now.station.run.stage == "pull" and now.sent:
            sent = now.kinematics.flange(now.sent[-1])[0, 3]
            beyond.append(float(now.tool[0] - sent))

    inside = thing("egg_1", (0.5, 0.0, 0.147), (0.05, 0.05, 0.04), attributes={"place": "in drawer_1"})
    kitchen.things["egg_1"] = inside
    kitchen.each_step = note
    assert kitchen.do("PickupObject", "egg_1").done
    assert kitchen.opening == STOP
    assert 0.0 < max(beyond) < 0.06
    assert kitchen.do("PutObject", "egg_1", "worktop").done
    blocked = thing("spoon_1", (0.55, 0.0, 0.13), (0.14, 0.03, 0.012), attributes={"place": "in drawer_1"})
    kitchen.things["spoon_1"] = blocked
    beyond.clear()
    assert not kitchen.do("PickupObject", "spoon_1").done
    assert not beyond  # it was at its stop before


def test_a_drawer_without_room_is_pulled_out_with_what_was_held_put_aside() -> None:
    kitchen = FakeKitchen(opening=0.05)
    assert kitchen.do("PickupObject", "apple_1").done
    assert kitchen.do("PutObject", "apple_1", "drawer_1").done
    assert kitchen.opening == STOP
    assert kitchen.things["apple_1"].attributes == {"place": "in drawer_1"}
    assert kitchen.do("PickupObject", "apple_1").done  # what the arm puts there it can take again


def test_a_drawer_below_an_open_one_is_left_alone_with_the_hand_full() -> None:
    bar = {"place": "in cabinet_1", "handle": "0.441 0.0 0.107", "opening": "0.0"}
    below = thing("drawer_2", (0.588, 0.0, 0.062), (0.204, 0.278, 0.109), state="closed", attributes=bar)
    kitchen = FakeKitchen({"drawer_2": below})
    kitchen.do("OpenObject", "drawer_1")
    kitchen.do("PickupObject", "apple_1")
    outcome = kitchen.do("OpenObject", "drawer_2")
    assert outcome.reason == "drawer_1 is open above the handle of drawer_2: close it first"
    assert kitchen.in_hand == "apple_1"


def test_a_skill_that_is_stopped_holds_and_knows_what_is_in_the_hand() -> None:
    kitchen = FakeKitchen()
    kitchen.do("OpenObject", "drawer_1")
    kitchen.do("PickupObject", "apple_1")
    run = kitchen.station.begin(Call("PutObject", ("apple_1", "drawer_1")))
    while run.stage != "carry":
        kitchen.step()
    for _ in range(10):
        kitchen.step()
    run.fail("the emergency stop was set: the arm holds")
    where = kitchen.joints.copy()
    kitchen.step()
    assert np.abs(kitchen.joints - where).max() < 0.1  # one control step further, and none back
    where = kitchen.joints.copy()
    for _ in range(30):
        kitchen.step()
    assert np.allclose(kitchen.joints, where)
    assert kitchen.in_hand == "apple_1"
    assert kitchen.station.context.held is not None
    assert kitchen.do("PutObject", "apple_1", "drawer_1").done


def test_an_arm_that_does_not_follow_ends_the_skill() -> None:
    kitchen = FakeKitchen()
    kitchen.stuck = True
    outcome = kitchen.do("OpenObject", "drawer_1")
    assert "the arm does not follow in the stage 'approach'" in outcome.reason


def test_a_skill_takes_no_longer_than_its_time() -> None:
    kitchen = FakeKitchen()
    kitchen.station._seconds = 2.0
    outcome = kitchen.do("OpenObject", "drawer_1")
    assert outcome.reason == "it took more than 2 s"
    assert kitchen.index < 3 * RATE


def test_set_points_wait_while_nobody_asks_for_them() -> None:
    kitchen = FakeKitchen()
    run = kitchen.station.begin(Call("OpenObject", ("drawer_1",)))
    while run.stage != "approach":
        kitchen.step()
    joints, widths = kitchen.station.advance(kitchen.reading(), LONGEST_GAP)
    for row, width in zip(joints, widths, strict=True):  # what was sent is followed to its end, and then the arm holds
        kitchen.follow(row, float(width))
    kitchen.index += 200  # an arm controller that is started again
    kitchen.step()
    assert np.abs(kitchen.sent[-1] - joints[-1]).max() < 0.1
    while run.outcome is None:
        kitchen.step()
    assert run.outcome.done


def test_a_reading_that_waited_while_a_way_was_planned_does_not_lead_the_arm_back() -> None:
    kitchen = FakeKitchen()
    run = kitchen.station.begin(Call("OpenObject", ("drawer_1",)))
    while run.stage != "approach":
        kitchen.step()
    old = kitchen.reading()
    for _ in range(10):
        kitchen.step()
    new = kitchen.reading()
    planned, _ = kitchen.station.advance(new, 4)
    late, _ = kitchen.station.advance(old, 4)
    assert kitchen.station.context.arm.step == new.step
    np.testing.assert_array_equal(late, planned)


def test_a_path_that_was_begun_later_outlasts_an_older_reading() -> None:
    kitchen = FakeKitchen()
    run = kitchen.station.begin(Call("GoToObject", ("apple_1",)))
    old, new = kitchen.reading(), replace(kitchen.reading(), step=kitchen.index + 30)
    kitchen.station.advance(old, 4, lambda: new)
    kitchen.station.advance(replace(old, step=old.step + 10), 4)
    assert run.outcome is None


def test_what_an_image_from_before_the_lift_shows_is_no_thing_that_was_left_behind() -> None:
    kitchen = FakeKitchen()
    behind_s = 0.3  # of a detector, behind the arm
    reading = kitchen.reading

    def stamped() -> ArmReading:
        return replace(reading(), stamp_s=kitchen.index / RATE)

    def report() -> None:
        stamp_s = kitchen.index / RATE - behind_s
        shown = late.pop(0) if len(late) > behind_s * RATE / LOOK_EVERY else kitchen.shown()
        late.append(kitchen.shown())
        kitchen.scene.take([replace(each, seen_s=stamp_s) for each in shown], stamp_s)

    late: list[list[PerceivedThing]] = []
    kitchen.reading, kitchen.report = stamped, report  # type: ignore[method-assign]
    assert kitchen.do("PickupObject", "apple_1").done


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (("PickupObject", "mug_9"), "mug_9 has not been seen"),
        (("PutObject", "apple_1", "drawer_1"), "apple_1 is not in the hand"),
        (("OpenObject", "cabinet_1"), "it is not seen how far cabinet_1 is open"),
        (("SliceObject", "apple_1"), "this arm cannot do SliceObject: it has no motion for it, and no policy is named"),
        (("Dance", "apple_1"), "'Dance(apple_1)' is no call of the skill table"),
        (("PickupObject",), "'PickupObject()' is no call of the skill table"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(call: tuple[str, ...], reason: str) -> None:
    outcome = FakeKitchen().do(call[0], *call[1:])
    assert not outcome.done
    assert outcome.reason.startswith(reason)
    assert "\n" not in outcome.reason


def test_a_thing_that_is_too_wide_is_left_alone() -> None:
    kitchen = FakeKitchen({"pot_1": thing("pot_1", (0.4, -0.2, 0.06), (0.16, 0.16, 0.12))})
    outcome = kitchen.do("PickupObject", "pot_1")
    assert outcome.reason == "pot_1 is 16.0 cm wide, and the gripper opens 8.0 cm"


def test_a_skill_can_be_a_policys() -> None:
    kitchen = FakeKitchen()
    context = kitchen.station.context
    skill = begin_skill(Call("PickupObject", ("apple_1",)), context, {"PickupObject": SkillWay.POLICY})
    stage = next(skill)
    assert isinstance(stage, PolicyStage)
    assert stage.instruction == "pick up the apple"
    with pytest.raises(SkillError, match="no policy can be asked for Explore"):
        next(begin_skill(Call("Explore", ("workplace",)), context, {"Explore": SkillWay.POLICY}))


def test_a_robot_file_can_name_the_thing_that_a_policy_does_a_skill_on() -> None:
    context = FakeKitchen(opening=0.1).station.context
    ways = ways_of({"CloseObject(drawer)": "policy", "CloseObject": "motion"})
    close = Call("CloseObject", ("drawer_1",))
    assert isinstance(next(begin_skill(close, context, ways)), PolicyStage)
    assert not isinstance(
        next(begin_skill(close, context, ways_of({"CloseObject(lower drawer)": "policy"}))), PolicyStage
    )
    for wrong in ("Close(drawer)", "CloseObject(drawer"):
        with pytest.raises(SkillError, match="the robot file names the skill"):
            ways_of({wrong: "policy"})


def test_a_policy_is_asked_for_furniture_by_its_type_and_for_a_drawer_beneath_another_as_the_lower_one() -> None:
    upper = thing("drawer_1", (0.5, 0.3, 0.17), (0.2, 0.28, 0.1), attributes={"colour": "green"})
    lower = thing("drawer_2", (0.59, 0.3, 0.06), (0.2, 0.28, 0.1), attributes={"colour": "green"})
    mug = thing("mug_1", (0.4, 0.0, 0.04), (0.08, 0.08, 0.08), attributes={"colour": "dark_blue"})
    scene = FakeKitchen({each.object_id: each for each in (upper, lower, mug)}).station.context.scene
    scene.take([upper, lower, mug], 1.0)
    assert skill_instruction(Call("CloseObject", ("drawer_1",)), scene) == "close the drawer"
    assert skill_instruction(Call("OpenObject", ("drawer_2",)), scene) == "open the lower drawer"
    assert skill_instruction(Call("PutObject", ("mug_1", "drawer_1")), scene) == "put the dark blue mug into the drawer"


def test_every_motion_is_a_skill_of_the_planner() -> None:
    assert set(MOTIONS) <= {skill.name for skill in SKILLS}


@tried(4, 300)
@given(
    place=st.tuples(st.floats(-1.2, 1.2), st.floats(-1.2, 1.2), st.floats(-0.6, 1.2)),
    size=st.tuples(st.floats(0.0, 0.5), st.floats(0.0, 0.5), st.floats(0.0, 0.5)),
    skill=st.sampled_from(["PickupObject", "GoToObject"]),
)
def test_no_detection_leads_the_arm_out_of_its_limits(
    place: tuple[float, float, float], size: tuple[float, float, float], skill: str
) -> None:
    kitchen = FakeKitchen({"egg_7": thing("egg_7", place, size)})
    kitchen.do(skill, "egg_7")
    sent = np.array(kitchen.sent)
    limits = ROBOT.limits
    assert (sent >= limits.lowest).all()
    assert (sent <= limits.highest).all()
    assert (np.abs(np.diff(sent, axis=0)) <= limits.speed / RATE + 1e-9).all()
    assert kitchen.kinematics.flange(sent)[:, 2, 3].min() > 0.0
