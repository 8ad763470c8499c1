"""Instructions that name a thing by how it stands to others: that one is taken, or the result says why not.

What is meant was read off the true poses of each home before the method was written.
"""

from __future__ import annotations

import pytest
from home_robot import Home, Open
from nightly import at_night

from kc_vla.planning.execution.results import InstructionResult
from kc_vla.planning.grammar.planner import GrammarPlanner
from kc_vla.planning.interface import Plan, Request
from kc_vla_sim.household.scenes import build
from kc_vla_sim.household.states import ThingState
from kc_vla_sim.household.world import ON, Place, World

IN_HAND = (
    ("1", "bring me the thing left of the egg", "DishSponge_2"),
    ("1", "take the apple nearest to the toaster", "Apple_2"),
    ("1", "take the apple closest to the faucet", "Apple_1"),
    ("1", "pick up the bread next to the microwave", "Bread_1"),
    ("1", "bring me the knife between the sponge and the lettuce", "Knife_1"),
    ("1", "bring me the thing nearest to the egg", "ButterKnife_2"),
    ("1", "bring me something next to the egg", "ButterKnife_2"),
    ("1", "get the tomato that is next to the spoon", "Tomato_1"),
    ("301", "take the watch nearest to the laptop", "Watch_1"),
    ("301", "bring me the mug nearest to the dresser", "Mug_2"),
    ("301", "bring me the pen between the laptop and the watch", "Pen_2"),
    ("301", "bring me the pen next to the pencil", "Pen_1"),
    ("205", "grab the watch nearest to the statue", "Watch_2"),
    ("205", "bring me the watch next to the laptop", "Watch_3"),
    ("205", "bring me the laptop beside the pillow", "Laptop_1"),
    ("205", "take the key chain farthest from the television", "KeyChain_2"),
    ("410", "bring me the candle next to the soap bar", "Candle_2"),
    ("410", "pick up the spray bottle behind the candle", "SprayBottle_2"),
    ("house1", "bring me the sponge nearest to the soap bottle", "DishSponge_2"),
    ("house1", "take the credit card between the book and the laptop", "CreditCard_2"),
    ("house1", "pick up the key chain next to the box", "KeyChain_2"),
    ("house1", "bring me the mug closest to the microwave", "Mug_1"),
    ("home7", "take the alarm clock next to the desk lamp", "AlarmClock_1"),
    ("home7", "bring me the laptop next to the pillow", "Laptop_2"),
)
PUT = (
    ("301", "put the watch next to the laptop on the bed", "Watch", "Bed_1"),
    ("205", "put the statue next to the credit card", "Statue", "Sofa_1"),
    ("house1", "put the apple next to the watch on the side table", "Apple", "SideTable_1"),
    ("1", "put the lettuce next to the microwave on the counter", "Lettuce", "CounterTop_3"),
    ("1", "put the thing left of the egg into the sink", "DishSponge_2", "SinkBasin_1"),
    ("301", "put the pen next to the pencil on the bed", "Pen_1", "Bed_1"),
    ("1", "put the egg next to the apple in the sink", "Egg", "SinkBasin_1"),
    ("1", "bring the cup next to the microwave to the sink", "Cup_1", "SinkBasin_1"),
)
REFUSED = (
    ("1", "bring me the thing left of the unicorn", "unicorn"),
    ("1", "take the apple nearest to the piano", "piano"),
    ("1", "bring me the cup between the plate and the piano", "piano"),
    ("1", "bring me the thing left of the egg seen from the piano", "piano"),
    ("1", "bring me the mug next to the egg", "next to"),
    ("1", "bring me something to cut with next to the egg", "nobody knows"),
    ("1", "bring me the egg left of the egg", "left of"),
    ("1", "take the thing between the egg", "between"),
    ("301", "bring me the mug on the left", "left"),
    ("301", "bring me the thing right of the clock on the desk", "Bowl_1"),
    ("301", "pick up the watch next to the toaster", "toaster"),
    ("301", "put the pen next to the desk lamp on the bed", "desk lamp on bed"),
    ("205", "take the watch left of the dining table next to the piano", "piano"),
)


class _Said:
    """The grammar, for the loop of a robot whose planner reads plans."""

    def __init__(self) -> None:
        self._planner = GrammarPlanner()

    def plan(self, request: Request) -> Plan:
        return self._planner.plan(request)


def opened(robot: Open, world: World, memory: str = "both", knows: bool = True) -> Home:
    """Open a robot that has looked at all of its home, or at nothing yet."""
    home = robot(world, memory)
    home.loop._planner = _Said()
    if knows:
        here = world.at
        for area in (*world.plan.areas, here):
            home.loop.robot.do("GoToPlace", area)
    return home


def said(result: InstructionResult) -> str:
    return " ".join((result.reason, *result.notes))


@pytest.mark.parametrize("knows", [True, False])
@pytest.mark.parametrize(("scene", "instruction", "meant"), IN_HAND)
def test_the_thing_in_that_relation_is_taken(
    robot: Open, scene: str, instruction: str, meant: str, knows: bool
) -> None:
    home = opened(robot, build(scene), knows=knows)
    result = home.carry_out(instruction)
    assert (result.success, result.in_hand) == (True, meant), said(result)


@pytest.mark.parametrize("memory", ["long", *at_night("short", "none")])
@pytest.mark.parametrize(("scene", "instruction", "meant"), IN_HAND[:6])
def test_one_memory_is_enough(robot: Open, scene: str, instruction: str, meant: str, memory: str) -> None:
    result = opened(robot, build(scene), memory).carry_out(instruction)
    assert (result.success, result.in_hand) == (True, meant), said(result)


