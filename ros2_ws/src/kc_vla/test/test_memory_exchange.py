"""Maps to files and back, and `kc-vla memory`, which does that and more from a shell."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import stat
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes
from PIL import Image

from kc_vla.cli import main
from kc_vla.memory.long_term.errors import GraphError, StoreError
from kc_vla.memory.long_term.exchange import form_of
from kc_vla.memory.long_term.graph import GraphChange, SceneGraph
from kc_vla.memory.long_term.nodes import Area, Floor, SceneObject
from kc_vla.memory.long_term.plot import draw_graph
from kc_vla.memory.long_term.store import Store

FORMS = ["json", "graphml", "spark-dsg"]
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)


def home(said: str = "red", embedding: bytes = b"\0\0\x80?", edge: bytes = b"\0\0\x80?" * 2) -> SceneGraph:
    return SceneGraph(
        "home",
        [
            Floor("ground", 0.0, said[:100]),
            Area("node_1", "ground", (0.0, 0.0, 0.0), {"node_2": 2.5}, "kitchen", edge),
            Area("node_2", "ground", (2.0, 0.0, 0.0), {"node_1": 2.5}),
            SceneObject("table_3", "table", (0.0, 0.5, 0.4), (1.6, 0.8, 0.8), "node_1", movable=False),
            SceneObject(
                "mug_4",
                said,
                (0.1, 0.5, 0.85),
                (0.1, 0.1, 0.1),
                "node_1",
                state=said,
                attributes={said: said},
                placed="on",
                holder="table_3",
                by_hand=frozenset({"state"}),
                embedding=embedding,
            ),
            SceneObject("ghost_7", "ghost", (9.0, 0.0, 0.0), forgotten=True),
        ],
        9,
    )


def assert_same(one: SceneGraph, other: SceneGraph) -> None:
    assert list(one.nodes()) == list(other.nodes())
    assert set(one.network.edges) == set(other.network.edges)
    assert one.map_id == other.map_id
    assert one.number <= other.number


@pytest.mark.parametrize("name", ["json", "graphml"])
@given(texts)
def test_whatever_is_in_a_map_comes_back_from_a_file(
    tmp_path_factory: pytest.TempPathFactory, name: str, said: str
) -> None:
    path = tmp_path_factory.getbasetemp() / f"map.{name}"
    form_of(path).write(home(said), path)
    assert_same(home(said), form_of(path).read(path, ""))
    assert form_of(path).read(path, "other").map_id == "other"


@pytest.mark.parametrize("said", ["red", "\x00 \u2028 <!ENTITY> ]]> '; --"])
def test_a_map_comes_back_from_spark_dsg(tmp_path: Path, said: str) -> None:
    dsg = pytest.importorskip("spark_dsg")
    path = tmp_path / "map.json"
    form_of(path, "spark-dsg").write(home(said), path)
    assert_same(home(said), form_of(path, "spark-dsg").read(path, ""))
    theirs = dsg.DynamicSceneGraph.load(str(path))
    counts = [len(list(theirs.get_layer(name).nodes)) for name in ("OBJECTS", "ROOMS", "BUILDINGS")]
    assert counts == [3, 2, 1]
    mug = theirs.get_node(dsg.NodeSymbol("O", 4).value)
    assert mug.attributes.position == pytest.approx([0.1, 0.5, 0.85])
    assert mug.get_parent() == dsg.NodeSymbol("R", 1).value


def test_a_graph_of_hydra_becomes_areas_and_objects(tmp_path: Path) -> None:
    dsg = pytest.importorskip("spark_dsg")
    graph = dsg.DynamicSceneGraph()
    for number in range(2):
        room = dsg.RoomNodeAttributes()
        room.position, room.name = np.array([2.0 * number, 0.0, 0.0]), f"room {number}"
        graph.add_node("ROOMS", dsg.NodeSymbol("R", number).value, room)
    place = dsg.PlaceNodeAttributes()
    place.position = np.zeros(3)
    graph.add_node("PLACES", dsg.NodeSymbol("p", 0).value, place)
    mug = dsg.ObjectNodeAttributes()
    mug.position, mug.name = np.array([0.5, 0.0, 0.8]), "mug"
    turned = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1.0]])
    mug.bounding_box = dsg.BoundingBox(
        dsg.BoundingBoxType.RAABB, np.array([0.1, 0.2, 0.3], np.float32), mug.position.astype(np.float32), turned
    )
    graph.add_node("OBJECTS", dsg.NodeSymbol("O", 0).value, mug)
    for one, other in ((("R", 0), ("R", 1)), (("R", 0), ("p", 0)), (("p", 0), ("O", 0))):
        assert graph.insert_edge(dsg.NodeSymbol(*one).value, dsg.NodeSymbol(*other).value)
    graph.save(str(tmp_path / "dsg.json"), False)
    found = form_of(Path("dsg.json"), "spark-dsg").read(tmp_path / "dsg.json", "")
    assert found.map_id == "dsg"
    assert [(area.name, dict(area.adjacent)) for area in found.areas.values()] == [
        ("room 0", {"R1": 2.0}),
        ("room 1", {"R0": 2.0}),
    ]
    (thing,) = found.objects.values()
    assert (thing.object_type, thing.area) == ("mug", "R0")
    assert thing.size == pytest.approx((0.2, 0.1, 0.3))


def test_without_the_package_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(__import__("sys").modules, "spark_dsg", None)  # as Python marks what cannot be imported
    with pytest.raises(GraphError, match="pip install spark-dsg"):
        form_of(tmp_path, "spark-dsg").write(home(), tmp_path / "map.json")


def spoilt(**changes: object) -> str:
    head = {"format": "kc_vla scene graph", "version": 1, "map_id": "home", "floors": [], "areas": [], "objects": []}
    return json.dumps(head | changes)


MUG = {"id": "mug_1", "object_type": "mug", "position": [0, 0, 0]}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("[" * 100_000, "nested too deeply"),
        ("{}", "is no kc_vla scene graph"),
        ("{", "Expecting"),
        (spoilt(version=9), "is of version 9"),
        (spoilt(objects=7), "no list of objects"),
        (spoilt(objects=[7]), "7 is no object"),
        (spoilt(objects=[{"id": "mug_1"}]), "object_type, position missing"),
        (spoilt(objects=[MUG | {"price": 7}]), "unknown: 'price'"),
        (spoilt(objects=[MUG, MUG]), "two nodes 'mug_1'"),
        (spoilt(objects=[MUG | {"area": "node_9"}]), "names 'node_9', which is not there"),
        (spoilt(objects=[MUG | {"position": [0, 0, 1e999]}]), "position is inf"),
        (spoilt(objects=[MUG | {"state": "x" * 10**6}]), "has 1000000 letters"),
        (spoilt(objects=[MUG | {"embedding": "%%%"}]), "is no base64"),
        (spoilt(objects=[MUG | {"attributes": [1]}]), "attributes is"),
        (spoilt(objects=[MUG | {"by_hand": ["id"]}]), "can be set by hand"),
        (spoilt(map_id=""), "can be no map_id"),
    ],
)
def test_a_file_that_is_no_map_is_refused_in_a_line(tmp_path: Path, text: str, word: str) -> None:
    path = tmp_path / "map.json"
    path.write_text(text)
    with pytest.raises(GraphError, match=word) as refused:
        form_of(path).read(path, "")
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("text", ["", "<graphml", "<!DOCTYPE a [<!ENTITY b 'c'>]><graphml>&b;</graphml>", "<graphml/>"])
@pytest.mark.parametrize("name", ["graphml", "spark-dsg"])
def test_no_file_of_others_does_harm(tmp_path: Path, text: str, name: str) -> None:
    if name == "spark-dsg":
        pytest.importorskip("spark_dsg")
    path = tmp_path / "map"
    path.write_text(text)
    with pytest.raises(GraphError) as refused:
        form_of(path, name).read(path, "home")
    assert "\n" not in str(refused.value)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with Store(tmp_path / "memory.db") as store:
        store.write("home", GraphChange(tuple(home().nodes()), (), 9))
    return tmp_path / "memory.db"


def test_show_tells_a_map_and_draws_it(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["memory", "show", str(store), "--png", str(tmp_path / "map.png")]) == 0
    told = capsys.readouterr().out
    assert (
        "{name: node_1, type: Area, called: kitchen, contains: [mug_4 (red, red, on table_3, red: red), table_3]"
        in told
    )
    picture = np.asarray(Image.open(tmp_path / "map.png").convert("RGB"))
    assert picture.shape[0] > 300
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 50


@pytest.mark.parametrize("end", ["", "-wal", "-shm", ".lock"])
def test_nothing_is_written_over_the_memory_itself(store: Path, capsys: pytest.CaptureFixture[str], end: str) -> None:
    before = store.read_bytes()
    file = f"{store.parent}/./{store.name}{end}"
    assert main(["memory", "show", str(store), "--png", file]) == 1
    assert main(["memory", "export", str(store), file, "--format", "json"]) == 1
    assert capsys.readouterr().err.count("is the memory itself, or a part of it") == 2
    assert store.read_bytes() == before


@pytest.mark.parametrize("words", [["show", "--png"], ["export", "--format", "json"]])
def test_a_file_that_cannot_be_written_is_told_in_a_line(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    os.mkfifo(tmp_path / "fifo")
    verb, *options = words
    for file, told in (
        (".", "is a folder"),
        (tmp_path, "is a folder"),
        (tmp_path / "fifo", "is no ordinary file"),
        ("/dev/null", "is no ordinary file"),
        (tmp_path / "nowhere" / "map", "there is no such folder"),
    ):
        last = [*options, str(file)] if verb == "show" else [str(file), *options]
        assert main(["memory", verb, str(store), *last]) == 1
        said = capsys.readouterr().err
        assert told in said
        assert said.count("\n") == 1
    assert stat.S_ISFIFO((tmp_path / "fifo").stat().st_mode)
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_a_link_stays_one_and_what_it_leads_to_is_written(store: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link.json").symlink_to(tmp_path / "there" / "home.json")
    assert main(["memory", "export", str(store), str(tmp_path / "link.json")]) == 0
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads((tmp_path / "there" / "home.json").read_text())["map_id"] == "home"


def test_a_folder_is_no_store(tmp_path: Path, store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["memory", "export", str(store), str(tmp_path / "home.json")]) == 0
    capsys.readouterr()
    assert main(["memory", "import", str(tmp_path), str(tmp_path / "home.json")]) == 1
    assert "is a folder: name the file" in capsys.readouterr().err


def test_names_that_would_lie_on_others_are_left_out_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []
    monkeypatch.setattr(Axes, "set_title", lambda axis, text, **_: written.append(text))
    many = [SceneObject(f"mug_{k}", f"a mug of {'x' * 60}", (0.001 * k, 0.0, 0.0)) for k in range(40)]
    draw_graph(SceneGraph("home", [Floor("ground", 0.0), *many], 41), tmp_path / "map.png")
    assert written[0] == "home, ground: 0 areas, 40 objects"
    left_out = int(written[-1].removeprefix(written[0]).strip("; ").split()[0])
    assert 0 < left_out < 40


@pytest.mark.parametrize("said", ["$\\frac{", "\x00\x1b[2J", "\u202e\U0001f600", "x" * 200])
def test_whatever_a_name_is_it_can_be_drawn(tmp_path: Path, said: str, capfd: pytest.CaptureFixture[str]) -> None:
    with Store(tmp_path / "memory.db") as store:
        store.write("home", GraphChange(tuple(home(said).nodes())))
    assert main(["memory", "show", str(tmp_path / "memory.db"), "--png", str(tmp_path / "map.png")]) == 0
    told = capfd.readouterr()
    assert told.err == ""
    assert all(line.isprintable() for line in told.out.splitlines())


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        (["a table"], ["table_3"]),
        (["--type", "red"], ["mug_4"]),
        (["--area", "kitchen"], ["mug_4", "table_3"]),
        (["--on", "table_3"], ["mug_4"]),
        (["--near", "0", "0.5", "0.4", "--radius", "0.1"], ["table_3"]),
        (["spaceship"], []),
    ],
)
def test_query_tells_a_line_for_each(
    store: Path, asked: list[str], wanted: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["memory", "query", str(store), *asked]) == 0
    said = capsys.readouterr()
    assert [line.split()[1].strip(";") for line in said.out.splitlines()] == wanted
    assert said.err == ("" if wanted else "map 'home' has nothing that fits\n")
    assert main(["memory", "query", str(store), *asked, "--json"]) == 0
    assert [json.loads(line)["object"]["id"] for line in capsys.readouterr().out.splitlines()] == wanted


@pytest.mark.parametrize("name", FORMS)
def test_export_and_import_move_a_map_to_another_store(
    store: Path, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if name == "spark-dsg":
        pytest.importorskip("spark_dsg")
    other, file = tmp_path / "other.db", tmp_path / "file"
    assert main(["memory", "export", str(store), str(file), "--format", name]) == 0
    assert main(["memory", "import", str(other), str(file), "--format", name, "--map", "flat"]) == 0
    with Store(other, read_only=True) as found:
        assert {node.id: node for node in found.load("flat").nodes()} == {node.id: node for node in home().nodes()}
    capsys.readouterr()
    assert main(["memory", "import", str(other), str(file), "--format", name, "--map", "flat"]) == 1
    assert "map 'flat' is there already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["show", "nowhere.db"], "there is no store nowhere.db"),
        (["show", "{store}", "--map", "office"], "has no map 'office': name one with --map; there are 'home'"),
        (["show", "{store}", "--budget", "5"], "5 tokens are too few"),
        (["query", "{store}", "--on", "mug_4", "--in", "mug_4"], "only one of --on, --in and --next-to"),
        (["query", "{store}", "--area", "cellar"], "there is no area or floor 'cellar'"),
        (["export", "{store}", "map.txt"], "'txt' is no form of a scene graph"),
        (["import", "{store}", "nowhere.json"], "No such file"),
    ],
)
def test_what_cannot_be_done_is_a_line_and_exit_status_1(
    store: Path, words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["memory", *(word.format(store=store) for word in words)]) == 1
    said = capsys.readouterr()
    assert told in said.err
    assert said.err.startswith("kc-vla memory: ")
    assert said.err.count("\n") == 1


def test_a_map_is_replaced_only_when_that_is_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    form_of(tmp_path / "home.json").write(home(), tmp_path / "home.json")
    words = ["memory", "import", str(tmp_path / "memory.db"), str(tmp_path / "home.json")]
    assert main(words) == 0
    assert main(words) == 1
    assert "map 'home' is there already: take another name, or say that it replaces that" in capsys.readouterr().err
    assert main([*words, "--replace"]) == 0
    assert main([*words, "--map", "flat"]) == 0


def test_a_damaged_store_is_mended_when_that_is_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "memory.db"
    with Store(path) as store:
        store.write("home", GraphChange(tuple(home().nodes())))
    whole = path.read_bytes()
    assert main(["memory", "repair", str(path)]) == 0
    assert "nothing is damaged" in capsys.readouterr().out
    assert path.read_bytes() == whole
    path.write_bytes(whole[: len(whole) // 2])
    assert main(["memory", "show", str(path)]) == 1
    assert "kc-vla memory repair leaves out what is" in capsys.readouterr().err
    assert main(["memory", "repair", str(path)]) == 0
    told = capsys.readouterr().out
    assert "the file as it was is" in told
    assert "memory repair" not in told  # that is done
    assert [each.read_bytes() for each in tmp_path.glob("memory.db.damaged-1")] == [whole[: len(whole) // 2]]
    assert main(["memory", "mend", str(path)]) == 0  # its name of before
    assert "nothing is damaged" in capsys.readouterr().out
    assert main(["memory", "repair", str(tmp_path / "other.db")]) == 1
    assert not (tmp_path / "other.db").exists()


def test_a_damaged_row_is_found_and_mended_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "memory.db"
    with Store(path) as store:
        store.write("home", GraphChange(tuple(home().nodes())))
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE node SET fields = '{}' WHERE id = 'mug_4'")
    assert main(["memory", "show", str(path)]) == 1
    assert "kc-vla memory repair leaves out what is" in capsys.readouterr().err
    assert main(["memory", "repair", str(path)]) == 0
    assert "1 nodes are left out" in capsys.readouterr().out
    assert main(["memory", "show", str(path)]) == 0


def test_a_map_that_is_empty_is_called_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Store(tmp_path / "memory.db") as store:
        store.write("home", GraphChange((SceneObject("mug_1", "mug", (0.0, 0.0, 0.0)),)))
        store.write("home", GraphChange((), ("mug_1",)))
    assert main(["memory", "show", str(tmp_path / "memory.db")]) == 0
    assert capsys.readouterr().out == "map 'home' is empty\n"


def test_a_store_makes_one_folder_and_no_way_to_it(tmp_path: Path) -> None:
    Store(tmp_path / "runs" / "memory.db").close()
    with pytest.raises(StoreError, match="in a folder that does not exist, and neither does the one above it"):
        Store(tmp_path / "a" / "b" / "memory.db")
    assert not (tmp_path / "a").exists()
