"""What is left of a SQLite bag that a disk has spoilt, or whose recorder died: all of it but what was hit."""

import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest
from episode_bag import Script, write_episode
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried

from kc_vla.bags.reader import BagReader
from kc_vla.bags.repair import repair_file
from kc_vla.bags.storage import Storage
from kc_vla.cli import main

PAGE = 4096
SCRIPT = Script(size=48, steps=40)
"""Pictures of 6.9 kB, which no page holds alone."""

Told = list[tuple[str, bytes, int]]


class Bag(NamedTuple):
    """A whole file, its messages, in which of its pages each lies, and in which the topics."""

    content: bytes
    messages: Told
    pages: list[set[int]]
    topics: set[int]


def told(path: Path) -> Told:
    return [(message.topic, message.data, message.ref.log_time_ns) for message in BagReader(path).messages()]


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as bag:
        for statement in statements:
            bag.execute(statement)
        bag.commit()


def pages_of_messages(path: Path) -> list[set[int]]:
    """In which pages of the file each message lies: its leaf, and those that it flows over to."""
    with closing(sqlite3.connect(path)) as bag:
        rows = list(bag.execute("SELECT path, pagetype, pageno, ncell FROM dbstat WHERE name = 'messages'"))
    pages: dict[str, set[int]] = {}
    for leaf, kind, page, cells in sorted(rows):
        if kind == "leaf":
            pages |= {f"{leaf}{cell:03x}": {page} for cell in range(cells)}
    for place, kind, page, _ in rows:
        if kind == "overflow":
            pages[place.split("+")[0]].add(page)
    return list(pages.values())


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Bag:
    path = write_episode(tmp_path_factory.mktemp("whole") / "bag", SCRIPT, Storage.SQLITE3) / "bag_0.db3"
    with closing(sqlite3.connect(path)) as file:
        topics = {page for (page,) in file.execute("SELECT pageno FROM dbstat WHERE name = 'topics'")}
    bag = Bag(path.read_bytes(), told(path), pages_of_messages(path), topics)
    assert len(bag.pages) == len(bag.messages)
    assert max(map(len, bag.pages)) > 1
    return bag


@pytest.fixture(scope="module")
def torn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("torn") / "bag_0.db3"


