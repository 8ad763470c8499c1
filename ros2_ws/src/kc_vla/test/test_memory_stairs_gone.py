"""A connection that a detector made goes with its stairs; what a person connected stays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kc_vla.memory.long_term.detections import Detection
from kc_vla.memory.long_term.errors import GraphError
from kc_vla.memory.long_term.graph import SceneGraph
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.nodes import Area, Floor
from kc_vla.memory.long_term.store import Store
from kc_vla.memory.long_term.views import BoxView
from kc_vla.memory.long_term.ways import way

LOW, HIGH = (
    Detection("stairs", (2.0, 0.0, z), (2.0, 1.0, 1.0), source_id=name) for z, name in ((0.5, "Low"), (3.5, "High"))
)
UPSTAIRS = BoxView((-5.0, -5.0, 2.9), (9.0, 5.0, 5.0))


def house(store: Store) -> LongTermMemory:
    """Return the memory of a house whose hall and landing the stairs connect."""
    floors = [Floor("ground", 0.0), Floor("upper", 3.0)]
    areas = [Area("hall", "ground", (2.0, 0.0, 0.0)), Area("landing", "upper", (2.0, 0.0, 3.0))]
    memory = LongTermMemory(store)
    memory.take(SceneGraph("home", [*floors, *areas]))
    for stamp in (1, 2):
        memory.observe("home", [LOW, HIGH], stamp)
    assert len(memory.graph("home").connections) == 1
    return memory


def forget(memory: LongTermMemory) -> None:
    memory.forget("home", stairs_of(memory, "High"))


def rename(memory: LongTermMemory) -> None:
    memory.edit("home", stairs_of(memory, "High"), object_type="shelf")


def refute(memory: LongTermMemory) -> None:
    for stamp in range(3, 20):
        memory.observe("home", [], stamp, UPSTAIRS)


def stairs_of(memory: LongTermMemory, source_id: str) -> str:
    known = memory.graph("home").named(source_id)
    assert known is not None
    return known.id


@pytest.mark.parametrize("lose", [forget, rename, refute])
def test_a_connection_goes_with_the_stairs_that_made_it(tmp_path: Path, lose: Callable[[LongTermMemory], None]) -> None:
    with Store(tmp_path / "memory.db") as store:
        memory = house(store)
        assert way(memory.graph("home"), "hall", "landing").over
        lose(memory)
        with pytest.raises(GraphError, match="no way is known"):
            way(memory.graph("home"), "hall", "landing")
        assert not LongTermMemory(store).graph("home").connections


def test_it_is_back_when_the_stairs_are_seen_again(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        memory = house(store)
        refute(memory)
        memory.observe("home", [LOW, HIGH], 30)
        assert way(memory.graph("home"), "hall", "landing").over


def test_one_look_that_misses_the_stairs_takes_nothing_away(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        memory = house(store)
        memory.observe("home", [], 3, UPSTAIRS)
        assert way(memory.graph("home"), "hall", "landing").over


@pytest.mark.parametrize("lose", [forget, rename, refute])
def test_what_a_person_connected_stays_without_its_stairs(
    tmp_path: Path, lose: Callable[[LongTermMemory], None]
) -> None:
    with Store(tmp_path / "memory.db") as store:
        memory = house(store)
        by_hand = memory.connect("home", "hall", "landing", "stairs", 5.0)
        lose(memory)
        assert way(memory.graph("home"), "hall", "landing").over == (by_hand,)


def test_a_connection_stays_where_other_stairs_stand_at_its_end(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        memory = house(store)
        other = Detection("staircase", (2.4, 0.0, 4.6), (2.0, 1.0, 1.0), source_id="Other")
        memory.observe("home", [LOW, HIGH, other], 5)
        forget(memory)
        assert way(memory.graph("home"), "hall", "landing").over
        memory.forget("home", stairs_of(memory, "Other"))
        assert not memory.graph("home").connections


def test_a_connection_that_a_person_took_out_is_not_made_again_by_new_stairs(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        memory = house(store)
        (made,) = memory.graph("home").connections
        memory.disconnect("home", made)
        refute(memory)
        memory.observe("home", [LOW, HIGH], 30)
        with pytest.raises(GraphError, match="no way is known"):
            way(memory.graph("home"), "hall", "landing")
