"""What a long-term memory answers to a text: states, exclusions, kinds, purposes, relations, and nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kc_vla.cli.scene_graph import main
from kc_vla.memory.embedding.models import shared_embedder
from kc_vla.memory.long_term.errors import GraphError
from kc_vla.memory.long_term.graph import SceneGraph
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.nodes import Area, Floor, SceneObject
from kc_vla.memory.long_term.query import Query
from kc_vla.memory.long_term.store import Store
from kc_vla.memory.references.spatial import Viewpoint, looking

NORTH = looking((0.0, -2.0, 1.2), 1.5708)
SMALL = (0.1, 0.1, 0.1)


def thing(name: str, x: float, y: float, state: str = "", colour: str = "", **more: object) -> SceneObject:
    said = {"colour": colour} if colour else {}
    return SceneObject(name, name.rpartition("_")[0], (x, y, 0.85), SMALL, "node_1", True, state, said, **more)  # type: ignore[arg-type]


def home() -> SceneGraph:
    """A table with a row from left to right: plate, blue mug, apple, fork; a sink with a red mug; a bedroom."""
    on_table = {"placed": "on", "holder": "table_1"}
    return SceneGraph(
        "home",
        [
            Floor("ground", 0.0),
            Area("node_1", "ground", (0.0, -1.5, 0.0), {"node_2": 5.0}, "kitchen"),
            Area("node_2", "ground", (5.0, 0.0, 0.0), {"node_1": 5.0}, "bedroom"),
            SceneObject("table_1", "DiningTable", (0.0, 0.0, 0.4), (1.6, 1.0, 0.8), "node_1", False),
            SceneObject("sink_1", "Sink", (-2.0, 0.0, 0.8), (0.6, 0.6, 0.3), "node_1", False),
            SceneObject("door_1", "Door", (0.0, 3.0, 1.0), (0.9, 0.1, 2.0), "node_1", False),
            SceneObject("elephant_9", "Elephant", (0.0, 0.0, 1.0), SMALL, "node_1", forgotten=True),
            thing("plate_1", -0.4, 0.0, "dirty", "white", **on_table),
            thing("mug_1", -0.1, 0.0, "cleaned", "blue", **on_table),
            thing("apple_1", 0.2, 0.0, "dirty", "red", **on_table),
            thing("fork_1", 0.5, 0.0, "", "silver", **on_table),
            thing("mug_2", -2.0, 0.0, "dirty", "red", placed="in", holder="sink_1"),
            SceneObject("apple_2", "apple", (5.0, 0.0, 0.8), SMALL, "node_2", True, "cleaned", {"colour": "green"}),
            SceneObject("mug_3", "mug", (5.5, 0.0, 0.8), SMALL, "node_2"),
            SceneObject("lamp_1", "DeskLamp", (5.2, 0.0, 0.8), SMALL, "node_2", True, "on"),
        ],
        20,
    )


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "home.db"
    with Store(path) as opened:
        LongTermMemory(opened).take(home())
    return path


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LongTermMemory]:
    with Store(tmp_path_factory.mktemp("search") / "home.db") as opened:
        memory = LongTermMemory(opened, embed=shared_embedder().embed)
        memory.take(home())
        yield memory


def ids(memory: LongTermMemory, text: str, viewpoint: Viewpoint | str | None = None) -> list[str]:
    return [each.thing.id for each in memory.query("home", Query(text, viewpoint=viewpoint))]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("clean apple", ["apple_2"]),
        ("a dirty mug", ["mug_2", "mug_3"]),  # of the third nobody has said whether it is
        ("the mug, but not the red one", ["mug_1", "mug_3"]),
        ("a mug that isn't dirty", ["mug_1", "mug_3"]),
        ("something to drink from", ["mug_1", "mug_2", "mug_3"]),
        ("a piece of fruit", ["apple_1", "apple_2"]),
        ("something to read", []),
        ("purple elephant", []),
        ("the violin", []),
        ("a green mug", ["mug_3"]),
        ("MUG_2", ["mug_2"]),
        ("the mug in the bedroom", ["mug_3"]),
        ("what is in the sink?", ["mug_2"]),
        ("the mug on the table", ["mug_1"]),
        ("the apple nearest to the desk lamp", ["apple_2", "apple_1"]),
        ("the thing between the blue mug and the fork", ["apple_1"]),
        ("the fork left of the violin", []),
        ("the thing left of the blue mug seen from the kitchen", ["plate_1"]),
        ("the thing left of the blue mug seen from the door", ["apple_1"]),
    ],
)
def test_a_text_finds_what_fits_and_nothing_else(memory: LongTermMemory, text: str, wanted: list[str]) -> None:
    found = ids(memory, text)
    assert (
        sorted(found) == sorted(wanted) if "nearest" not in text and len(wanted) > 1 else found[: len(wanted)] == wanted
    )
    assert bool(found) == bool(wanted)


def test_what_fits_comes_before_what_may_fit(memory: LongTermMemory) -> None:
    known, unknown = memory.query("home", Query("a dirty mug"))
    assert (known.thing.id, unknown.thing.id) == ("mug_2", "mug_3")
    assert known.score > 0.5 > unknown.score


def test_the_thing_left_of_a_mug_is_not_the_mug(memory: LongTermMemory) -> None:
    assert ids(memory, "the thing left of the blue mug", NORTH)[0] == "plate_1"
    assert ids(memory, "the thing right of the blue mug", NORTH)[0] == "apple_1"
    assert ids(memory, "the thing left of the blue mug", "door_1")[0] == "apple_1"
    assert ids(memory, "the thing left of the blue mug", "kitchen")[0] == "plate_1"
    with pytest.raises(GraphError, match="name a viewpoint"):
        ids(memory, "the thing left of the blue mug")
    with pytest.raises(GraphError, match="no viewpoint 'moon' is known"):
        ids(memory, "the thing left of the blue mug", "moon")


def test_an_answer_says_how_sure_it_is(memory: LongTermMemory) -> None:
    sure = memory.answer("home", Query("the blue mug")).confidence
    maybe = memory.answer("home", Query("a green mug")).confidence
    nothing = memory.answer("home", Query("purple elephant"))
    assert 0.9 < sure <= 1.0
    assert 0.0 < maybe < 0.5
    assert (nothing.found, nothing.confidence) == ((), 0.0)
    assert "'violin'" in memory.answer("home", Query("the fork left of the violin", viewpoint=NORTH)).note


def test_a_text_is_looked_for_among_what_else_is_asked(memory: LongTermMemory) -> None:
    found = memory.query("home", Query("a mug", area="bedroom"))
    assert [each.thing.id for each in found] == ["mug_3"]
    near = memory.query("home", Query("a mug", near=(-2.0, 0.0, 0.8), radius_m=1.0))
    assert [each.thing.id for each in near] == ["mug_2"]


def test_the_search_keeps_up_with_the_graph(tmp_path: Path) -> None:
    with Store(tmp_path / "home.db") as opened:
        memory = LongTermMemory(opened)
        memory.take(home())
        assert ids(memory, "the blue mug") == ["mug_1", "mug_3"]
        memory.upsert("home", "mug_3", attributes={"colour": "black"})
        assert ids(memory, "the blue mug") == ["mug_1"]
        memory.forget("home", "mug_1")
        assert ids(memory, "the blue mug") == []


def test_the_command_line_knows_meanings_viewpoints_and_confidence(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(*words: str) -> list[str]:
        assert main(["memory", "query", str(store), *words]) == 0
        return [line.split()[1].strip(";") for line in capsys.readouterr().out.splitlines()]

    assert said("--text", "something to drink from")[0].startswith("mug")
    assert said("purple elephant") == []
    assert said("the thing left of the blue mug", "--from", "door_1")[0] == "apple_1"
    assert said("the thing left of the blue mug", "--from", "0", "-2", "1.2", "1.57")[0] == "plate_1"
    assert main(["memory", "query", str(store), "the blue mug"]) == 0
    assert "meant with confidence 0.9" in capsys.readouterr().out.splitlines()[0]
    assert main(["memory", "query", str(store), "the blue mug", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[0])["confidence"] > 0.9


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (("the thing left of the blue mug",), "name a viewpoint"),
        (("a mug", "--from", "1", "2"), "give X Y Z"),
        (("a mug", "--text", "a cup"), "give the text once"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_line(
    store: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], wrong: str
) -> None:
    assert main(["memory", "query", str(store), *words]) == 1
    assert wrong in capsys.readouterr().err
