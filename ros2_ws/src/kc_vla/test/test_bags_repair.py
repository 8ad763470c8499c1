import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from bag_forms import copy_as
from episode_bag import Script, write_episode
from hypothesis import given
from hypothesis import strategies as st
from links import LAYOUTS, Layout, lay_out, read_only
from mcap.reader import make_reader
from mcap.writer import CompressionType
from nightly import tried

from kc_vla.bags.inspect import repair
from kc_vla.bags.reader import BagReader
from kc_vla.bags.records import MAGIC, walk
from kc_vla.bags.repair import repair_file
from kc_vla.bags.storage import Storage
from kc_vla.cli import main

FORMS = {
    "zstd": {"compression": CompressionType.ZSTD},
    "lz4": {"compression": CompressionType.LZ4},
    "plain": {"compression": CompressionType.NONE},
    "no check sums": {"compression": CompressionType.NONE, "enable_crcs": False},
    "unchunked": {"compression": CompressionType.NONE, "use_chunking": False},
    "no summary": {"compression": CompressionType.ZSTD, "use_statistics": False, "use_summary_offsets": False},
}


class Bag(NamedTuple):
    """A whole file, and from which to which of its bytes each message and what it is packed in lies."""

    content: bytes
    messages: list[tuple[str, bytes, int]]
    places: list[tuple[int, int]]


def told(path: Path) -> list[tuple[str, bytes, int]]:
    return [(message.topic, message.data, message.ref.log_time_ns) for message in BagReader(path).messages()]


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Bag]:
    folder = tmp_path_factory.mktemp("forms")
    script = Script(size=8, steps=20, oracle=(0, 3, 6, 9, 12))
    episode = write_episode(folder / "bag", script)
    bags = {}
    for name, options in FORMS.items():
        path = copy_as(folder / f"{name}.mcap", episode, **options)
        ends = {}
        with path.open("rb") as file:
            file.seek(len(MAGIC))
            for record in walk(file, path.stat().st_size):
                ends[record.offset] = record.offset + 9 + len(record.content)
        refs = [message.ref for message in BagReader(path).messages()]
        begins = [ref.position if ref.chunk < 0 else ref.chunk for ref in refs]
        bags[name] = Bag(path.read_bytes(), told(path), [(begin, ends[begin]) for begin in begins])
    return bags


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    script = Script(size=8, steps=20, oracle=(0, 3, 6, 9, 12))
    return (write_episode(tmp_path_factory.mktemp("episode") / "bag", script) / "bag_0.mcap").read_bytes()


@pytest.fixture(scope="module")
def torn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("torn") / "bag_0.mcap"


def test_a_whole_file_is_not_touched(tmp_path: Path, whole: bytes) -> None:
    path = tmp_path / "bag_0.mcap"
    path.write_bytes(whole)
    mended = repair_file(path)
    assert mended.damage == ""
    assert mended.facts.messages == sum(1 for _ in BagReader(path).messages())
    assert path.read_bytes() == whole
    assert list(tmp_path.iterdir()) == [path]


@tried(25, 300)
@given(data=st.data())
def test_a_mended_file_holds_the_same_messages_and_opens_anywhere(
    data: st.DataObject, whole: bytes, torn: Path
) -> None:
    for old in torn.parent.iterdir():
        old.unlink()
    content = whole[: data.draw(st.integers(1, len(whole) - 1))]
    torn.write_bytes(content)
    before = told(torn)
    facts, damage, _, kept = repair_file(torn)
    assert damage
    assert facts.messages == len(before)
    if not before:
        assert torn.read_bytes() == content
        return
    reader = BagReader(torn)
    assert told(torn) == before
    assert reader.damages == []
    assert next(reader.messages()) is not None
    assert reader.episode is not None
    with torn.open("rb") as file:
        stock = make_reader(file, validate_crcs=True)
        summary = stock.get_summary()
        assert summary is not None
        assert summary.statistics is not None
        assert summary.statistics.message_count == len(before)
        assert facts.start_ns == summary.statistics.message_start_time
        assert facts.end_ns == summary.statistics.message_end_time
    assert sorted(torn.parent.iterdir()) == sorted({torn, kept or torn})
    if kept is not None:
        assert kept.read_bytes() == content


@pytest.mark.parametrize("form", FORMS)
@tried(8, 100)
@given(data=st.data())
def test_a_flipped_bit_costs_no_more_than_the_chunk_that_it_is_in(
    data: st.DataObject, form: str, forms: dict[str, Bag], torn: Path
) -> None:
    for old in torn.parent.iterdir():
        old.unlink()
    bag = forms[form]
    # What names the topics is believed where no check sum covers it.
    end = max(end for _, end in bag.places) if form == "no check sums" else len(bag.content)
    at = data.draw(st.integers(0, end - 1))
    content = bytearray(bag.content)
    content[at] ^= 1 << data.draw(st.integers(0, 7))
    torn.write_bytes(content)
    mended = repair_file(torn)
    as_it_was = torn if mended.kept is None else mended.kept
    if mended.missing or mended.kept:
        assert as_it_was.read_bytes() == content
    expected = [
        message for message, (begin, end) in zip(bag.messages, bag.places, strict=True) if not begin <= at < end
    ]
    found = told(torn)
    assert [message for message in found if message in expected] == expected
    assert len(found) == mended.facts.messages <= len(bag.messages)
    if mended.damage:
        reader = BagReader(torn)
        assert len(list(reader.messages())) == len(found)
        assert reader.damages == []
    if "no" not in form:  # what is lost is counted
        lost = sum(int(line.split(": ")[1].split()[0]) for line in mended.missing)
        assert lost == len(bag.messages) - len(found)


