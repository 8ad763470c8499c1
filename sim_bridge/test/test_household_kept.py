"""Instructions carried out in the household: the thing that is meant, or a reason, or a note on what is a guess."""

from __future__ import annotations

import pytest
from home_robot import Home, Open, only
from nightly import at_night

from kc_vla.planning.execution.results import InstructionResult
from kc_vla.planning.grammar.planner import GrammarPlanner
from kc_vla.planning.interface import Plan, Request
from kc_vla_sim.household.scenes import build_scene
from kc_vla_sim.household.world import IN, ON, Place, World


class _Said:
    """The grammar, for the loop of a robot whose planner reads plans."""

    def __init__(self, home: Home) -> None:
        home.loop._planner = self
        self._planner = GrammarPlanner()

    def plan(self, request: Request) -> Plan:
        return self._planner.plan(request)


def opened(robot: Open, world: World, memory: str = "both") -> Home:
    home = robot(world, memory)
    _Said(home)
    return home


def skills(home: Home, instruction: str) -> tuple[InstructionResult, list[str]]:
    """Return what came of an instruction, and the skills that it took, without the ways."""
    before = len(home.body.calls)
    result = home.carry_out(instruction)
    return result, [call.skill for call in home.body.calls[before:] if not call.skill.startswith(("GoTo", "Explore"))]


@pytest.mark.parametrize("memory", ["both", *at_night("long"), *at_night("context")])
def test_the_clean_red_food_is_the_tomato_that_was_washed_and_is_not_washed_again(robot: Open, memory: str) -> None:
    home = opened(robot, build_scene(1), memory)
    for instruction in ("wash a tomato", "put the tomato on the counter", "slice a bread"):
        assert home.carry_out(instruction).success
    tomato = next(call.arguments[0] for call in home.body.calls if call.skill == "PickupObject")
    result, done = skills(home, "place the clean, red food on the plate")
    assert result.success
    assert done == ["PickupObject", "PutObject"]
    assert home.world.things[tomato].place.holder.startswith("Plate")


def test_the_sliced_red_food_is_the_one_that_is_sliced_and_no_knife_is_touched(robot: Open) -> None:
    home = opened(robot, build_scene(1))
    assert home.carry_out("slice a tomato").success
    assert home.carry_out("throw the knife in the trash").success
    result, done = skills(home, "bring me the sliced red food")
    assert result.success
    assert done == ["PickupObject"]
    assert result.in_hand.startswith("Tomato")


def test_a_knife_in_the_bin_is_taken_only_where_there_is_no_other(robot: Open) -> None:
    world = build_scene(1)
    home = opened(robot, world)
    assert home.carry_out("slice a tomato").success
    assert home.carry_out("throw the knife in the trash").success
    thrown = next(each.id for each in world.of_kind("Knife") if each.place.holder.startswith("GarbageCan"))
    result, _ = skills(home, "slice the bread")
    assert result.success
    assert home.world.things[thrown].place.holder.startswith("GarbageCan")


def test_something_to_drink_is_no_tomato_however_cold_it_is(robot: Open) -> None:
    world = build_scene(1)
    tomato = only(world, "Tomato")
    home = opened(robot, world)
    assert home.carry_out("slice the tomato").success
    assert home.carry_out("put the tomato in the fridge").success
    result = home.carry_out("bring me something cold to drink")
    assert not result.success
    assert result.in_hand != tomato
    assert "cold to drink" in result.reason
    bottle = next(each.id for each in world.of_kind("WineBottle"))
    world.move(bottle, Place(IN, "Fridge_1", 5))
    assert home.carry_out("chill the wine bottle").success
    found = home.carry_out("put it on the counter")
    assert found.success
    assert home.carry_out("bring me something cold to drink").in_hand.startswith("WineBottle")


def test_next_to_is_beside_it_and_the_result_says_how(robot: Open) -> None:
    world = build_scene(1)
    apple = only(world, "Apple")
    home = opened(robot, world)
    result, _ = skills(home, "put the apple next to the sink")
    assert result.success
    holder = world.things[apple].place.holder
    assert holder.startswith("CounterTop")
    assert any("'next to sink' was done as on " + holder in each for each in result.notes)
    potato = only(world, "Potato")
    world.move(apple, Place(ON, holder, world.things[apple].place.spot))
    result, _ = skills(home, "put the potato next to the apple")
    assert result.success
    assert world.things[potato].place.holder == holder


@pytest.mark.parametrize(
    ("instruction", "told"),
    [
        ("bring me the broken mug", ""),
        ("bring me the big mug", "nothing is known of 'big'"),
        ("bring me my favorite mug", "nothing is known of 'favorite'"),
        ("bring me something sharp", "was taken to mean"),
        ("take the mug from the fridge", "and not in or on Fridge_1"),
    ],
)
def test_what_is_not_known_of_a_thing_is_told_and_what_is_seen_to_be_otherwise_is_refused(
    robot: Open, instruction: str, told: str
) -> None:
    world = build_scene(1)
    mug = only(world, "Mug")
    world.move(mug, Place(ON, "CounterTop_1", 6))
    result, _ = skills(opened(robot, world), instruction)
    if told:
        assert result.success
        assert any(told in each for each in result.notes), result.notes
    else:
        assert not result.success
        assert "is not broken" in result.reason


@pytest.mark.parametrize(
    "purpose", ["to open a bottle with", "to lean on", "for breakfast", "that can be sliced", "to keep the milk cold"]
)
def test_nothing_is_taken_for_a_purpose_of_which_nobody_knows_what_serves(robot: Open, purpose: str) -> None:
    result, done = skills(opened(robot, build_scene(1)), f"bring me something {purpose}")
    assert not result.success
    assert done == []
    assert f"nobody knows which things serve as 'something {purpose}'" in result.reason


@pytest.mark.parametrize(
    ("purpose", "kinds"),
    [
        ("to clean with", ("DishSponge", "SoapBottle")),
        ("to wash the mug with", ("DishSponge", "SoapBottle")),
        ("to stir with", ("Spoon", "Fork", "Spatula", "Ladle")),
        ("to eat with", ("Spoon", "Fork", "Knife", "ButterKnife")),
        ("to eat from", ("Plate", "Bowl")),
        ("to cook in", ("Pan", "Pot")),
    ],
)
def test_what_serves_a_purpose_is_taken(robot: Open, purpose: str, kinds: tuple[str, ...]) -> None:
    result, _ = skills(opened(robot, build_scene(1)), f"bring me something {purpose}")
    assert result.success, result.reason
    assert result.in_hand.startswith(kinds)


@pytest.mark.parametrize("word", ["whole", "intact", "uncut", "unsliced"])
def test_a_thing_that_is_to_be_whole_is_not_the_one_that_was_sliced(robot: Open, word: str) -> None:
    world = build_scene(1)
    home = opened(robot, world)
    assert home.carry_out("slice a tomato").success
    sliced = next(call.arguments[0] for call in home.body.calls if call.skill == "SliceObject")
    assert home.carry_out("put the knife on the counter").success
    result, _ = skills(home, f"bring me the {word} tomato")
    assert result.success
    assert result.in_hand.startswith("Tomato")
    assert result.in_hand != sliced
    assert not any(word in each and "nothing is known" in each for each in result.notes)


def test_every_mug_is_all_that_are_known(robot: Open) -> None:
    home = opened(robot, build_scene(1))
    assert home.carry_out("put a mug on the counter").success
    result = home.carry_out("put all the mugs in the sink")
    assert result.success
    assert any("those that are known: 1" in each for each in result.notes)
