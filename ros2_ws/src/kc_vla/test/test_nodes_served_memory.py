"""A robot that remembers with the memory nodes: what it knows is what it would know by itself, for few calls."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from node_process import running
from served_memory import ServedMemory

from kc_vla.core import topics
from kc_vla.memory.embedding.models import shared_embedder
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.nodes import Area
from kc_vla.memory.long_term.store import Store
from kc_vla.memory.navigation_map import NavigationMap
from kc_vla.memory.robot.interface import SceneObservation
from kc_vla.memory.robot.robot_memory import BOTH, RobotMemory, open_robot_memory
from kc_vla.memory.things import ObservedThing

LONG, SHORT = "kc_vla.nodes.long_term_memory", "kc_vla.nodes.short_term_memory"
CAPACITY = 5
CLOCK = map(float, count(1))
"""Goes on from test to test: the nodes do."""
GROUNDS = NavigationMap(
    [
        Area("area_1", "ground", (0.0, 0.0, 0.0), {"area_2": 4.0}, "kitchen"),
        Area("area_2", "ground", (4.0, 0.0, 0.0), {"area_1": 4.0}, "hall"),
    ]
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedMemory]:
    folder = tmp_path_factory.mktemp("served")
    told = {"frame": "map", "detections": False}
    with ExitStack() as opened:
        opened.enter_context(running(LONG, folder / "long", store=str(folder / "memory.db"), map_id="home", **told))
        opened.enter_context(running(SHORT, folder / "short", capacity=CAPACITY, **told))
        yield opened.enter_context(ServedMemory(fresh_s=math.inf))


@pytest.fixture
def own(tmp_path: Path) -> Iterator[RobotMemory]:
    with Store(tmp_path / "memory.db") as store:
        memory = open_robot_memory(BOTH, shared_embedder(), GROUNDS, LongTermMemory(store), capacity=CAPACITY)
        memory.begin()
        yield memory


def mug(number: int, x: float = 0.0) -> ObservedThing:
    colour = {"colour": "red" if number % 2 else "blue"}
    at = "area_1" if x < 2.0 else "area_2"
    return ObservedThing(
        "Mug", f"Mug_{number}", (x, 0.1 * number, 1.0), (0.1, 0.1, 0.1), "", colour, "on", "Table_1", at, True, 0.75
    )


def test_a_look_costs_one_call_to_each_memory(served: ServedMemory) -> None:
    memory = served.open("counted", GROUNDS)
    memory.observe(SceneObservation([mug(1)], "area_1", next(CLOCK)))
    served.calls.clear()
    for _ in range(10):
        memory.observe(SceneObservation([mug(1), mug(2)], "area_1", next(CLOCK)))
        assert {each.object_id for each in memory.things()} == {"Mug_1", "Mug_2"}
        assert memory.thing("Mug_2") is not None
        assert "Mug" in memory.surroundings("the red mug")
    assert served.calls == {topics.OBSERVE_UNITS: 10, topics.OBSERVE_SCENE: 10}
    memory.observe(SceneObservation([mug(1)], "area_1", next(CLOCK), handled=mug(1)))
    memory.confirm("Mug_1")
    memory.refute("Mug_2", SceneObservation((), "area_1", next(CLOCK)))
    assert memory.was_handled("Mug_1")
    assert served.calls == {topics.OBSERVE_UNITS: 12, topics.OBSERVE_SCENE: 12, topics.TELL_RECALL: 2}


@pytest.mark.parametrize("seed", range(3))
def test_a_robot_knows_the_same_with_the_nodes_and_without(seed: int, served: ServedMemory, own: RobotMemory) -> None:
    chance, memory = random.Random(seed), served.open(f"home-{seed}", GROUNDS)
    for _ in range(120):
        seen = [mug(number, chance.uniform(-1.0, 5.0)) for number in chance.sample(range(9), chance.randint(0, 6))]
        at, what = chance.choice(["area_1", "area_2"]), chance.random()
        look = SceneObservation(seen, at, next(CLOCK))
        handled = chance.choice(seen) if seen else None
        known = chance.choice(["Mug_0", *(each.object_id for each in own.things())])
        for each in (own, memory):
            if what < 0.5:
                assert each.observe(look) == []
            elif what < 0.8:
                assert each.observe(replace(look, handled=handled)) == []
            elif what < 0.9:
                each.confirm(known)
            elif what < 0.98:
                each.refute(known, look)
            else:
                each.begin()
        assert [list(part.things()) for part in memory.parts] == [list(part.things()) for part in own.parts]
        assert memory.surroundings("the blue mug") == own.surroundings("the blue mug")


def test_what_a_memory_refuses_is_told_beside_what_it_takes(served: ServedMemory, own: RobotMemory) -> None:
    memory = served.open("refusing", GROUNDS)
    crowded = replace(mug(2), attributes={f"attribute {number}": "x" for number in range(100)})
    look = SceneObservation([mug(1), crowded], "area_1", next(CLOCK))
    refused = memory.observe(look)
    assert refused == own.observe(look)
    assert refused
    assert {each.object_id for each in memory.things()} == {"Mug_1"}