def test_what_is_missing_is_told_and_the_damaged_file_is_kept(
    tmp_path: Path, forms: dict[str, Bag], capsys: pytest.CaptureFixture[str]
) -> None:
    bag = forms["zstd"]
    path = tmp_path / "a_0.mcap"
    content = bytearray(bag.content)
    begin, end = bag.places[len(bag.places) // 2]
    content[(begin + end) // 2] ^= 16
    path.write_bytes(content)
    lost = [message for message, place in zip(bag.messages, bag.places, strict=True) if place == (begin, end)]
    (tmp_path / "a_0.mcap.damaged").write_text("of an earlier repair")
    assert main(["bag", "repair", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    for topic in {topic for topic, _, _ in lost}:
        times = [(time_ns - bag.messages[0][2]) * 1e-9 for name, _, time_ns in lost if name == topic]
        of = sum(name == topic for name, _, _ in bag.messages)
        line = f"{topic}: {len(times)} of {of} messages are missing from {min(times):.2f} s to {max(times):.2f} s"
        assert line in said
    kept = tmp_path / "a_0.mcap.damaged-2"
    assert str(kept) in said
    assert kept.read_bytes() == content
    assert (tmp_path / "a_0.mcap.damaged").read_text() == "of an earlier repair"
    assert told(path) == [message for message in bag.messages if message not in lost]
    assert main(["bag", "check", str(tmp_path)]) == 0


def test_a_chunk_that_no_longer_says_that_it_is_one_is_noticed(tmp_path: Path, forms: dict[str, Bag]) -> None:
    """Readers pass over kinds of records that they do not know."""
    bag = forms["zstd"]
    path = tmp_path / "a_0.mcap"
    content = bytearray(bag.content)
    content[bag.places[-1][0]] ^= 0x80
    path.write_bytes(content)
    reader = BagReader(path)
    assert len(list(reader.messages())) < len(bag.messages)
    assert f"its summary counts {len(bag.messages)} messages" in reader.damages[0]
    assert repair_file(path).missing


def test_several_faults_cost_several_chunks(tmp_path: Path, forms: dict[str, Bag]) -> None:
    bag = forms["zstd"]
    path = tmp_path / "a_0.mcap"
    chunks = sorted(set(bag.places))
    spoilt = chunks[1::3]
    content = bytearray(bag.content)
    for begin, end in spoilt:
        content[(begin + end) // 2] ^= 1
    content[spoilt[0][0] + 1] ^= 0xFF  # the length of its record
    path.write_bytes(content)
    mended = repair_file(path)
    expected = [message for message, place in zip(bag.messages, bag.places, strict=True) if place not in spoilt]
    assert told(path) == expected
    assert mended.facts.messages == len(expected) > len(bag.messages) // 2


def test_a_file_without_a_message_that_is_well_is_left_as_it_is(tmp_path: Path, forms: dict[str, Bag]) -> None:
    content = bytearray(forms["zstd"].content)
    for begin, end in set(forms["zstd"].places):
        content[(begin + end) // 2] ^= 1
    path = tmp_path / "a_0.mcap"
    path.write_bytes(content)
    assert repair_file(path).facts.messages == 0
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.nightly
def test_a_flipped_bit_at_the_front_costs_nothing(tmp_path: Path, forms: dict[str, Bag]) -> None:
    """There it says what it is."""
    for bit in range(0, 8 * 30, 3):
        path = tmp_path / f"{bit}_0.mcap"
        content = bytearray(forms["zstd"].content)
        content[bit // 8] ^= 1 << bit % 8
        path.write_bytes(content)
        mended = repair_file(path)
        assert mended.missing == ()
        assert told(path) == forms["zstd"].messages
        assert main(["bag", "check", str(path)]) == 0


def test_the_metadata_of_a_repaired_bag_counts_what_is_left(tmp_path: Path) -> None:
    bag = write_episode(tmp_path / "bag", Script(size=8, steps=20))
    path = copy_as(tmp_path / "bag_0.mcap", bag, **FORMS["zstd"]).replace(bag / "bag_0.mcap")
    before = yaml.safe_load((bag / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 3])
    assert repair(bag)
    after = yaml.safe_load((bag / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    left = [message.ref for message in BagReader(bag).messages()]
    assert 0 < len(left) < before["message_count"]
    assert after["message_count"] == after["files"][0]["message_count"] == len(left)
    counts = {row["topic_metadata"]["name"]: row["message_count"] for row in after["topics_with_message_count"]}
    assert counts == {name: sum(ref.topic == name for ref in left) for name in counts}
    assert after["duration"]["nanoseconds"] == left[-1].log_time_ns - left[0].log_time_ns
    same = before.keys() - {"message_count", "files", "duration", "topics_with_message_count"}
    assert {name: after[name] for name in same} == {name: before[name] for name in same}


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory, forms: dict[str, Bag]) -> Path:
    """A folder with a file of each storage whose repair loses something, so that it is to be kept."""
    folder = tmp_path_factory.mktemp("damaged")
    mcap = bytearray(forms["zstd"].content)
    begin, end = forms["zstd"].places[len(forms["zstd"].places) // 2]
    mcap[(begin + end) // 2] ^= 16
    (folder / "bag_0.mcap").write_bytes(mcap)
    script = Script(size=8, steps=20, oracle=(0, 3, 6, 9, 12))
    path = write_episode(tmp_path_factory.mktemp("sqlite") / "bag", script, Storage.SQLITE3) / "bag_0.db3"
    sqlite = bytearray(path.read_bytes())
    leaves = [at for at in range(0, len(sqlite), 4096) if sqlite[at] == 13]
    sqlite[leaves[len(leaves) // 2]] = 0
    (folder / "bag_0.db3").write_bytes(sqlite)
    return folder


@pytest.mark.parametrize("suffix", [".mcap", ".db3"])
@pytest.mark.parametrize("of_folder", [True, False])
@tried(4, 60)
@given(layout=LAYOUTS)
def test_what_is_named_as_kept_are_the_old_bytes_behind_links_of_any_kind(
    layout: Layout, of_folder: bool, suffix: str, damaged: Path, torn: Path
) -> None:
    old = (damaged / f"bag_0{suffix}").read_bytes()
    laid = lay_out(torn.parent / "laid", f"bag_0{suffix}", old, layout)
    taken = laid.real.with_name(f"{laid.real.name}.damaged")
    before = taken.read_bytes() if layout.taken == "file" else b""
    lines = repair(laid.name.parent if of_folder else laid.name)
    kept = [Path(line.rpartition("it is ")[2]) for line in lines if "as it was, it is" in line]
    assert len(kept) == 1
    assert not kept[0].is_symlink()
    assert kept[0].read_bytes() == old
    if laid.hard is not None:
        assert laid.hard.read_bytes() == old
    if before:
        assert taken.read_bytes() == before
    assert laid.name.is_symlink() == bool(layout.links)
    assert laid.name.samefile(laid.real)
    assert laid.real.read_bytes() != old
    assert repair(laid.name) == []


@pytest.mark.parametrize("suffix", [".mcap", ".db3"])
def test_a_bag_in_a_folder_to_read_stays_as_it_is(suffix: str, damaged: Path) -> None:
    old = (damaged / f"bag_0{suffix}").read_bytes()
    with read_only(f"bag_0{suffix}", old) as path:
        with pytest.raises(PermissionError, match="this folder cannot be written: name another one") as told:
            repair(path)
        assert told.value.filename == str(path.parent)
        assert path.read_bytes() == old
        assert list(path.parent.iterdir()) == [path]


def test_both_a_folder_of_links_and_the_bag_behind_it_count_what_is_left(tmp_path: Path) -> None:
    script = Script(size=8, steps=20, oracle=(0, 3, 6, 9, 12))
    bag = write_episode(tmp_path / "bag", script)
    path = bag / "bag_0.mcap"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "another_0.mcap").symlink_to(path)
    metadata = yaml.safe_load((bag / "metadata.yaml").read_text())
    information = metadata["rosbag2_bagfile_information"]
    information["relative_file_paths"] = ["another_0.mcap"]
    (linked / "metadata.yaml").write_text(yaml.safe_dump(metadata))
    repair(linked)
    count = len(told(path))
    for folder in (bag, linked):
        text = yaml.safe_load((folder / "metadata.yaml").read_text())
        assert text["rosbag2_bagfile_information"]["message_count"] == count


def test_a_journal_beside_the_file_that_a_link_leads_to_is_read(tmp_path: Path) -> None:
    script = Script(size=8, steps=20, oracle=(0, 3, 6, 9, 12))
    path = write_episode(tmp_path / "bag", script, Storage.SQLITE3) / "bag_0.db3"
    whole = told(path)
    journal = path.with_name("bag_0.db3-wal")
    with closing(sqlite3.connect(path)) as bag:
        bag.execute("PRAGMA journal_mode = WAL")
        bag.execute("DELETE FROM messages WHERE id > 40")
        bag.commit()
        content, log = path.read_bytes(), journal.read_bytes()
    path.write_bytes(content)
    journal.write_bytes(log)
    link = tmp_path / "link_0.db3"
    link.symlink_to(path)
    assert len(told(path)) == 40 < len(whole)
    assert told(link) == told(path)
