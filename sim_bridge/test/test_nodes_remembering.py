"""A planner that remembers with the two memory nodes: they can be asked meanwhile, and may be killed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from node_process import running
from person import Person

from kc_vla.core import topics
from kc_vla_msgs.srv import MemoryStatistics, QueryScene, RecallUnits

HOUSEHOLD, PLANNER = "kc_vla_sim.nodes.household", "kc_vla.nodes.planner"
LONG, SHORT = "kc_vla.nodes.long_term_memory", "kc_vla.nodes.short_term_memory"
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
        done = person.result(goal).result
        assert done.success, done.reason
        recalled = person.call(RecallUnits, topics.RECALL_UNITS, RecallUnits.Request(text="the apple", k=1))
        (apple,) = recalled.units
        assert (apple.object_type, apple.state) == ("Apple", "cleaned")
        assert apple.used > 0
        assert "cleaned" in apple.deeds
        clients = dict(person.node.get_client_names_and_types_by_node("planner", "/"))
        assert {f"/{topics.OBSERVE_UNITS}", f"/{topics.OBSERVE_SCENE}", f"/{topics.SCENE_SINCE}"} <= clients.keys()


@pytest.mark.parametrize("killed", [LONG, SHORT])
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


def test_a_memory_that_never_comes_is_told_in_a_line(tmp_path: Path) -> None:
    with (
        running(HOUSEHOLD, tmp_path / "home", scene="'1'", pace=20.0),
        running(PLANNER, tmp_path / "alone", memory_nodes=True, memory_timeout=3.0, map_id="home") as alone,
    ):
        assert alone.wait() != 0
    assert "long_term_memory/enter has not answered for 3 s: is its node alive?" in (tmp_path / "alone").read_text()
