"""What an arm does when its first way fails: another grasp, a way out, what is in the way moved, a look around."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice, pairwise

import numpy as np
import pytest
from fake_kitchen import RATE, READY, ROBOT, STOP, FakeKitchen, thing
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from kc_vla.memory.embedding.models import shared_embedder
from kc_vla.memory.robot.robot_memory import open_robot_memory
from kc_vla.memory.things import ObservedThing
from kc_vla.planning.execution.loop import Loop
from kc_vla.planning.execution.results import InstructionResult
from kc_vla.planning.grammar.planner import GrammarPlanner
from kc_vla.planning.interface import CallResult
from kc_vla.planning.obstacles import Clearing, Obstacle
from kc_vla.planning.skills import Call
from kc_vla.skills.context import SkillContext
from kc_vla.skills.hands import facing_down
from kc_vla.skills.interface import MOST_TRIED, ArmReading, SkillError
from kc_vla.skills.missed_grasps import MissedGrasps
from kc_vla.skills.motion_paths import MotionPathMaker
from kc_vla.skills.perceived import PerceivedThing
from kc_vla.skills.perceived_scene import PerceivedScene
from kc_vla.skills.placing import spots
from kc_vla.skills.station import AREA, workplace_map
from kc_vla.skills.swept import swept_boxes
from kc_vla.skills.tool_path import ToolPose
from kc_vla.skills.upright_box import UprightBox

LOAF = thing("bread_1", (0.42, 0.2, 0.035), (0.16, 0.06, 0.07))
SPONGE = thing("sponge_1", (0.42, 0.2, 0.016), (0.05, 0.03, 0.032))
IN_DRAWER = {"place": "in drawer_1"}
OPEN_DOOR = {"handle": "0.2554 0.1645 0.2150", "hinge": "0.4990 0.1907", "opening": "1.4389"}
FAR = (0.42, -0.45, 0.038)


class SlipperyKitchen(FakeKitchen):
    """A kitchen in which the fingers close on nothing."""

    def _grip(self, width: float) -> None:
        self.width = width


class PlannedBody:
    """A `SkillRobot` in a kitchen without physics; `Explore` shows what is hidden."""

    def __init__(self, kitchen: FakeKitchen) -> None:
        self.kitchen = kitchen
        self.calls: list[str] = []

    def do(self, call: Call) -> CallResult:
        """Do a skill."""
        outcome = self.kitchen.do(call.skill, *call.arguments, most=20_000)
        self.calls.append(str(call))
        if call.skill == "Explore":
            self.kitchen.hidden = frozenset()
            self.kitchen.report()
        return CallResult(outcome.done, outcome.reason, 1.0, 0.0, self.kitchen.station.seen(), None, outcome.obstacle)

    def look(self) -> Sequence[ObservedThing]:
        """Return what is seen now."""
        return self.kitchen.station.seen()

    def carry_out(self, instruction: str) -> InstructionResult:
        """Carry out an instruction with the planner."""
        grounds = workplace_map()
        memories = open_robot_memory("none", shared_embedder(), grounds)
        return Loop(self, GrammarPlanner(), memories, grounds, AREA).carry_out(instruction)


def test_a_grasp_that_takes_nothing_is_followed_by_others_at_other_places() -> None:
    kitchen, closed_at = SlipperyKitchen({"bread_1": LOAF}), list[np.ndarray]()

    def note(now: FakeKitchen) -> None:
        run = now.station.run
        if (
            run is not None
            and run.stage == "grasp"
            and (not closed_at or np.linalg.norm(now.tool - closed_at[-1]) > 1e-3)
        ):
            closed_at.append(now.tool)

    kitchen.each_step = note
    outcome = kitchen.do("PickupObject", "bread_1", most=10_000)
    assert outcome.reason == "there is nothing between the fingers where bread_1 was seen"
    assert len(closed_at) == 3
    for one, other in pairwise(closed_at):
        assert np.linalg.norm(one - other) > 0.012


@given(
    place=st.tuples(*[st.floats(-0.5, 0.5)] * 2),
    turn=st.floats(-3.1, 3.1),
    aside=st.floats(-0.06, 0.06),
    yaw=st.floats(-1.5, 1.5),
)
def test_a_missed_grasp_is_the_same_one_wherever_its_thing_is_moved(
    place: tuple[float, float], turn: float, aside: float, yaw: float
) -> None:
    missed = MissedGrasps()
    grasp = ToolPose(LOAF.position + np.array([aside, 0.0, 0.0]), facing_down(yaw))
    missed.note(LOAF, grasp)
    about = Rotation.from_euler("z", turn)
    moved = replace(LOAF, position=np.array([*place, 0.035]), rotation=about * LOAF.rotation)
    there = ToolPose(moved.position + about.apply((aside, 0.0, 0.0)), about * grasp.rotation)
    assert missed.has(moved, there)
    assert not missed.has(moved, there.moved(*about.apply((0.03, 0.0, 0.0)).tolist()))
    missed.forget(LOAF.object_id)
    assert not missed.has(moved, there)


def standing_in_a_wall(came: Sequence[np.ndarray], every: int = 1) -> SkillContext:
    """Return a context of an arm whose hand is in a high wall, by what was reported last; it came a way.

    Only one of `every` control steps was read.
    """
    paths, scene = MotionPathMaker(ROBOT), PerceivedScene()
    context = SkillContext(ArmReading(0, READY.copy(), 0.0), scene, paths, ROBOT.opening, RATE)
    for step in range(0, len(came), every):
        context.take(ArmReading(step, came[step], 0.0))
    context.take(ArmReading(len(came), came[-1], 0.0))
    context.sent = np.asarray(came[-1])
    x, y, _ = context.tool.position.tolist()
    wall = thing("cupboard_1", (x, y + 0.11, 0.4), (0.3, 0.06, 0.8), state="closed")
    scene.take([replace(wall, seen_s=1.0)], 1.0)
    return context


@pytest.mark.parametrize("every", [1, 8])
def test_an_arm_that_seems_to_be_in_something_goes_back_the_way_it_came(every: int) -> None:
    paths = MotionPathMaker(ROBOT)
    start = ToolPose(np.array([0.4, -0.2, 0.3]), facing_down())
    first = paths.free(READY, start)[-1]
    way = paths.straight(first, [start.moved(y=0.25)], 0.1)
    context = standing_in_a_wall([first, *way], every)
    goal = ToolPose(np.array([0.35, -0.3, 0.3]), facing_down())
    path = context.free("approach", goal, 0.0)
    tools = np.array([paths.tool_at(each).position for each in path.joints])
    np.testing.assert_allclose(tools[-1], goal.position, atol=2e-3)
    assert tools[:, 1].max() < context.tool.position[1] + 0.01  # not through the wall
    fastest = np.abs(np.diff(way, axis=0)).max()
    assert np.abs(np.diff(path.joints[:10], axis=0)).max() < 1.2 * fastest


def test_an_arm_in_a_wall_that_knows_no_way_out_says_so() -> None:
    start = MotionPathMaker(ROBOT).free(READY, ToolPose(np.array([0.4, 0.05, 0.3]), facing_down()))[-1]
    context = standing_in_a_wall([start])
    with pytest.raises(SkillError, match=r"the arm cannot start where it is: '.*' is .* inside of 'cupboard_1'"):
        context.free("approach", ToolPose(np.array([0.35, -0.3, 0.3]), facing_down()), 0.0)


def test_what_the_hand_puts_aside_stays_out_of_the_way_of_the_drawer_that_it_opens() -> None:
    kitchen, places = FakeKitchen(), list[PerceivedThing]()
    assert kitchen.do("PickupObject", "apple_1").done
    drawer = kitchen.scene.need("drawer_1")

    def note(now: FakeKitchen) -> None:
        if not now.in_hand:
            places.append(now.things["apple_1"])

    kitchen.each_step = note
    assert kitchen.do("OpenObject", "drawer_1", most=20_000).done
    assert kitchen.in_hand == "apple_1"
    room = swept_boxes(drawer)
    assert places
    assert not any(box.meets(UprightBox.around(each)) for box in room for each in places)


def test_a_few_tries_look_for_a_place_on_all_sides_of_the_hand() -> None:
    kitchen = FakeKitchen()
    assert kitchen.do("PickupObject", "apple_1").done
    context = kitchen.station.context
    assert context.held is not None
    found = np.array([each.position[:2] for each in islice(spots(context, context.held, None), MOST_TRIED)])
    np.testing.assert_array_less(np.linalg.norm(found[0] - context.tool.position[:2]), 0.06)
    assert np.linalg.norm(found - found[0], axis=1).max() > 0.2


@pytest.mark.parametrize(("opening", "inside"), [(0.0, True), (0.8, True), (1.5, True), (0.8, False)])
def test_the_room_of_a_door_is_where_its_bar_passes(opening: float, inside: bool) -> None:
    attributes = {"handle": "0.4410 0.4287 0.2150", "hinge": "0.4990 0.1907", "opening": "0.0000"}
    cupboard = thing("cupboard_1", (0.605, 0.321, 0.14), (0.21, 0.26, 0.28), state="closed", attributes=attributes)
    away = Rotation.from_euler("z", opening).apply((-0.058, 0.238, 0.0))  # the bar as seen from the hinge
    place = np.array([0.499, 0.1907, 0.05]) + away * (1.0 if inside else 2.0)
    speck = UprightBox(place, np.full(3, 0.001), 0.0)
    assert any(each.meets(speck) for each in swept_boxes(cupboard)) is inside


def test_a_thing_that_misses_the_drawer_as_it_is_put_is_not_there() -> None:
    kitchen = FakeKitchen()

    def beside(now: FakeKitchen) -> None:
        run = now.station.run
        if run is not None and run.stage in ("look into", "look") and not now.in_hand:
            now.things["apple_1"] = thing("apple_1", (0.42, 0.0, 0.038), (0.07, 0.07, 0.076))

    kitchen.do("OpenObject", "drawer_1")
    kitchen.do("PickupObject", "apple_1")
    kitchen.each_step = beside
    assert kitchen.do("PutObject", "apple_1", "drawer_1").reason == "apple_1 fell beside drawer_1"


def test_the_one_thing_that_a_hand_has_no_room_beside_is_named_and_moved() -> None:
    sponge = replace(SPONGE, position=np.array([0.45, -0.03, 0.143]), attributes=IN_DRAWER)
    can = thing("can_1", (0.45, 0.018, 0.187), (0.06, 0.06, 0.12), attributes=IN_DRAWER)
    apple = thing("apple_1", FAR, (0.07, 0.07, 0.076))
    kitchen = FakeKitchen({"sponge_1": sponge, "can_1": can, "apple_1": apple}, opening=STOP)
    kitchen.station.context.stops["drawer_1"] = STOP
    refused = kitchen.do("PickupObject", "sponge_1")
    assert refused.reason == "can_1 is in the way of a hand at sponge_1: move it first"
    assert refused.obstacle == Obstacle("can_1", Clearing.MOVE)
    result = PlannedBody(kitchen).carry_out("pick up the sponge")
    assert (result.success, result.reason) == (True, "")
    assert kitchen.in_hand == "sponge_1"
    assert "place" not in kitchen.things["can_1"].attributes


def test_an_open_door_beside_a_thing_is_named() -> None:
    cupboard = thing("cupboard_1", (0.605, 0.321, 0.14), (0.21, 0.26, 0.28), state="opened", attributes=OPEN_DOOR)
    spoon = replace(SPONGE, position=np.array([0.36, 0.15, 0.016]))
    kitchen = FakeKitchen({"cupboard_1": cupboard, "sponge_1": spoon, "apple_1": thing("apple_1", FAR, (0.07,) * 3)})
    refused = kitchen.do("PickupObject", "sponge_1")
    assert refused.reason == "cupboard_1 is open in the way of a hand at sponge_1: close it first"
    assert refused.obstacle == Obstacle("cupboard_1", Clearing.CLOSE)


def test_an_arm_looks_around_before_it_gives_up() -> None:
    body = PlannedBody(FakeKitchen(hidden=frozenset({"apple_1"})))
    result = body.carry_out("put the apple into the drawer")
    assert (result.success, result.reason) == (True, "")
    assert f"Explore({AREA})" in body.calls


def test_of_some_that_will_do_the_next_is_tried_where_one_is_too_wide() -> None:
    wide = thing("orange_1", (0.42, 0.0, 0.05), (0.12, 0.12, 0.1))
    kitchen = FakeKitchen({"orange_1": wide, "apple_1": thing("apple_1", (0.42, -0.3, 0.038), (0.07, 0.07, 0.076))})
    result = PlannedBody(kitchen).carry_out("put some fruit into the drawer")
    assert (result.success, result.reason) == (True, "")
    assert kitchen.things["apple_1"].attributes == IN_DRAWER


def test_of_two_drawers_in_sight_the_upper_one_is_meant() -> None:
    upper = thing("drawer_2", (0.5, -0.35, 0.3), (0.2, 0.28, 0.1), state="closed")
    body = PlannedBody(FakeKitchen({"drawer_2": upper}))
    body.carry_out("put the apple into the drawer")
    assert next(each for each in body.calls if "drawer" in each) == "OpenObject(drawer_2)"