@pytest.mark.parametrize(("scene", "instruction", "kind", "holder"), PUT)
def test_things_are_put_where_the_relation_says(
    robot: Open, scene: str, instruction: str, kind: str, holder: str
) -> None:
    world = build(scene)
    if scene == "301":
        world.move("Laptop_1", Place(ON, "Bed_1", 2))
    before = {each.id: each.place.holder for each in world.things.values()}
    result = opened(robot, world).carry_out(instruction)
    assert result.success, said(result)
    type_ = kind.partition("_")[0]  # what makes room is of another one
    moved = {each.id: each.place.holder for each in world.of_kind(type_) if each.place.holder != before[each.id]}
    assert set(moved.values()) <= {holder}
    assert len(moved) == 1, said(result)
    assert next(iter(moved)).startswith(kind)


@pytest.mark.parametrize("knows", [True, *at_night(False)])
@pytest.mark.parametrize(("scene", "instruction", "told"), REFUSED)
def test_what_cannot_be_resolved_is_said_and_nothing_is_taken(
    robot: Open, scene: str, instruction: str, told: str, knows: bool
) -> None:
    world = build(scene)
    before = {each.id: each.place for each in world.things.values()}
    result = opened(robot, world, knows=knows).carry_out(instruction)
    assert not result.success, said(result)
    assert told in result.reason
    held = world.held()
    assert held is None or instruction.startswith("put ")  # it may be in the hand before its place is looked for
    before.pop("" if held is None else held.id, None)
    assert {name: world.things[name].place for name in before} == before


def test_of_two_that_are_as_near_none_is_taken_and_one_that_alone_was_seen_is_with_a_note(robot: Open) -> None:
    instruction = "take the sponge nearest to the counter"
    knows = opened(robot, build("1")).carry_out(instruction)
    assert not knows.success
    assert "can be DishSponge_1 and DishSponge_2" in knows.reason
    assert not knows.in_hand
    begins = opened(robot, build("1"), knows=False).carry_out(instruction)
    assert begins.in_hand.startswith("DishSponge")
    assert "has not looked everywhere" in said(begins)


def test_only_the_thing_in_that_relation_is_washed(robot: Open) -> None:
    world = build("1")
    result = opened(robot, world).carry_out("wash the cup next to the microwave")
    assert (result.success, result.in_hand) == (True, "Cup_1"), said(result)
    assert ThingState.CLEANED in world.things["Cup_1"].states


def test_only_the_lamp_in_that_relation_is_switched_on(robot: Open) -> None:
    world = build("205")
    before = {each.id for each in world.things.values() if ThingState.ON in each.states}
    result = opened(robot, world).carry_out("turn on the lamp closest to the sofa")
    assert result.success, said(result)
    assert {each.id for each in world.things.values() if ThingState.ON in each.states} - before == {"FloorLamp_1"}


def test_a_thing_that_was_carried_away_is_looked_for_as_things_are_now(robot: Open) -> None:
    world = build("1")
    home = opened(robot, world)
    world.move("Apple_2", Place(ON, "CounterTop_3", 7))
    world.move("Toaster_1", Place(ON, "CounterTop_3", 8))
    world.move("Apple_1", Place(ON, "CounterTop_1", 1))
    result = home.carry_out("take the apple nearest to the toaster")
    assert (result.success, result.in_hand) == (True, "Apple_2"), said(result)


def test_a_robot_that_does_not_know_where_it_stands_has_no_left(robot: Open) -> None:
    home = opened(robot, build("1"))
    home.loop.robot.at = ""
    result = home.carry_out("bring me the thing left of the egg")
    assert not result.success
    assert "where" in result.reason
    assert home.world.held() is None


@pytest.mark.parametrize(("side", "meant"), [("left", "Watch_3"), ("right", "KeyChain_1")])
def test_left_and_right_are_those_of_the_viewpoint(robot: Open, side: str, meant: str) -> None:
    said_so = f"bring me the thing {side} of the laptop on the dining table seen from the statue"
    result = opened(robot, build("205")).carry_out(said_so)
    assert (result.success, result.in_hand) == (True, meant), said(result)


def test_the_only_thing_of_a_name_is_the_one_on_the_left(robot: Open) -> None:
    result = opened(robot, build("1")).carry_out("bring me the bowl on the left")
    assert (result.success, result.in_hand) == (True, "Bowl_1"), said(result)
    assert "no other one is known" in said(result)


def test_what_is_in_the_hand_is_not_taken_for_the_thing_beside_another(robot: Open) -> None:
    home = opened(robot, build("301"))
    assert home.carry_out("take the pen between the laptop and the watch").in_hand == "Pen_2"
    result = home.carry_out("bring me the pen next to the pencil")
    assert (result.success, result.in_hand) == (True, "Pen_1"), said(result)


def test_a_thing_in_that_relation_that_is_not_as_it_is_said_to_be_is_not_taken(robot: Open) -> None:
    home = robot(build("1"))
    result = home.carry_out("PickupObject(filled cup next to microwave)")
    assert not result.success
    assert "Cup_1 is not filled" in result.reason
    assert home.world.held() is None
    result = home.carry_out("PickupObject(big cup next to microwave)")
    assert (result.success, result.in_hand) == (True, "Cup_1")
    assert "nothing is known of 'big'" in said(result)
