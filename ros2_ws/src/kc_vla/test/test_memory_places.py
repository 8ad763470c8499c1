"""What a thing is on or in: the relation in the graph and the attribute `place` never name two things."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried

from kc_vla.memory.long_term.detections import Detection
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.nodes import SceneObject
from kc_vla.memory.long_term.relations import told_place
from kc_vla.memory.long_term.store import Store
from kc_vla.memory.long_term.views import BoxView

ALL = BoxView((-9.0, -9.0, -1.0), (9.0, 9.0, 3.0))
BOXES = {
    "Table_1": ((0.0, 0.0, 0.4), (1.6, 0.8, 0.8), False),
    "Fridge_1": ((3.0, 0.0, 0.9), (0.7, 0.7, 1.8), False),
    "Pan_1": ((0.3, 0.0, 0.85), (0.4, 0.4, 0.1), True),
}
"""A pan on a table: what lies beside it may have its middle in the pan's box."""
PLACES = ("on Table_1", "in Fridge_1", "in Pan_1", "on Shelf_9", "in the hand", "on the floor", "on table", "")
SPOTS = ((0.0, 0.0, 0.82), (0.35, 0.1, 0.85), (3.0, 0.0, 0.9), (5.0, 5.0, 0.05))


@dataclass
class Home:
    memory: LongTermMemory
    now: int = 0

    def look(self, *seen: Detection, view: BoxView | None = None) -> None:
        self.now += 10**9
        self.memory.observe("home", seen, self.now, view)

    def named(self, name: str) -> SceneObject | None:
        return self.memory.graph("home").named(name)

    def thing(self, name: str = "Spoon_1") -> SceneObject:
        found = self.named(name)
        assert found is not None
        return found


def box(name: str, at: tuple[float, float, float] | None = None) -> Detection:
    position, size, movable = BOXES[name]
    return Detection(name.partition("_")[0], at or position, size, movable=movable, source_id=name)


def spoon(at: tuple[float, float, float], place: str, name: str = "Spoon_1") -> Detection:
    return Detection("Spoon", at, (0.15, 0.03, 0.02), attributes={"place": place} if place else {}, source_id=name)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    found = Home(LongTermMemory(Store(tmp_path / "memory.db")))
    found.look(*map(box, BOXES))
    return found


def test_what_lies_beside_a_pan_is_on_the_table_as_the_detector_says(home: Home) -> None:
    home.look(spoon((0.35, 0.1, 0.85), "on Table_1"))
    assert (home.thing().placed, home.thing().holder) == ("on", home.thing("Table_1").id)
    home.look(spoon((0.35, 0.1, 0.85), "in Pan_1"))
    assert (home.thing().placed, home.thing().holder) == ("in", home.thing("Pan_1").id)


def test_what_was_moved_is_not_where_it_was_said_to_be_before(home: Home) -> None:
    home.look(spoon((0.0, 0.0, 0.82), "on Table_1"))
    home.look(spoon((3.0, 0.0, 0.9), ""))
    assert home.thing().holder == home.thing("Fridge_1").id
    assert "place" not in home.thing().attributes


def test_what_is_in_a_pan_goes_with_it(home: Home) -> None:
    home.look(spoon((0.3, 0.0, 0.85), "in Pan_1"))
    home.look(box("Pan_1", (3.0, 0.0, 0.5)))
    assert home.thing().holder == home.thing("Pan_1").id


def test_what_a_person_says_is_elsewhere_is_not_where_it_was_said_to_be_before(home: Home) -> None:
    home.look(spoon((0.0, 0.0, 0.82), "on Table_1"))
    home.memory.edit("home", home.thing().id, position=(3.0, 0.0, 0.9))
    assert home.thing().holder == home.thing("Fridge_1").id
    assert "place" not in home.thing().attributes


def test_the_word_of_a_person_holds_and_what_a_detector_said_otherwise_goes(home: Home) -> None:
    home.look(spoon((0.0, 0.0, 0.82), "on Table_1"))
    home.memory.edit("home", home.thing().id, holder=home.thing("Fridge_1").id, placed="in")
    home.look(spoon((0.0, 0.0, 0.82), "on Table_1"))
    assert home.thing().holder == home.thing("Fridge_1").id
    assert "place" not in home.thing().attributes


_looks = st.tuples(
    st.just("look"), st.sampled_from(SPOTS), st.sampled_from(PLACES), st.sampled_from(["Spoon_1", "Spoon_2", ""])
)
_pans = st.tuples(st.just("pan"), st.sampled_from(SPOTS))
_gone = st.tuples(st.just("gone"), st.sampled_from([*BOXES, "Spoon_1"]))
_edits = st.tuples(st.just("edit"), st.sampled_from(["position", "holder", "nothing"]), st.sampled_from(SPOTS))


@tried(60, 300)
@given(st.lists(st.one_of(_looks, _looks, _looks, _pans, _gone, _edits), max_size=12))
def test_whatever_happens_relation_and_place_name_one_thing(steps: list[tuple[object, ...]]) -> None:
    with TemporaryDirectory() as folder, Store(Path(folder) / "memory.db") as store:
        home = Home(LongTermMemory(store))
        home.look(*map(box, BOXES))
        for step in steps:
            _happen(home, step)
            for each in home.memory.objects("home"):
                _agree(home, each)


def _happen(home: Home, step: tuple[object, ...]) -> None:
    kind, *rest = step
    known = home.named("Spoon_1")
    if kind == "look":
        at, place, name = rest
        home.look(spoon(at, place, name), view=None)  # type: ignore[arg-type]
    elif kind == "pan":
        home.look(box("Pan_1", rest[0]))  # type: ignore[arg-type]
    elif kind == "gone":
        there = [name for name in BOXES if name != rest[0]]
        for _ in range(6):
            home.look(*map(box, there), view=ALL)
    elif known is not None and not known.forgotten:
        fridge = home.named("Fridge_1")
        nowhere = {"holder": "", "placed": ""}
        holder = nowhere if fridge is None else {"holder": fridge.id, "placed": "in"}
        values = {"position": {"position": rest[1]}, "holder": holder, "nothing": nowhere}[str(rest[0])]
        home.memory.edit("home", known.id, **values)


def _agree(home: Home, each: SceneObject) -> None:
    told = told_place(each.attributes)
    if told is None or told == ("on", "table") or each.forgotten:
        return
    holder = home.memory.graph("home").objects.get(each.holder)
    if holder is not None:
        assert (each.placed, holder.source_id) == told
    known = home.named(told[1])
    if known is not None and each.last_seen_ns == home.now and "holder" not in each.by_hand:
        assert holder == known
