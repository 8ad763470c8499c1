"""A planner that remembers with the two memory nodes: they can be asked meanwhile, and may be killed."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from node_process import running
from person import Person
from served_memory import ServedMemory

from kc_vla.core import topics
from kc_vla.memory.robot.robot_memory import BOTH
from kc_vla_msgs.srv import Ask, MemoryStatistics, QueryScene, RecallUnits
from kc_vla_sim.household.growth import home_sequence
from kc_vla_sim.household.tasks import sequence
from kc_vla_sim.household.trial import TrialArm, play

HOUSEHOLD, PLANNER = "kc_vla_sim.nodes.household", "kc_vla.nodes.planner"
LONG, SHORT = "kc_vla.nodes.long_term_memory", "kc_vla.nodes.short_term_memory"
_KILLS = 100
TOLD = {"frame": "map", "detections": False}


@pytest.fixture
def person() -> Iterator[Person]:
    with Person() as somebody:
        yield somebody


def memory(kind: str, folder: Path) -> Any:
    """Run a memory node; the long-term memory in the store of the test."""
    store = {"store": str(folder / "memory.db"), "map_id": "home"} if kind == LONG else {}
    return running(kind, folder / kind, **TOLD, **store)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A robot in a home, and the planner that waits for an instruction."""
    with (
        running(HOUSEHOLD, tmp_path / "home", scene="'1'", pace=20.0),
        running(PLANNER, tmp_path / "planner", memory_nodes=True, map_id="home"),
    ):
        yield tmp_path


def test_what_the_planner_remembers_can_be_asked_of_the_nodes_while_it_works(person: Person, home: Path) -> None:
    with memory(LONG, home), memory(SHORT, home):
        goal = person.say("wash an apple")
        person.until(lambda: person.heard("skill", "done"))
        while_it_works = person.call(QueryScene, topics.QUERY_SCENE, QueryScene.Request(map_id="home", limit=1000))
        assert while_it_works.objects
        fridge = person.call(Ask, topics.ASK, Ask.Request(question="where is the fridge?"))
        assert (fridge.success, fridge.known) == (True, True), fridge
        assert "Fridge_1" in fridge.ids
        assert fridge.sources[fridge.ids.index("Fridge_1")] in ("short-term", "long-term")
        done = person.result(goal).result
        assert done.success, done.reason
        washed = person.result(person.say("what did you wash?")).result
        assert (washed.success, washed.skills) == (True, 0), washed.reason
        assert "apple" in washed.answer
        unicorn = person.call(Ask, topics.ASK, Ask.Request(question="where is the unicorn?"))
        assert (unicorn.success, unicorn.known) == (True, False)
        recalled = person.call(RecallUnits, topics.RECALL_UNITS, RecallUnits.Request(text="the apple", k=1))
        (apple,) = recalled.units
        assert (apple.object_type, apple.state) == ("Apple", "cleaned")
        assert apple.used > 0
        assert "cleaned" in apple.effects
        clients = dict(person.node.get_client_names_and_types_by_node("planner", "/"))
        assert {f"/{topics.OBSERVE_UNITS}", f"/{topics.OBSERVE_SCENE}", f"/{topics.SCENE_SINCE}"} <= clients.keys()


@pytest.mark.parametrize("killed", [LONG, pytest.param(SHORT, marks=pytest.mark.nightly)])
def test_a_memory_that_is_killed_in_the_middle_is_waited_for(person: Person, home: Path, killed: str) -> None:
    other = SHORT if killed == LONG else LONG
    with ExitStack() as until_the_end, memory(other, home):
        with memory(killed, home) as process:
            goal = person.say("wash an apple")
            person.until(lambda: person.heard("skill", "done"))
            known = person.call(QueryScene, topics.QUERY_SCENE, QueryScene.Request(map_id="home", limit=1000))
            process.kill()
            process.wait()
        until_the_end.enter_context(memory(killed, home))
        done = person.result(goal).result
        assert done.success, done.reason
        after = person.call(QueryScene, topics.QUERY_SCENE, QueryScene.Request(map_id="home", limit=1000))
        assert {each.id for each in known.objects} <= {each.id for each in after.objects}
        held = person.call(MemoryStatistics, topics.MEMORY_STATISTICS, MemoryStatistics.Request()).held
        assert "Apple" in {each.object_type for each in held.units}


def _played_alike(names: Sequence[str], folder: Path) -> None:
    """See that sequences are played as in this process where the nodes remember, to the last skill and second."""
    arm = TrialArm(BOTH, disturbed=True)
    with memory(LONG, folder), memory(SHORT, folder), ServedMemory() as served:
        for name in names:
            tasks = sequence(name)
            here = play(tasks, arm)
            there = play(tasks, arm, memory=partial(served.open, name))
            assert there == here, name


def test_a_sequence_is_played_alike_with_the_nodes_and_without(tmp_path: Path) -> None:
    _played_alike(["composite-test-001"], tmp_path)


@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_twenty_sequences_are_played_alike_with_the_nodes_and_without(tmp_path: Path) -> None:
    kinds = ("simple", "composite", "complex")
    _played_alike([f"{kinds[number % 3]}-test-{number + 1:03}" for number in range(20)], tmp_path)


@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_a_hundred_kills_at_random_lose_nothing_that_was_committed(person: Person, tmp_path: Path) -> None:
    chance, tasks = random.Random(0), home_sequence(1, 50).tasks
    killed, asked, known = 0, 0, set[str]()
    with (
        running(HOUSEHOLD, tmp_path / "home", scene="home1", pace=20.0),
        running(PLANNER, tmp_path / "planner", memory_nodes=True, map_id="home"),
    ):
        nodes = {kind: (context := memory(kind, tmp_path), context.__enter__()) for kind in (LONG, SHORT)}
        while killed < _KILLS:
            goal = person.say(tasks[asked % len(tasks)].instruction)
            asked += 1
            result = goal.get_result_async()
            while not result.done() and killed < _KILLS:
                until_s = time.monotonic() + chance.uniform(0.2, 2.0)
                person.until(lambda until_s=until_s: time.monotonic() > until_s)
                kind = chance.choice((LONG, SHORT))
                context, process = nodes[kind]
                process.kill()
                context.__exit__(None, None, None)
                nodes[kind] = (context := memory(kind, tmp_path), context.__enter__())
                killed += 1
                found = person.call(QueryScene, topics.QUERY_SCENE, QueryScene.Request(map_id="home", limit=10_000))
                assert known <= {each.id for each in found.objects}
                known |= {each.id for each in found.objects if not each.movable}
            told = person.until(lambda result=result: result.done() and result.result()).result
            assert told.success or told.reason, asked
            assert "short_term_memory" not in told.reason, told.reason
            assert "long_term_memory" not in told.reason, told.reason
        for context, _ in nodes.values():
            context.__exit__(None, None, None)


def test_a_memory_that_never_comes_is_told_in_a_line(tmp_path: Path) -> None:
    with (
        running(HOUSEHOLD, tmp_path / "home", scene="'1'", pace=20.0),
        running(PLANNER, tmp_path / "alone", memory_nodes=True, memory_timeout=3.0, map_id="home") as alone,
    ):
        assert alone.wait() != 0
    assert "long_term_memory/enter has not answered for 3 s: is its node alive?" in (tmp_path / "alone").read_text()
