"""Houses of two floors: how they are built, what is seen and walked in them, and tasks that need both floors."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from browser import browser, chromium
from home_robot import Open
from hypothesis import given
from hypothesis import strategies as st
from nightly import at_night, tried

from kc_vla.cli import main
from kc_vla.memory.embedding.models import shared_embedder
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.store import Store
from kc_vla.memory.long_term.ways import way
from kc_vla.memory.robot.robot_memory import BOTH, NONE, open_robot_memory
from kc_vla.planning.execution.loop import Loop
from kc_vla.planning.grammar.planner import GrammarPlanner
from kc_vla.planning.skills import Call
from kc_vla.ros.scene_nodes import area_message
from kc_vla.ros.skills import grounds_from
from kc_vla.web.serving import PageThread, listening
from kc_vla_sim.household.errors import HouseholdError
from kc_vla_sim.household.floor_plan import GROUND, UPPER, navigation_map_of
from kc_vla_sim.household.house_generation import generated, table
from kc_vla_sim.household.journey import points_of, without_memory
from kc_vla_sim.household.live.board import TRUTH, HomeBoard
from kc_vla_sim.household.live.server import create_app
from kc_vla_sim.household.oracle import play as solved
from kc_vla_sim.household.overview import overview, restored
from kc_vla_sim.household.scenes import HOUSES, build, build_house, house_scenes, split_of
from kc_vla_sim.household.session import home_of
from kc_vla_sim.household.simulator import Household, act
from kc_vla_sim.household.tasks import Referee, TaskSequence, as_json, house_sequences, read_sequences, sequence
from kc_vla_sim.household.trial import FURNITURE, TrialArm, play, show
from kc_vla_sim.household.way_plot import InstructionWays, plot_ways
from kc_vla_sim.household.world import World

SHIPPED = list(house_sequences().values())
DOCS = Path(__file__).parents[2] / "docs"


def floors_of(world: World, names: Sequence[str]) -> set[str]:
    return {world.floor_of(name) for name in names}


def test_houses_are_the_same_each_time_and_every_area_is_reached() -> None:
    for number in range(1, HOUSES + 1):
        world = build_house(number)
        assert len({split_of(scene) for scene in house_scenes(number)}) == 1
        assert all(0 <= world.plan.distance(world.at, area) < 100 for area in world.plan.areas)
        assert floors_of(world, list(world.things)) == {GROUND, UPPER}
    assert build("house3", 2).state() == build_house(3, 2).state() != build_house(3).state()
    for wrong in ("house0", "house31", "homehouse1", "househome1", "house"):
        with pytest.raises(HouseholdError):
            build(wrong)


def test_stairs_cost_time_and_are_the_only_way_between_the_floors() -> None:
    world = build_house(1)
    (stairs,) = world.plan.stairs
    foot, head = (world.plan.areas[each] for each in (stairs.foot, stairs.head))
    assert foot.position[:2] == head.position[:2]
    assert not act(world, Call("GoToPlace", (stairs.foot,)))
    time_s, walked_m = world.time_s, world.walked_m
    assert not act(world, Call("GoToPlace", (stairs.head,)))
    assert (world.time_s - time_s, world.walked_m - walked_m) == (12.0, 6.0)
    for area in world.plan.areas.values():
        assert all(world.plan.areas[other].floor == area.floor for other in area.adjacent)
    assert navigation_map_of(world.plan).distance(stairs.foot, stairs.head) == 6.0


@given(st.integers(1, HOUSES), st.data())
@tried(10, 100)
def test_nothing_is_seen_through_a_floor(number: int, data: st.DataObject) -> None:
    world = build_house(number)
    world.at = data.draw(st.sampled_from(sorted(world.plan.areas)))
    seen = [each.object_id for each in Household(world).look()]
    assert floors_of(world, seen) <= {world.plan.areas[world.at].floor}


@given(st.sampled_from(SHIPPED))
@tried(6, 40)
def test_each_task_of_a_house_needs_both_floors(each: TaskSequence) -> None:
    assert next(read_sequences([as_json(each)])) == each
    world, referee = each.world(), Referee(each.tasks)
    for solution in solved(world, Referee(each.tasks), len(each.tasks)):
        task = referee.begin(world)
        assert referee.copy().judge(world) != [], task  # it is not so before
        there = {world.plan.areas[world.at].floor}
        for call in solution.calls:
            assert not act(world, call)
            there.add(world.plan.areas[world.at].floor)
        assert referee.judge(world) == []
        assert there == {GROUND, UPPER}, task


def test_the_sequences_are_those_that_the_rules_make() -> None:
    for split in ("development", "test"):
        assert [sequence(each.name) for each in generated(split, 3)] == list(generated(split, 3))
    assert len(SHIPPED) == 40
    assert table(SHIPPED) in (DOCS / "symbolic_home.md").read_text(encoding="utf-8")
    assert home_of("house-test-001", "home1", 5) == ("house16", 0)


@pytest.mark.parametrize(
    ("name", "memory"),
    [("house-development-001", BOTH), *at_night(("house-test-002", BOTH)), ("house-test-003", NONE)],
)
def test_a_robot_does_the_tasks_of_a_house(name: str, memory: str) -> None:
    for record in play(sequence(name), TrialArm(memory)):
        assert (record.reached, record.believed) == (True, True), record


def carried_out(world: World, instruction: str, folder: Path) -> tuple[Household, bool, str]:
    """Carry an instruction out with both memories, after the robot was shown all of the house."""
    grounds = navigation_map_of(world.plan)
    with Store(folder / "memory.db") as store:
        memories = open_robot_memory(BOTH, shared_embedder(), grounds, LongTermMemory(store))
        show(memories, world, "inside")
        home = Household(world)
        result = Loop(home, GrammarPlanner(), memories, grounds, world.at).carry_out(instruction)
    return home, result.success, result.reason


@pytest.mark.parametrize(("words", "floor"), [("from upstairs", UPPER), ("on the ground floor", GROUND)])
@pytest.mark.parametrize("begin", [GROUND, UPPER])
def test_the_thing_on_the_floor_that_was_said_is_brought(tmp_path: Path, words: str, floor: str, begin: str) -> None:
    world = build_house(16)
    assert floors_of(world, [each.id for each in world.of_kind("Book")]) == {GROUND, UPPER}
    world.at = next(area.id for area in world.plan.areas.values() if area.floor == begin)
    home, success, reason = carried_out(world, f"bring me a book {words}", tmp_path)
    assert success, reason
    held = home.world.held()
    assert held is not None
    first = build_house(16)
    assert first.floor_of(held.id) == floor


@pytest.mark.parametrize(("number", "name", "floor"), [(1, "toilet", UPPER), (5, "fridge", GROUND)])
def test_what_is_above_a_thing_is_not_beside_it(tmp_path: Path, number: int, name: str, floor: str) -> None:
    home, success, reason = carried_out(build_house(number), f"put Book_1 next to the {name}", tmp_path)
    assert success, reason
    assert home.world.floor_of("Book_1") == floor


def test_a_floor_that_there_is_not_is_told(tmp_path: Path) -> None:
    _, success, reason = carried_out(build_house(16), "bring me a book from the third floor", tmp_path)
    assert not success
    assert "there is no third floor: the map has 'ground', 'upper'" in reason


def test_a_robot_that_was_shown_a_house_has_its_stairs_in_the_scene_graph(tmp_path: Path) -> None:
    world = build_house(2)
    with Store(tmp_path / "memory.db") as store:
        memory = LongTermMemory(store)
        memories = open_robot_memory(BOTH, shared_embedder(), navigation_map_of(world.plan), memory)
        show(memories, world, FURNITURE)
        graph = memory.graph(memory.maps()[0])
        (stairs,) = graph.connections.values()
        assert (stairs.kind, stairs.detected) == ("stairs", True)
        assert {graph.areas[area].floor for area in stairs.areas} == {GROUND, UPPER}
        assert [floor.height_m for floor in graph.floors.values()] == [0.0, 3.0]
        assert way(graph, "kitchen", "bedroom").length_m > 6.0


def test_the_map_of_a_house_goes_through_messages_with_its_floors_and_stairs() -> None:
    told = navigation_map_of(build_house(1).plan)
    heard = grounds_from([area_message(each) for each in told.areas.values()])
    assert heard.floors == told.floors
    first, *_, last = told.areas
    assert heard.distance(first, last) == pytest.approx(told.distance(first, last))
    assert heard.called("upstairs", first) == told.called("upstairs", first)


def test_a_house_is_drawn_with_its_floors_side_by_side(tmp_path: Path) -> None:
    world = build_house(1)
    (stairs,) = world.plan.stairs
    points = points_of(world.plan, (world.at, stairs.head))
    assert math.isnan(points[-2][0])
    drawn_at = world.plan.drawn_at()
    right = max(x for wall in world.plan.walls[GROUND] for x, _ in wall)
    assert min(x + drawn_at[UPPER] for wall in world.plan.walls[UPPER] for x, _ in wall) > right
    journey = without_memory(world, "go upstairs")
    assert journey.success
    plot_ways(world, [InstructionWays("go upstairs", journey, None)], tmp_path / "ways.png")
    assert (tmp_path / "ways.png").stat().st_size > 20_000
    again = restored(world, json.loads(json.dumps(overview(world))))
    assert again.state() == world.state()


@pytest.mark.skipif(chromium() is None, reason="there is no Chromium: apt-get install chromium")
def test_the_live_map_shows_both_floors_beside_each_other() -> None:
    board = HomeBoard()
    board.tell(TRUTH, json.dumps(overview(build_house(1))))
    server = PageThread(create_app(board, "", lambda text: None, lambda: None), listening("127.0.0.1", 0, ""))
    try:
        with browser() as opened:
            shown = opened.new_page()
            shown.goto(f"http://localhost:{server.port}")
            shown.wait_for_function("document.querySelector('#numbers').textContent.includes('robot')")
            text = shown.text_content("#map")
            assert "ground floor, 0 m" in text
            assert "upper floor, 3 m" in text
            places = (
                "[...document.querySelectorAll('#map text')].map((each) => [each.textContent, each.x.baseVal[0].value])"
            )
            names = dict(shown.evaluate(places))
            assert names["Bed"] > names["Fridge"] + 10
    finally:
        server.close()


def test_houses_are_evaluated_as_other_scenes_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["eval", "household", "--kind", "house", "--memory", "none", "--split", "development", "--sequences", "1"]
    assert main([*asked, "--processes", "1", "-o", str(tmp_path)]) == 0
    assert "| none | shown furniture | house | 4 |" in capsys.readouterr().out


def test_a_planner_gets_the_floor_of_each_area(robot: Open) -> None:
    home = robot(build_house(1))
    home.carry_out("GoToPlace(upstairs)")
    (request,) = home.planner.requests
    assert request.at == home.loop.robot.begun_at
    assert {each.floor for each in request.areas.values()} == {"first floor", "second floor"}
    assert request.areas[request.at] == ("kitchen", "first floor")
