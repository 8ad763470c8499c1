"""The long-term memory over any history: the graph hangs together, a person is not overruled, all is kept."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from kc_vla.memory.long_term.detections import Detection
from kc_vla.memory.long_term.errors import GraphError
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.nodes import Floor, SceneObject
from kc_vla.memory.long_term.query import Query, neighbours
from kc_vla.memory.long_term.reachable import from_grid
from kc_vla.memory.long_term.spreading import spread
from kc_vla.memory.long_term.store import Store
from kc_vla.memory.long_term.views import BoxView

MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Where many small files cost no time."""
SPREADS = [spread(from_grid(np.zeros((30, 30)), 0.1), spacing_m) for spacing_m in (1.5, 2.5)]
places = st.tuples(*[st.integers(0, 6).map(lambda number: 0.4 * number)] * 2, st.sampled_from([0.2, 0.8, 3.2]))
sizes = st.sampled_from([(0.1, 0.1, 0.1), (0.4, 0.4, 0.4), (1.5, 1.5, 0.7), (0.0, 0.0, 0.0)])
types = st.sampled_from(["mug", "table", "box"])
states = st.sampled_from(["", "closed", "opened"])
names = st.sampled_from(["", "a", "b"])
detections = st.builds(Detection, types, places, sizes, st.floats(0.1, 1.0), states, source_id=names)


class AnyHistory(RuleBasedStateMachine):
    @initialize()
    def begin(self) -> None:
        self.folder = TemporaryDirectory(dir=MEMORY)
        self.store = Store(Path(self.folder.name) / "memory.db")
        self.memory = LongTermMemory(self.store)
        self.now = 1
        self.ids: set[str] = set()
        self.by_hand: dict[str, SceneObject] = {}

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            self.folder.cleanup()

    @property
    def known(self) -> list[str]:
        return sorted(self.memory.graph("home").objects)

    def learn(self) -> None:
        """Remember what a person has set, as it is now."""
        objects = self.memory.graph("home").objects.values()
        self.by_hand = {each.id: each for each in objects if each.by_hand}

    @rule(seen=st.lists(detections, max_size=5), looked=st.booleans(), late=st.integers(0, 2))
    def look(self, seen: list[Detection], looked: bool, late: int) -> None:
        self.now += 2
        view = BoxView((-1.0, -1.0, -1.0), (4.0, 4.0, 4.0)) if looked else None
        told = self.memory.observe("home", seen, self.now - late, view)
        assert not set(told.new) & self.ids  # no id is given again
        assert len(told.new) + len(told.seen) <= len(seen)
        self.ids |= set(told.new)
        for name, before in self.by_hand.items():
            after = self.memory.graph("home").object(name)
            assert all(getattr(after, field) == getattr(before, field) for field in before.by_hand - {"holder"})

    @rule(kind=types, place=places, size=sizes)
    def put_in(self, kind: str, place: tuple[float, float, float], size: tuple[float, float, float]) -> None:
        self.ids.add(self.memory.upsert("home", object_type=kind, position=place, size=size))
        self.learn()

    @precondition(lambda self: self.known)
    @rule(data=st.data(), state=states, place=places)
    def edit(self, data: st.DataObject, state: str, place: tuple[float, float, float]) -> None:
        self.memory.edit("home", data.draw(st.sampled_from(self.known)), state=state, position=place)
        self.learn()

    @precondition(lambda self: self.known)
    @rule(data=st.data(), placed=st.sampled_from(["on", "in"]))
    def hold(self, data: st.DataObject, placed: str) -> None:
        thing, holder = (data.draw(st.sampled_from(self.known)) for _ in range(2))
        if thing == holder or self.memory.graph("home").object(holder).forgotten:
            with pytest.raises(
                GraphError, match="cannot be on or in itself" if thing == holder else "could be on or in"
            ):
                self.memory.edit("home", thing, placed=placed, holder=holder)
            return
        self.memory.edit("home", thing, placed=placed, holder=holder)
        self.learn()

    @precondition(lambda self: self.known)
    @rule(data=st.data(), forget=st.booleans())
    def let_go(self, data: st.DataObject, forget: bool) -> None:
        (self.memory.forget if forget else self.memory.release)("home", data.draw(st.sampled_from(self.known)))
        self.learn()

    @rule(which=st.sampled_from(SPREADS), floor=st.sampled_from([("ground", 0.0), ("attic", 2.9)]))
    def map_anew(self, which: object, floor: tuple[str, float]) -> None:
        self.memory.set_areas("home", Floor(*floor), which)  # type: ignore[arg-type]

    @rule()
    def begin_again(self) -> None:
        self.store.close()
        self.store = Store(Path(self.folder.name) / "memory.db")
        assert self.store.mended == ""
        self.memory = LongTermMemory(self.store)

    @invariant()
    def it_hangs_together(self) -> None:
        if not hasattr(self, "memory"):
            return
        graph = self.memory.graph("home")
        assert set(graph.network) == {*graph.floors, *graph.areas, *graph.objects}
        edges = {(each.id, each.holder) for each in graph.objects.values() if each.holder}
        edges |= {(each.area, each.id) for each in graph.objects.values() if each.area}
        edges |= {(area.id, other) for area in graph.areas.values() for other in area.adjacent}
        edges |= {(area.floor, area.id) for area in graph.areas.values()}
        assert set(graph.network.edges) == edges
        for each in graph.known():
            assert each.area == graph.area_at(each.position)
            assert each.holder != each.id
            assert not each.holder or not graph.object(each.holder).forgotten
            assert [one.id for one in graph.near(each.position, 0.0) if one.id == each.id] == [each.id]
            assert neighbours(graph, each.id) is not None
        asked = self.memory.query("home", Query("mug", least=0.0, limit=100))
        assert {one.thing.id for one in asked} == {
            each.id for each in graph.known() if "mug" in (each.object_type, each.id[:3])
        }

    @invariant()
    def the_store_says_the_same(self) -> None:
        if not hasattr(self, "store"):
            return
        kept, graph = self.store.load("home"), self.memory.graph("home")
        assert {each.id: each for each in kept.nodes()} == {each.id: each for each in graph.nodes()}
        assert set(kept.network.edges) == set(graph.network.edges)
        assert kept.number == graph.number


AnyHistory.TestCase.settings = settings(stateful_step_count=20)
TestAnyHistory = AnyHistory.TestCase
