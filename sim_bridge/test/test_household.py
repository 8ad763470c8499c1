"""The household: what can be done in it, what is seen, what is told of what is wrong."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried

from kc_vla.planning.obstacles import Clearing, Obstacle
from kc_vla.planning.skills import BY_NAME, SKILLS, Call
from kc_vla_sim.household.detector import Noise
from kc_vla_sim.household.errors import HouseholdError
from kc_vla_sim.household.goals import bindings, parse_goal
from kc_vla_sim.household.needs import NEEDS
from kc_vla_sim.household.scenes import NUMBERS, build_building, build_home, build_scene, split_of, types_in
from kc_vla_sim.household.simulator import Household, act
from kc_vla_sim.household.skill_effects import DEEDS
from kc_vla_sim.household.states import ThingState, with_state
from kc_vla_sim.household.world import ROBOT, World


def assert_sound(world: World) -> None:
    listed = [name for holder in {*world.things, *world.plan.areas, ROBOT} for name in world.contents(holder)]
    assert sorted(listed) == sorted(world.things)
    assert len(world.contents(ROBOT)) <= 1
    for thing in world.things.values():
        assert thing.id in world.contents(thing.place.holder)
        assert all(with_state(thing.states, each) == thing.states for each in thing.states)


@tried(12, 60)
@given(st.sampled_from(NUMBERS), st.integers(0, 3), st.data())
def test_any_calls_leave_a_world_sound_and_failures_change_only_the_time(
    number: int, seed: int, data: st.DataObject
) -> None:
    world = build_scene(number, seed)
    names = st.sampled_from([*world.things, *world.plan.areas, "nothing", ""])
    for _ in range(25):
        near = [name for name in world.things if world.area_of(name) == world.at] or list(world.things)
        skill = data.draw(st.sampled_from([*BY_NAME, "Dance"]))
        arguments = data.draw(st.lists(st.one_of(st.sampled_from(near), names), min_size=1, max_size=2))
        before, time_s = world.state(), world.time_s
        if act(world, Call(skill, tuple(arguments))):
            assert world.state() == before
        assert world.time_s >= time_s
        assert_sound(world)


def test_every_scene_is_the_same_each_time_and_has_the_types_of_its_tasks() -> None:
    for number in NUMBERS:
        world = build_scene(number)
        assert_sound(world)
        assert world.state() == build_scene(number).state()
        assert {thing.kind.name for thing in world.things.values()} >= set(types_in(number))
        assert all(world.plan.distance(world.at, area) >= 0 for area in world.plan.areas)
    assert sum(split_of(number) == "test" for number in NUMBERS) == 60
    assert_sound(build_home(3))


def test_a_building_has_as_many_things_as_wanted_in_rooms_of_their_own() -> None:
    world = build_building(700, seed=1)
    assert_sound(world)
    assert world.state() == build_building(700, seed=1).state()
    assert 700 <= len(world.things) < 800
    assert {area.room for area in world.plan.areas.values()} >= {"kitchen", "kitchen 2", "bathroom 3", "hall"}
    assert all(math.isfinite(world.plan.distance(world.at, area)) for area in world.plan.areas)


def test_the_table_names_needs_and_deeds_that_there_are() -> None:
    assert {name for skill in SKILLS for name in skill.needs} == set(NEEDS)
    assert {name for skill in SKILLS for name in skill.does} == set(DEEDS)


def test_an_egg_is_cooked_in_a_closed_microwave() -> None:
    world = build_scene(1)
    world.move("Egg_1", world.things["Egg_1"].place._replace(relation="floor", holder=world.area_of("Microwave_1")))

    def do(skill: str, *names: str) -> str:
        return act(world, Call(skill, names))

    assert not do("GoToPlace", world.area_of("Microwave_1"))
    assert not do("PickupObject", "Egg_1")
    assert do("PutObject", "Egg_1", "Microwave_1") == "Microwave_1 is closed: open it first"
    assert not do("OpenObject", "Microwave_1")
    assert not do("PutObject", "Egg_1", "Microwave_1")
    refused = Household(world).do(Call("SwitchOn", ("Microwave_1",)))
    assert refused.reason == "Microwave_1 is open: close it first"
    assert refused.obstacle == Obstacle("Microwave_1", Clearing.CLOSE)
    assert not do("CloseObject", "Microwave_1")
    assert do("PickupObject", "Egg_1") == "no Egg_1 is in sight from here"
    assert not do("ToggleOn", "Microwave_1")
    assert world.things["Egg_1"].states >= {ThingState.HEATED, ThingState.COOKED}
    goal = parse_goal("INSIDE(Microwave), STATE(egg, cooked): 1, TOGGLEON(microwave oven)", about="Egg")
    assert next(bindings(world, goal, {}))["Egg"] == "Egg_1"


def test_hostile_calls_are_refused_in_a_line() -> None:
    world = build_scene(1)
    for call in (Call("__import__('os')", ("x",)), Call("GoToObject", ("{0.__class__}\n" * 9,)), Call("OpenObject")):
        reason = act(world, call)
        assert reason
        assert "\n" not in reason
        assert len(reason) < 400


def test_a_detector_errs_as_told_and_alike_for_the_same_seed() -> None:
    world = build_scene(1)
    assert Household(world, Noise(missing=1.0)).look() == ()
    noise = Noise(missing=0.3, wrong_type=0.3, wrong_state=0.3, seed=7)
    assert Household(world, noise).look() == Household(world, noise).look()
    assert Household(world, noise).look() != Household(world).look()


@pytest.mark.parametrize(
    "text", ["", "eat(apple)", "ON(apple)", "STATE(apple, blue)", "INSIDE(fridge)", "ON(x, plate)"]
)
def test_a_goal_that_is_none_says_why(text: str) -> None:
    with pytest.raises(HouseholdError):
        parse_goal(text)
