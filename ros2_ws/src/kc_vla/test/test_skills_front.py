"""Skills at a front: switches that are pressed, what is behind a door, and a drawer beneath another."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from fake_kitchen import RATE, ROBOT, FakeKitchen, thing
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried
from scipy.spatial.transform import Rotation

from kc_vla.skills.front_space import front_space
from kc_vla.skills.hand_turns import facing
from kc_vla.skills.held_thing import HeldThing
from kc_vla.skills.interface import SkillError
from kc_vla.skills.motion_paths import MotionPathMaker
from kc_vla.skills.perceived import PerceivedThing
from kc_vla.skills.switches import switch_of
from kc_vla.skills.tool_path import ToolPose

KNOB = np.array([0.4, -0.4, 0.064])
STOVE = thing("stove_1", (0.3, -0.5, 0.025), (0.28, 0.22, 0.05), state="off")
CUPBOARD = thing(
    "cupboard_1",
    (0.62, -0.32, 0.14),
    (0.21, 0.26, 0.28),
    state="opened",
    attributes={"handle": "0.275 -0.503 0.215", "hinge": "0.514 -0.45", "opening": "1.55"},
)


class LowDrawer(FakeKitchen):
    """A kitchen whose drawer is the lower one of its cabinet."""

    @property
    def handle(self) -> np.ndarray:
        """Return where the bar of the drawer is (3,), m."""
        return np.array([0.441 - self.opening, 0.0, 0.107])


@cache
def planner() -> MotionPathMaker:
    """Return the motion planner of the arm."""
    return MotionPathMaker(ROBOT)


def planned(kitchen: FakeKitchen) -> FakeKitchen:
    """Return a kitchen whose ways are planned around all that is seen."""
    kitchen.station.context.paths = planner()
    return kitchen


def with_stove(works: bool = True) -> FakeKitchen:
    """Return a kitchen with a stove that a finger at its knob switches."""
    attributes = {"switch": " ".join(map(str, [*KNOB, 0, 0, 1]))}
    kitchen = FakeKitchen({"stove_1": replace(STOVE, attributes=attributes)})
    pressed = [False]

    def press(now: FakeKitchen) -> None:
        at = bool(np.linalg.norm(now.tool - KNOB) < 0.014)
        if at and not pressed[0] and works:
            stove = now.things["stove_1"]
            now.things["stove_1"] = replace(stove, state="off" if stove.state == "on" else "on")
        pressed[0] = at

    kitchen.each_step = press
    return kitchen


def test_a_stove_is_switched_on_and_off() -> None:
    kitchen = with_stove()
    assert kitchen.do("SwitchOn", "stove_1").done
    assert kitchen.things["stove_1"].state == "on"
    again = kitchen.do("SwitchOn", "stove_1")
    assert (again.done, again.remark) == (True, "stove_1 is on already")
    assert kitchen.do("SwitchOff", "stove_1").done
    assert kitchen.things["stove_1"].state == "off"


def test_a_switch_that_does_nothing_is_not_reported_as_switched() -> None:
    outcome = with_stove(works=False).do("SwitchOn", "stove_1")
    assert outcome.reason == "stove_1 is not seen on after its switch was pressed"


def test_without_a_report_the_switch_is_at_its_usual_place() -> None:
    left_knob = switch_of(STOVE)
    assert np.allclose(left_knob.position, (0.18, -0.4208, 0.064))
    assert np.allclose(left_knob.normal, (0, 0, 1))
    microwave = thing("microwave_1", (0.6, 0.0, 0.1), (0.21, 0.31, 0.2))
    at_right = switch_of(microwave)
    assert at_right.position[1] < -0.1
    assert np.allclose(at_right.normal, (-1, 0, 0))
    at_left = switch_of(replace(microwave, attributes={"hinge": "0.5 -0.15"}))
    assert at_left.position[1] > 0.1
    with pytest.raises(SkillError, match="no switch of lamp_1 is seen"):
        switch_of(thing("lamp_1", (0.4, 0.0, 0.1), (0.1, 0.1, 0.2)))


@pytest.mark.parametrize("place", [(0.4, 0.0), (0.3, -0.5), (0.0, 0.45)])
@pytest.mark.parametrize("yaw", [0.2, 1.3, 2.9, -1.9])
def test_a_stove_whose_front_is_not_known_is_pressed_at_the_side_that_looks_to_the_arm(
    place: tuple[float, float], yaw: float
) -> None:
    turn = Rotation.from_euler("z", yaw)
    stove = replace(STOVE, position=np.array([*place, 0.025]), rotation=turn)
    known, unknown = switch_of(stove), switch_of(replace(stove, attributes={"yaw": "of its sides"}))
    assert stove.into(known.position) == pytest.approx((-0.12, 0.36 * 0.22, 0.039))
    sides = [(turn.apply((sign, 0.0, 0.0)), 0.14, 0.11) for sign in (-1, 1)]
    sides += [(turn.apply((0.0, sign, 0.0)), 0.11, 0.14) for sign in (-1, 1)]
    out, deep, wide = min(sides, key=lambda each: float(each[0][:2] @ place))
    knob = unknown.position - stove.position
    assert knob @ out == pytest.approx(deep - 0.02)
    assert knob @ np.cross((0.0, 0.0, 1.0), -out) == pytest.approx(0.72 * wide), "at the left of who looks into it"
    assert knob[2] == pytest.approx(0.039)
    assert np.allclose(unknown.normal, (0, 0, 1))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0.4 nan 0.1 0 0 1", "6 numbers are meant"),
        ("0.4 0.1 0.1", "6 numbers are meant"),
        ("0.4 0.1 0.1 0 0 0", "has no direction"),
        ("0.4 0.1 0.1 0 0 -1", "looks down"),
    ],
)
def test_a_switch_that_cannot_be_is_not_pressed(text: str, reason: str) -> None:
    kitchen = FakeKitchen({"stove_1": replace(STOVE, attributes={"switch": text})})
    before = kitchen.joints.copy()
    outcome = kitchen.do("SwitchOn", "stove_1")
    assert reason in outcome.reason
    assert np.allclose(kitchen.joints, before)


@tried(3, 200)
@given(numbers=st.lists(st.floats(-1.5, 1.5), min_size=6, max_size=6))
def test_no_switch_leads_the_arm_out_of_its_limits_or_through_the_surface(numbers: list[float]) -> None:
    stove = replace(STOVE, attributes={"switch": " ".join(f"{each:.4f}" for each in numbers)})
    check_sent(FakeKitchen({"stove_1": stove}), "SwitchOn", "stove_1")


@tried(3, 200)
@given(
    place=st.tuples(st.floats(-1.0, 1.0), st.floats(-1.0, 1.0), st.floats(-0.4, 0.6)),
    size=st.tuples(st.floats(0.0, 0.5), st.floats(0.0, 0.5), st.floats(0.0, 0.5)),
    front=st.lists(st.floats(-1.5, 1.5), min_size=6, max_size=6),
)
def test_nothing_behind_a_door_leads_the_arm_out_of_its_limits_or_through_the_surface(
    place: tuple[float, float, float], size: tuple[float, float, float], front: list[float]
) -> None:
    numbers = [f"{each:.4f}" for each in front]
    attributes = {"handle": " ".join(numbers[:3]), "hinge": " ".join(numbers[3:5]), "opening": numbers[5]}
    inside = thing("egg_7", place, size, attributes={"place": "in cupboard_1"})
    kitchen = FakeKitchen({"cupboard_1": replace(CUPBOARD, attributes=attributes), "egg_7": inside})
    check_sent(kitchen, "PickupObject", "egg_7")


def check_sent(kitchen: FakeKitchen, skill: str, name: str) -> None:
    """Check that a skill, whatever comes of it, keeps the arm within its limits and over the surface."""
    kitchen.do(skill, name)
    sent = np.array(kitchen.sent)
    limits = ROBOT.limits
    assert (sent >= limits.lowest).all()
    assert (sent <= limits.highest).all()
    assert (np.abs(np.diff(sent, axis=0)) <= limits.speed / RATE + 1e-9).all()
    assert kitchen.kinematics.flange(sent)[:, 2, 3].min() > 0.0


@pytest.mark.nightly
def test_the_lower_drawer_is_hooked_with_a_tilted_hand() -> None:
    kitchen = planned(LowDrawer())
    raised: list[float] = []

    def watch(now: FakeKitchen) -> None:
        if now.station.run is not None and now.station.run.stage == "pull":
            ahead = now.kinematics.flange(now.joints)[:3, 2]
            raised.append(float(np.arctan2(ahead[0], -ahead[2])))

    kitchen.each_step = watch
    assert kitchen.do("OpenObject", "drawer_1").done
    assert kitchen.opening > 0.1
    assert min(raised) > np.radians(30)
    assert kitchen.do("CloseObject", "drawer_1").done
    assert kitchen.opening < 0.01


def test_the_lower_drawer_waits_until_the_upper_one_is_closed() -> None:
    upper = thing(
        "drawer_2", (0.47, 0.0, 0.28), (0.204, 0.278, 0.1), state="opened", attributes={"place": "in cabinet_1"}
    )
    outcome = LowDrawer({"drawer_2": upper}).do("OpenObject", "drawer_1")
    assert outcome.reason == "drawer_2 is open above the handle of drawer_1: close it first"


def in_cupboard(name: str = "can_1") -> PerceivedThing:
    """Return a can that stands in the cupboard."""
    return thing(name, (0.6, -0.32, 0.065), (0.06, 0.06, 0.11), attributes={"place": "in cupboard_1"})


def test_a_thing_is_taken_out_of_a_cupboard_and_put_back_by_a_tilted_hand() -> None:
    kitchen = planned(FakeKitchen({"cupboard_1": CUPBOARD, "can_1": in_cupboard()}))
    assert kitchen.do("PickupObject", "can_1").reason == ""
    held = kitchen.station.context.held
    assert held is not None
    assert held.raised > np.radians(30)
    assert kitchen.tool[0] < 0.5
    assert kitchen.do("PutObject", "can_1", "cupboard_1").reason == ""
    assert np.abs(kitchen.things["can_1"].position[:2] - (0.62, -0.32)).max() < 0.11


@pytest.mark.nightly
def test_a_thing_is_taken_anew_before_it_goes_into_a_cupboard() -> None:
    kitchen = planned(FakeKitchen({"cupboard_1": CUPBOARD}))
    assert kitchen.do("PickupObject", "apple_1").done
    outcome = kitchen.do("PutObject", "apple_1", "cupboard_1")
    assert outcome.reason == ""
    assert kitchen.things["apple_1"].position[0] > 0.515


def test_what_a_tilted_hand_holds_is_put_onto_the_worktop() -> None:
    kitchen = planned(FakeKitchen({"cupboard_1": CUPBOARD, "can_1": in_cupboard()}))
    assert kitchen.do("PickupObject", "can_1").done
    assert kitchen.do("PutObject", "can_1", "worktop").reason == ""
    assert kitchen.things["can_1"].position[0] < 0.5


def test_nothing_goes_into_a_cupboard_that_is_closed() -> None:
    kitchen = FakeKitchen({"cupboard_1": replace(CUPBOARD, state="closed")})
    kitchen.do("PickupObject", "apple_1")
    assert kitchen.do("PutObject", "apple_1", "cupboard_1").reason == "cupboard_1 is closed"


def test_the_space_behind_a_door_is_as_wide_as_the_door() -> None:
    closed = {"handle": "0.436 -0.058 0.135", "hinge": "0.494 0.155", "opening": "0"}
    space = front_space(thing("microwave_1", (0.6, 0.0, 0.1), (0.21, 0.31, 0.2), state="closed", attributes=closed))
    assert np.allclose(space.low, (-0.105, -0.074, -0.09), atol=2e-3)
    assert np.allclose(space.high, (0.095, 0.145, 0.09), atol=6e-3)
    for _, wall in space.walls():
        assert not np.all(np.abs(wall.middle - space.holder.out((space.low + space.high) / 2)) < wall.size / 2)


@pytest.mark.parametrize("raised", [0.0, 0.8, np.pi / 2])
def test_what_is_held_is_upright_however_the_hand_is_tilted(raised: float) -> None:
    held = HeldThing(thing("can_1", (0, 0, 0), (0.05, 0.07, 0.1)), 0.05, 0.03, 0.2, raised, 0.01)
    tool = ToolPose(np.array([0.4, 0.1, 0.2]), facing(0.6, raised))
    pose = tool.matrix @ held.in_grip
    assert np.allclose(np.abs(pose[2, :3]), (0, 0, 1), atol=1e-9)
    assert np.allclose(pose[:3, 3], (0.4 + 0.01 * np.cos(0.6), 0.1 + 0.01 * np.sin(0.6), 0.22))
    turn = Rotation.from_matrix(pose[:3, :3]).apply((1.0, 0.0, 0.0))
    assert np.isclose(np.arctan2(turn[1], turn[0]), 0.8)
