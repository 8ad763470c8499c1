"""What the robot holds and what it is asked for, told apart: from the instruction to the thing in the hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kc_vla.memory.embedding.interface import Embedder
from kc_vla.memory.embedding.models import shared_embedder
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.store import Store
from kc_vla.memory.robot.robot_memory import open_robot_memory
from kc_vla.memory.things import ObservedThing
from kc_vla.planning.execution.loop import Loop
from kc_vla.planning.grammar.planner import GrammarPlanner
from kc_vla.planning.interface import CallResult, Plan, Request
from kc_vla.planning.skills import Call
from kc_vla_sim.household.floor_plan import navigation_map_of
from kc_vla_sim.household.scenes import build_scene
from kc_vla_sim.household.simulator import Household
from kc_vla_sim.household.world import HELD, World

Open = Callable[..., Loop]


class Told(GrammarPlanner):
    """The grammar, with all that it was asked."""

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def plan(self, request: Request) -> Plan:
        self.requests.append(request)
        return super().plan(request)


class Through:
    """A household seen through a camera of its own."""

    def __init__(self, household: Household, camera: Callable[[ObservedThing], ObservedThing]) -> None:
        self._household, self._camera = household, camera

    def do(self, call: Call) -> CallResult:
        happened = self._household.do(call)
        return replace(happened, seen=tuple(map(self._camera, happened.seen)))

    def look(self) -> list[ObservedThing]:
        return [*map(self._camera, self._household.look())]


def _foreign(seen: ObservedThing) -> ObservedThing:
    """Return a thing with a type of furniture that ALFRED does not know.

    Of one type only people would say what it is.
    """
    if seen.movable:
        return seen
    return replace(seen, object_type="KitchenCounter" if seen.object_type == "CounterTop" else "Furniture")


def _without_colour(seen: ObservedThing) -> ObservedThing:
    """Return a thing without the color of what is in the gripper, which the camera does not see."""
    if seen.relation != HELD:
        return seen
    return replace(seen, attributes={name: text for name, text in seen.attributes.items() if name != "colour"})


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return shared_embedder()


@pytest.fixture
def world() -> World:
    """Return a world with a blue mug and a red one, and no other."""
    world = build_scene(18)
    assert sorted(thing.colour for thing in world.of_kind("Mug")) == ["blue", "red"]
    return world


@pytest.fixture
def robot(tmp_path: Path, embedder: Embedder) -> Iterator[Open]:
    with Store(tmp_path / "memory.db") as store:

        def opened(world: World, memory: str = "both", blind: bool = False) -> Loop:
            grounds, household = navigation_map_of(world.plan), Household(world)
            memories = open_robot_memory(memory, embedder, grounds, LongTermMemory(store))
            return Loop(
                Through(household, _without_colour) if blind else household, Told(), memories, grounds, world.at
            )

        yield opened


def held(world: World) -> tuple[str, str]:
    thing = world.held()
    return ("", "") if thing is None else (thing.id, thing.colour)


@pytest.mark.parametrize("memory", ["both", "none", "history", "context"])
def test_a_mug_of_another_colour_is_fetched_and_the_one_in_the_hand_is_put_down(
    robot: Open, world: World, memory: str
) -> None:
    loop = robot(world, memory)
    assert loop.carry_out("pick up the blue mug").success
    first, colour = held(world)
    assert colour == "blue"
    assert loop.carry_out("pick up the red mug").success
    assert held(world)[1] == "red"
    assert world.things[first].place.relation == "on"
    assert loop.carry_out("put the red mug on the table and bring me the blue one").success
    assert held(world) == (first, "blue")


def test_the_hand_is_emptied_in_a_home_whose_furniture_has_types_of_its_own(embedder: Embedder, world: World) -> None:
    grounds = navigation_map_of(world.plan)
    memories = open_robot_memory("none", embedder, grounds)
    loop = Loop(Through(Household(world), _foreign), GrammarPlanner(), memories, grounds, world.at)
    assert loop.carry_out("pick up the blue mug").success
    first, _ = held(world)
    assert loop.carry_out("pick up the red mug").success
    assert held(world)[1] == "red"
    assert world.things[first].place.holder.startswith("CounterTop")


def test_another_mug_is_not_the_one_in_the_hand(robot: Open, world: World) -> None:
    loop = robot(world)
    assert loop.carry_out("pick up the mug").success
    first, _ = held(world)
    assert loop.carry_out("pick up another mug").success
    second, _ = held(world)
    assert second.startswith("Mug")
    assert second != first


def test_what_is_in_the_hand_already_takes_no_skill_and_is_told(robot: Open, world: World) -> None:
    loop = robot(world)
    assert loop.carry_out("pick up the blue mug").success
    name, _ = held(world)
    result = loop.carry_out("pick up the blue mug")
    assert result.success
    assert result.calls == 0
    assert result.in_hand == name
    assert result.notes == (f"{name} (blue) is in the hand already",)


def test_the_colour_that_the_gripper_hides_is_remembered(robot: Open, world: World) -> None:
    loop = robot(world, blind=True)
    assert loop.carry_out("pick up the blue mug").success
    assert loop.carry_out("pick up the red mug").success
    assert held(world)[1] == "red"
    told = loop._planner.requests[-1].in_hand  # type: ignore[attr-defined]
    assert told is not None
    assert told.attributes["colour"] == "blue"
