"""The store of the long-term memory: what was committed stays, whatever ends the process or harms the file."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from full_disk import full_disk
from hypothesis import given
from hypothesis import strategies as st
from links import LAYOUTS, Layout, lay_out
from nightly import tried

from kc_vla.memory.long_term.detections import Detection
from kc_vla.memory.long_term.errors import GraphError, StoreError
from kc_vla.memory.long_term.graph import GraphChange, SceneGraph
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.nodes import Area, Floor, SceneObject
from kc_vla.memory.long_term.store import Store
from kc_vla.memory.long_term.store_schema import APPLICATION_ID, STEPS, VERSION, row_sum

MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Where many small files cost no time."""
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
numbers = st.floats(-1e5, 1e5)


@st.composite
def things(draw: st.DrawFn) -> SceneObject:
    return SceneObject(
        f"thing_{draw(st.integers(0, 9))}",
        draw(texts.filter(bool)),
        draw(st.tuples(numbers, numbers, numbers)),
        draw(st.tuples(*[st.floats(0, 100)] * 3)),
        draw(st.sampled_from(["", "node_1"])),
        draw(st.booleans()),
        draw(texts),
        draw(st.dictionaries(texts, texts, max_size=3)),
        draw(st.floats(0, 1)),
        last_seen_ns=draw(st.integers(0, 2**63 - 1)),
        by_hand=draw(st.sampled_from([frozenset(), frozenset({"state", "size"})])),
        forgotten=draw(st.booleans()),
        embedding=draw(st.binary(max_size=5)) * 4,
    )


def mug(number: int) -> SceneObject:
    return SceneObject(f"mug_{number}", "mug", (float(number), 0.0, 0.8), attributes={"colour": "red"})


@given(st.lists(st.one_of(things(), st.integers(0, 9).map(lambda number: f"thing_{number}")), max_size=30))
def test_after_any_history_the_store_holds_what_a_simple_model_does(history: list[SceneObject | str]) -> None:
    rooms = (Floor("floor", 0.0), Area("node_1", "floor", (0.0, 0.0, 0.0), {"node_2": 1.5}, "hall"))
    model: dict[str, object] = {each.id: each for each in rooms}
    with TemporaryDirectory(dir=MEMORY) as folder, Store(Path(folder) / "memory.db") as store:
        store.write("home", GraphChange(rooms))
        store.write("other", GraphChange((mug(1),)))
        for each in history:
            if isinstance(each, str):
                store.write("home", GraphChange((), (each,)))
                model.pop(each, None)
            else:
                store.write("home", GraphChange((each,)))
                model[each.id] = each
        with Store(Path(folder) / "memory.db", read_only=True) as again:
            graph = again.load("home")
        assert {each.id: each for each in graph.nodes()} == model
        assert list(store.load("other").nodes()) == [mug(1)]
        assert set(graph.network) == set(model)


WRITERS = """
import os, sys
from pathlib import Path
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.store import Store

def write(begin, path):
    os.write(1, f"{os.getpid()}\\n".encode())
    memory = LongTermMemory(Store(Path(path)))
    for number in range(begin, begin + 10**6):
        name = f"mug_{number % 50}"
        memory.upsert("home", name, object_type="mug", position=(float(number), 0.0, 0.0), state=str(number))
        os.write(1, f"{number}\\n".encode())

for line in sys.stdin:
    begin, path = line.rstrip("\\n").split(" ", 1)
    if not (writer := os.fork()):
        write(int(begin), path)
        os._exit(0)
    os.waitpid(writer, 0)
    os.write(1, b"ended\\n")
"""
"""One process after the other that writes one number after the other; what they need is loaded once for all."""
Kill = Callable[..., int]


