"""Scene graphs as Hydra writes them: classes by label spaces, objects with several parents."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried

from kc_vla.cli import main
from kc_vla.memory.long_term.exchange import form_of
from kc_vla.memory.long_term.graph import SceneGraph
from kc_vla.memory.long_term.label_spaces import LabelSpaces

dsg = pytest.importorskip("spark_dsg")
NONE = 0xFFFFFFFF
NAMES = {3: "chair", 5: "table", 7: "cup"}
PAIRS = [[label, name] for label, name in NAMES.items()]


def hydra(
    folder: Path,
    metadata: Any,
    objects: list[tuple[str, int]],
    parents: dict[int, list[int]] | None = None,
    rooms: tuple[tuple[float, int], ...] = ((0.0, NONE), (4.0, NONE), (8.0, NONE)),
) -> SceneGraph:
    """Write a graph and read it back.

    Args:
        folder: for the file.
        metadata: of the graph.
        objects: own name and label of each; object k is at x = k.
        parents: the rooms of an object; by default the first.
        rooms: x in m and label of each.
    """
    graph = dsg.DynamicSceneGraph()
    graph.metadata.set(metadata)
    for number, (x, label) in enumerate(rooms):
        room = dsg.RoomNodeAttributes()
        room.position, room.name, room.semantic_label = np.array([x, 0.0, 0.0]), f"R({number})", label
        graph.add_node("ROOMS", dsg.NodeSymbol("R", number).value, room)
    for number, (name, label) in enumerate(objects):
        thing = dsg.ObjectNodeAttributes()
        thing.position, thing.name, thing.semantic_label = np.array([float(number), 0.0, 0.8]), name, label
        graph.add_node("OBJECTS", dsg.NodeSymbol("O", number).value, thing)
        for room_number in (parents or {}).get(number, [0]):
            graph.insert_edge(dsg.NodeSymbol("R", room_number).value, dsg.NodeSymbol("O", number).value)
    path = folder / "hydra.json"
    graph.save(str(path), False)
    return form_of(path, "spark-dsg").read(path, "")


def types(graph: SceneGraph) -> list[str]:
    return [graph.objects[name].object_type for name in sorted(graph.objects)]


@pytest.mark.parametrize(
    "metadata",
    [
        {"labelspaces": {"_l2p0": PAIRS}},
        {"labelspaces": {"l2p0": PAIRS}},
        {"labelspaces": {"_l2p1": PAIRS}},
        {"labelspaces": {"_l2p0": {str(label): name for label, name in NAMES.items()}}},
        {"labelspaces": {"_l2p0": {name: label for label, name in NAMES.items()}}},
        {"labelspaces": {"_l2p0": {"label_names": [{"label": label, "name": name} for label, name in PAIRS]}}},
        {"labelspaces": {"_l2p0": ["a", "b", "c", "chair", "d", "table", "e", "cup"]}},
        {"labelspaces": {"_l3p0": [[3, "wall"]], "_l2p0": PAIRS}},
        {"labelspace": {"label_names": [{"label": label, "name": name} for label, name in PAIRS]}},
    ],
)
def test_a_label_space_names_the_classes(tmp_path: Path, metadata: Any) -> None:
    found = hydra(tmp_path, metadata, [("O(0)", 3), ("", 5), ("O2", 7), ("red mug", 3)])
    assert types(found) == ["chair", "table", "cup", "red mug"]


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"labelspaces": {}},
        {"labelspaces": {"_l3p0": PAIRS}},
        {"labelspaces": {"_l" + 5000 * "9": PAIRS}},
        {"labelspaces": {"_l2p0": [[4, "other"], [3], [3, 4], "x", None, [3, ""]]}},
        {"labelspaces": {"_l2p0": "chair"}},
        {"labelspaces": None},
        {"labelspaces": 7},
    ],
)
def test_labels_that_nothing_names_are_numbers(tmp_path: Path, metadata: Any) -> None:
    found = hydra(tmp_path, metadata, [("O(0)", 3), ("", NONE), ("R2D2", 5)])
    assert types(found) == ["class 3", "unknown", "R2D2"]


def test_rooms_are_called_by_their_label_space_too(tmp_path: Path) -> None:
    metadata = {"labelspaces": {"_l4p0": [[1, "kitchen"]]}}
    found = hydra(tmp_path, metadata, [("cup", NONE)], rooms=((0.0, 1), (4.0, 2)))
    assert [area.name for area in found.areas.values()] == ["kitchen", "R(1)"]


@pytest.mark.parametrize(
    ("parents", "area"), [([0], "R0"), ([0, 1], "R1"), ([1, 2], "R1"), ([0, 1, 2], "R1"), ([0, 2], "R0"), ([], "")]
)
def test_an_object_with_several_parents_is_in_the_nearest(tmp_path: Path, parents: list[int], area: str) -> None:
    found = hydra(tmp_path, {}, [("a", 1), ("b", 1), ("c", 1), ("cup", 1)], {3: parents})
    assert found.objects["O3"].area == area


def test_a_class_of_a_label_space_is_found(tmp_path: Path, capsys: Any) -> None:
    hydra(tmp_path, {"labelspaces": {"_l2p0": PAIRS}}, [("O(0)", 3), ("O(1)", 5)])
    store = str(tmp_path / "m.db")
    assert main(["memory", "import", store, str(tmp_path / "hydra.json"), "--format", "spark-dsg"]) == 0
    capsys.readouterr()
    assert main(["memory", "query", store, "chair", "--json"]) == 0
    assert "O0" in json.dumps(json.loads(capsys.readouterr().out))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4) | st.just("_l2p0"), inner, max_size=3)
    ),
    max_leaves=8,
)


@tried(100, 1000)
@given(JSON, st.sampled_from(["labelspaces", "labelspace"]))
def test_any_metadata_names_classes_or_none(content: Any, key: str) -> None:
    spaces = LabelSpaces({key: content})
    for label in (0, 3, NONE):
        name = spaces.name(2, 0, label)
        assert name == name.strip()