@tried(20, 100)
@given(data=st.data())
def test_a_flipped_bit_costs_no_more_than_the_page_that_it_is_in(data: st.DataObject, whole: Bag, torn: Path) -> None:
    for old in torn.parent.iterdir():
        old.unlink()
    content = bytearray(whole.content)
    of_messages = sorted(set().union(*whole.pages))
    others = sorted(set(range(1, len(content) // PAGE + 1)) - set(of_messages))
    page = data.draw(st.one_of(st.sampled_from(of_messages), st.sampled_from(others)))
    at = (page - 1) * PAGE + data.draw(st.integers(0, PAGE - 1))
    content[at] ^= 1 << data.draw(st.integers(0, 7))
    torn.write_bytes(content)
    mended = repair_file(torn)
    assert (mended.kept or torn).read_bytes() == content
    if not mended.facts.messages:
        assert page in whole.topics
        return
    found = told(torn)
    if page not in whole.topics:
        expected = [message for message, pages in zip(whole.messages, whole.pages, strict=True) if page not in pages]
        assert [message for message in found if message in expected] == expected
    if mended.kept:
        assert BagReader(torn).contents().messages == len(found) == mended.facts.messages
        reader = BagReader(torn)
        assert len(list(reader.messages())) == len(found)
        assert reader.damages == []
        lost = sum(int(line.split(": ")[1].split()[0]) for line in mended.missing)
        assert lost == len(whole.messages) - len(found)


@pytest.mark.parametrize("count", [1, 3])
def test_a_row_that_is_none_costs_itself(
    count: int, tmp_path: Path, whole: Bag, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a_0.db3"
    path.write_bytes(whole.content)
    change(path, f"UPDATE messages SET data = 'text' WHERE id BETWEEN 5 AND {4 + count}")
    before = path.read_bytes()
    assert main(["bag", "repair", str(path)]) == 0
    said = capsys.readouterr().out
    were = Counter(topic for topic, _, _ in whole.messages)
    for topic, lost in Counter(topic for topic, _, _ in whole.messages[4 : 4 + count]).items():
        assert f"{topic}: {lost} of {were[topic]} messages are missing" in said
    assert told(path) == whole.messages[:4] + whole.messages[4 + count :]
    assert (tmp_path / "a_0.db3.damaged").read_bytes() == before
    assert main(["bag", "check", str(path)]) == 0


def test_the_only_topic_that_is_not_named_is_known_by_the_others(tmp_path: Path, whole: Bag) -> None:
    path = tmp_path / "a_0.db3"
    path.write_bytes(whole.content)
    change(path, "UPDATE topics SET name = x'ff' WHERE name = '/wrist/image_raw'")
    mended = repair_file(path)
    assert mended.missing == ()
    assert told(path) == whole.messages


def test_rows_that_a_page_no_longer_counts_are_missed(tmp_path: Path, whole: Bag) -> None:
    """SQLite reads such a page without a word."""
    path = tmp_path / "a_0.db3"
    content = bytearray(whole.content)
    page = sorted(min(pages) for pages in whole.pages)[len(whole.pages) // 2]
    assert content[(page - 1) * PAGE] == 13  # a leaf
    content[(page - 1) * PAGE + 4] -= 1
    path.write_bytes(content)
    reader = BagReader(path)
    assert len(list(reader.messages())) == len(whole.messages) - 1
    assert f"its metadata count {len(whole.messages)} messages" in reader.damages[0]
    assert len(repair_file(path).missing) == 1


def test_topics_that_are_not_named_are_known_by_their_numbers(tmp_path: Path, whole: Bag) -> None:
    path = tmp_path / "a_0.db3"
    path.write_bytes(whole.content)
    change(path, "DELETE FROM topics WHERE id IN (2, 3, 5)")
    assert repair_file(path).missing == ()
    assert told(path) == whole.messages


def kill_with_a_hot_journal(path: Path) -> None:
    """As a process does that is killed in a transaction which no longer fits into its memory."""
    code = f"""
import os, sqlite3
bag = sqlite3.connect({str(path)!r}, isolation_level=None)
bag.execute("PRAGMA cache_size = 5")
bag.execute("BEGIN")
bag.execute("DELETE FROM messages WHERE id > 3")
bag.execute("UPDATE messages SET timestamp = timestamp + 1")
bag.executemany("INSERT INTO messages VALUES (NULL, 1, 1, zeroblob(9000))", [()] * 50)
os._exit(0)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def kill_with_a_wal(path: Path) -> None:
    """All of it committed, none of it in the file."""
    code = f"""
import os, sqlite3
bag = sqlite3.connect({str(path)!r}, isolation_level=None)
bag.execute("PRAGMA journal_mode = WAL")
bag.execute("PRAGMA wal_autocheckpoint = 0")
for first in range(0, 1000, 20):
    bag.execute("UPDATE messages SET timestamp = timestamp + 7 WHERE id BETWEEN ? AND ?", (first, first + 19))
os._exit(0)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def state(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


@pytest.mark.parametrize(("kill", "later_ns"), [(kill_with_a_hot_journal, 0), (kill_with_a_wal, 7)])
def test_what_a_journal_holds_is_read_and_nothing_is_written(
    kill: Callable[[Path], None], later_ns: int, tmp_path: Path, whole: Bag, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a_0.db3"
    path.write_bytes(whole.content)
    kill(path)
    before = state(tmp_path)
    assert len(before) > 1
    expected = [(topic, data, time_ns + later_ns) for topic, data, time_ns in whole.messages]
    assert told(path) == expected
    assert main(["bag", "check", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert f"{len(expected)} messages" in said
    assert "was never closed" in said
    reader = BagReader(path)
    refs = [ref for places in reader.index().values() for ref in places]
    assert {reader.load(ref).ref for ref in refs[::20]} == set(refs[::20])
    assert state(tmp_path) == before
    assert main(["bag", "repair", str(path)]) == 0
    assert told(path) == expected
    assert list(tmp_path.iterdir()) == [path]
    assert main(["bag", "check", str(path)]) == 0


def test_a_damaged_file_with_a_journal_keeps_what_the_journal_holds(tmp_path: Path, whole: Bag) -> None:
    path = tmp_path / "a_0.db3"
    path.write_bytes(whole.content)
    change(path, "UPDATE messages SET data = 'text' WHERE id = 5")
    kill_with_a_wal(path)
    before = {name: content for name, (content, _) in state(tmp_path).items() if not name.endswith("-shm")}
    mended = repair_file(path)
    assert told(path) == [
        (topic, data, time_ns + 7) for topic, data, time_ns in whole.messages[:4] + whole.messages[5:]
    ]
    assert mended.kept == tmp_path / "a_0.db3.damaged"
    kept = {name.replace("a_0.db3", "a_0.db3.damaged"): content for name, content in before.items()}
    assert {name: content for name, (content, _) in state(tmp_path).items() if name != path.name} == kept


def test_a_journal_that_cannot_be_read_to_its_end_is_kept(tmp_path: Path, whole: Bag) -> None:
    path, log = tmp_path / "a_0.db3", tmp_path / "a_0.db3-wal"
    path.write_bytes(whole.content)
    kill_with_a_wal(path)
    content = bytearray(log.read_bytes())
    content[len(content) // 2] ^= 1
    log.write_bytes(content)
    before = path.read_bytes()
    mended = repair_file(path)
    assert mended.missing == ("what was committed behind a damaged place of a_0.db3-wal is missing",)
    later = [new[2] - old[2] for old, new in zip(whole.messages, told(path), strict=True)]
    assert set(later) == {0, 7}
    assert (tmp_path / "a_0.db3.damaged").read_bytes() == before
    assert (tmp_path / "a_0.db3.damaged-wal").read_bytes() == content