@pytest.fixture(scope="module")
def killed() -> Iterator[Kill]:
    """Lets a process write from a number on until it is killed; gives the last that it told.

    It is killed some seconds after its first number, and not before it has told of so many.
    """
    with subprocess.Popen([sys.executable, "-c", WRITERS], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        asks, tells = parent.stdin, parent.stdout
        assert asks is not None
        assert tells is not None

        def kill(path: Path, begin: int, after_s: float, at_least: int = 1) -> int:
            asks.write(f"{begin} {path}\n".encode())
            asks.flush()
            writer, last = int(tells.readline()), int(tells.readline())
            time.sleep(after_s)
            while last < begin + at_least - 1:
                last = int(tells.readline())
            os.kill(writer, signal.SIGKILL)
            while (line := tells.readline()) != b"ended\n":
                last = int(line)
            return last

        yield kill


@pytest.mark.parametrize("kills", [pytest.param(6, id="some"), pytest.param(100, id="many", marks=pytest.mark.nightly)])
def test_what_was_committed_survives_kill_9(kills: int, killed: Kill, tmp_path: Path) -> None:
    chance, begin = random.Random(kills), 0
    for _ in range(kills):
        last = killed(tmp_path / "memory.db", begin, chance.uniform(0.0, 0.1))
        with Store(tmp_path / "memory.db") as store:
            assert store.mended == ""
            known = store.load("home").objects
        for number in range(max(last - 49, 0), last + 1):
            # One more may have been committed than was told of.
            assert int(known[f"mug_{number % 50}"].state) in (number, last + 1)
        begin = last + 1


def test_a_second_writer_is_told_who_has_the_store_and_a_reader_reads_on(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        store.write("home", GraphChange((mug(1),)))
        with pytest.raises(StoreError, match="is being written by another process"):
            Store(tmp_path / "memory.db")
        with Store(tmp_path / "memory.db", read_only=True) as reader:
            assert list(reader.load("home").objects) == ["mug_1"]
            store.write("home", GraphChange((mug(2),)))
            assert list(reader.load("home").objects) == ["mug_1", "mug_2"]
    with Store(tmp_path / "memory.db") as store:
        assert store.maps() == ["home"]


def test_a_store_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Store(path) as store:
        store.write("home", GraphChange((mug(1),)))
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()
    before = path.read_bytes()
    for read_only in (False, True):
        with pytest.raises(StoreError, match=f"of version {VERSION + 1}, a newer one than {VERSION}.*update"):
            Store(path, read_only)
    assert path.read_bytes() == before


def test_a_store_of_an_older_version_is_brought_to_this_one_and_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    connection = sqlite3.connect(path)
    connection.executescript(STEPS[0])
    fields = '{"id":"mug_1","object_type":"mug","position":[1.0,0.0,0.8],"attributes":{"colour":"red"}}'
    row = ("home", "mug_1", "object", fields, row_sum("home", "mug_1", "object", fields, b""))
    connection.execute("INSERT INTO node (map_id, id, kind, fields, sum) VALUES (?, ?, ?, ?, ?)", row)
    connection.execute("INSERT INTO map VALUES ('home', 7)")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("PRAGMA user_version = 1")
    connection.commit()
    connection.close()
    with pytest.raises(StoreError, match="let the long-term memory open it once"):
        Store(path, read_only=True)
    for _ in range(2):
        with Store(path) as store:
            graph = store.load("home")
            assert list(graph.nodes()) == [mug(1)]
            assert (graph.number, store.mended) == (7, "")
            store.write("home", GraphChange((replace(mug(2), embedding=b"\0\0\0\0"),)))
            store.write("home", GraphChange((), ("mug_2",)))


@pytest.mark.parametrize("content", [b"my thesis\n" * 100, b"SQLite format 3\0 but only by name"])
def test_a_file_that_is_no_store_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "thesis.txt"
    path.write_bytes(content)
    with pytest.raises(StoreError, match="is no store"):
        Store(path)
    assert path.read_bytes() == content
    sqlite3.connect(tmp_path / "other.db").execute("CREATE TABLE notes (text)").connection.close()
    with pytest.raises(StoreError, match="is a database of something else"):
        Store(tmp_path / "other.db")
    with pytest.raises(StoreError, match="there is no store"):
        Store(tmp_path / "nowhere.db", read_only=True)


def filled(path: Path, count: int = 2000) -> None:
    with Store(path) as store:
        store.write("home", GraphChange(tuple(mug(number) for number in range(count)), (), count))


@tried(20, 200)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["flip", "zero", "cut"]))
def test_a_damaged_store_is_mended_by_leaving_out_what_is_damaged(seed: int, how: str) -> None:
    chance = random.Random(seed)
    with TemporaryDirectory(dir=MEMORY) as folder:
        path = Path(folder) / "memory.db"
        path.write_bytes(WHOLE)
        data = bytearray(WHOLE)
        place = chance.randrange(100, len(data))
        if how == "flip":
            data[place] ^= 1 << chance.randrange(8)
        elif how == "zero":
            data[place : place + 3000] = bytes(len(data[place : place + 3000]))
        else:
            del data[max(place, len(data) // 2) :]
        path.write_bytes(data)
        with Store(path) as store:
            known = store.load("home").objects
            for name, each in known.items():
                assert each == mug(int(name[4:]))  # nothing is there that never was
            if store.mended:
                assert "\n" not in store.mended
                kept = Path(store.mended.rpartition(" ")[2])
                assert kept.read_bytes() == data
            assert len(known) == 2000 or store.mended
            assert len(known) >= (600 if how == "cut" else 1900)
            store.write("home", GraphChange((mug(5000),)))
        with Store(path) as store:
            assert store.mended == ""
            assert set(store.load("home").objects) == {*known, "mug_5000"}


def test_no_page_is_needed_to_find_the_nodes_in_the_others(tmp_path: Path) -> None:
    kept = []
    for page in (*range(8), *range(8, len(WHOLE) // 4096, 45)):
        data = bytearray(WHOLE)
        data[max(100, 4096 * page) : 4096 * (page + 1)] = random.Random(page).randbytes(4096 - (0 if page else 100))
        path = tmp_path / f"{page}.db"
        path.write_bytes(data)
        with Store(path) as store:
            kept.append(len(store.load("home").objects))
            assert f"{kept[-1]} nodes are kept" in store.mended
    assert min(kept) >= 1900
    assert kept[0] == 2000


@given(layout=LAYOUTS)
@tried(5, 50)
def test_what_is_named_as_kept_of_a_store_behind_links_are_the_old_bytes(layout: Layout) -> None:
    data = bytearray(WHOLE)
    data[50_000:53_000] = bytes(3000)
    with TemporaryDirectory(dir=MEMORY) as folder:
        laid = lay_out(Path(folder) / "laid", "memory.db", bytes(data), layout)
        with Store(laid.name) as store:
            assert store.load("home").objects
            kept = Path(store.mended.rpartition(" ")[2])
        assert not kept.is_symlink()
        assert kept.read_bytes() == data
        if laid.hard is not None:
            assert laid.hard.read_bytes() == data
        assert laid.name.is_symlink() == bool(layout.links)
        assert laid.real.read_bytes() != data
        with Store(laid.name) as store:
            assert store.load("home").objects
            assert not store.mended


def test_what_was_forgotten_does_not_come_back_with_a_mended_store(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    filled(path)
    with Store(path) as store:
        store.write("home", GraphChange((), tuple(f"mug_{number}" for number in range(1000, 2000))))
    data = bytearray(path.read_bytes())
    data[4096 * 3 + 8] ^= 1  # the way to the nodes
    path.write_bytes(data)
    with Store(path) as store:
        assert store.mended
        known = store.load("home").objects
    assert len(known) >= 900
    assert all(int(name[4:]) < 1000 for name in known)


def test_what_only_the_log_has_is_found_in_its_pages(killed: Kill, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    last = killed(path, 0, 0.0, at_least=1000)  # the log was begun anew since, and the first page is not in it
    data = bytearray(path.read_bytes())
    data[100:4096] = bytes(3996)
    path.write_bytes(data)
    with Store(path) as store:
        assert store.mended
        known = store.load("home").objects
    for number in range(max(last - 49, 0), last + 1):
        assert int(known[f"mug_{number % 50}"].state) in (number, last + 1)


with TemporaryDirectory(dir=MEMORY) as _folder:
    filled(Path(_folder) / "memory.db")
    WHOLE = (Path(_folder) / "memory.db").read_bytes()


def test_a_full_disk_is_one_line_and_costs_only_what_did_not_fit(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        memory = LongTermMemory(store)

        def fill() -> None:
            for number in range(10_000):
                memory.upsert("home", f"mug_{number}", object_type="mug", position=(0.0, 0.0, 0.0))

        with full_disk(200_000), pytest.raises(StoreError, match="free some space") as refused:
            fill()
        assert "\n" not in str(refused.value)
        last = len(memory.graph("home")) - 1  # what is not kept is not known
        assert last > 10
        memory.upsert("home", "key_1", object_type="key", position=(0.0, 0.0, 0.0))
    with Store(tmp_path / "memory.db") as store:
        assert set(store.load("home").objects) == {*(f"mug_{number}" for number in range(last + 1)), "key_1"}


def test_a_damaged_store_that_cannot_be_mended_for_want_of_room_stays_as_it_is(tmp_path: Path) -> None:
    data = bytearray(WHOLE)
    data[50_000:53_000] = bytes(3000)
    (tmp_path / "memory.db").write_bytes(data)

    def read() -> None:
        with Store(tmp_path / "memory.db") as store:
            store.load("home")

    with full_disk(len(data) // 2), pytest.raises(StoreError, match=r"could not be repaired.*free some space"):
        read()
    assert (tmp_path / "memory.db").read_bytes() == data
    with Store(tmp_path / "memory.db") as store:
        assert len(store.load("home").objects) > 1000


def test_an_id_of_what_is_gone_is_never_given_again(tmp_path: Path) -> None:
    names = set()
    for _ in range(5):
        with Store(tmp_path / "memory.db") as store:
            memory = LongTermMemory(store)
            name = memory.upsert("home", object_type="mug", position=(0.0, 0.0, 0.0))
            assert name not in names
            names.add(name)
            memory.forget("home", name)
            memory.release("home", name)


def test_what_a_killed_writer_left_can_be_read_without_writing(killed: Kill, tmp_path: Path) -> None:
    last = killed(tmp_path / "memory.db", 0, 0.02)
    with Store(tmp_path / "memory.db", read_only=True) as store:
        assert max(int(each.state) for each in store.load("home").objects.values()) in (last, last + 1)


def test_a_store_that_was_closed_says_so_and_is_not_mended(tmp_path: Path) -> None:
    filled(tmp_path / "memory.db", 3)
    store = Store(tmp_path / "memory.db")
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.load("home")
    with pytest.raises(StoreError, match="closed"):
        store.write("home", GraphChange((mug(1),)))
    assert list(tmp_path.glob("*damaged*")) == []


def test_a_name_that_a_person_gave_is_never_given_to_something_else(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        memory = LongTermMemory(store)
        memory.upsert("home", "mug_2", object_type="mug", position=(0.0, 0.0, 0.0))
        for place in (5.0, 6.0):
            memory.observe("home", [Detection("mug", (place, 0.0, 0.0))], 1)
        assert sorted(each.id for each in memory.objects("home")) == ["mug_2", "mug_3", "mug_4"]


def test_maps_are_apart_and_can_be_dropped(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        memory = LongTermMemory(store)
        for name in ("home", "office; DROP TABLE node", "home'--"):
            memory.upsert(name, "mug_1", object_type="mug", position=(0.0, 0.0, 0.0), state=name)
        memory.edit("home", "mug_1", state="dirty")
        assert [memory.objects(name)[0].state for name in memory.maps()] == [
            "dirty",
            "home'--",
            "office; DROP TABLE node",
        ]
        memory.drop("home")
        assert memory.maps() == ["home'--", "office; DROP TABLE node"]
        assert memory.objects("home") == []
        for name in ("", "x" * 300, "two\nlines", 7):
            with pytest.raises(GraphError, match="can be no map_id"):
                memory.upsert(name, object_type="mug", position=(0.0, 0.0, 0.0))  # type: ignore[arg-type]


def test_a_folder_that_cannot_be_written_can_still_be_read(tmp_path: Path) -> None:
    filled(tmp_path / "memory.db", 3)
    for ending in ("-wal", "-shm"):
        (tmp_path / f"memory.db{ending}").unlink(missing_ok=True)
    os.chmod(tmp_path, 0o555)
    try:
        with Store(tmp_path / "memory.db", read_only=True) as store:
            assert len(store.load("home").objects) == 3
    finally:
        os.chmod(tmp_path, 0o755)


def test_the_log_of_a_killed_process_is_part_of_what_is_mended(tmp_path: Path) -> None:
    filled(tmp_path / "memory.db", 500)
    store = Store(tmp_path / "memory.db")
    store.write("home", GraphChange((mug(9000),)))
    (tmp_path / "torn").mkdir()
    for path in tmp_path.glob("memory.db*"):
        shutil.copy(path, tmp_path / "torn" / path.name)
    store.close()
    data = bytearray((tmp_path / "torn/memory.db").read_bytes())
    data[20_000:22_000] = bytes(2000)
    (tmp_path / "torn/memory.db").write_bytes(data)
    with Store(tmp_path / "torn/memory.db") as torn:
        graph = torn.load("home")
        assert torn.mended
        assert "mug_9000" in graph


def test_a_graph_is_the_same_whatever_the_order_of_its_nodes() -> None:
    nodes = [
        Floor("f", 0.0),
        Area("a", "f", (0.0, 0.0, 0.0)),
        replace(mug(1), area="a", placed="on", holder="mug_2"),
        mug(2),
    ]
    one, other = SceneGraph("home", nodes), SceneGraph("home", nodes[::-1])
    assert set(one.network.edges) == set(other.network.edges) == {("f", "a"), ("a", "mug_1"), ("mug_1", "mug_2")}


def test_a_link_is_no_way_around_the_lock(tmp_path: Path) -> None:
    with Store(tmp_path / "a.db"):
        (tmp_path / "link.db").symlink_to("a.db")
        with pytest.raises(StoreError, match="is being written by another process"):
            Store(tmp_path / "link.db")
