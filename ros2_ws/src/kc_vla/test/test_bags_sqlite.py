"""SQLite bags are read, written, mended and checked like MCAP ones, and never believed."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
import yaml
from episode_bag import TOPICS, Script, info, messages, write_episode
from rosbags.highlevel import AnyReader

from kc_vla.bags.errors import BagForeignError, BagReadError, BagWriteError
from kc_vla.bags.reader import BagReader
from kc_vla.bags.repair import repair_file
from kc_vla.bags.storage import Storage
from kc_vla.bags.writer import EpisodeBagWriter
from kc_vla.cli import main
from kc_vla.episodes.episode import RecordedEpisode

SCRIPT = Script(size=16, steps=30, oracle=(0, 4, 8, 12, 16))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_episode(tmp_path_factory.mktemp("episode") / "bag", SCRIPT, Storage.SQLITE3)


@pytest.fixture
def bag(tmp_path: Path, whole: Path) -> Path:
    """A copy to spoil."""
    path = tmp_path / "bag_0.db3"
    path.write_bytes((whole / "bag_0.db3").read_bytes())
    return path


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as bag:
        for statement in statements:
            bag.execute(statement)
        bag.commit()


def contents(reader: BagReader) -> list[tuple[str, int, int]]:
    """What a message holds between its fields is anything, so messages of two bags are told apart by their sizes."""
    return [(message.topic, message.ref.log_time_ns, len(message.data)) for message in reader.messages()]


def test_it_holds_what_an_mcap_bag_holds(whole, tmp_path):
    mcap = BagReader(write_episode(tmp_path / "bag", SCRIPT))
    reader = BagReader(whole)
    assert contents(reader) == contents(mcap)
    assert reader.damages == []
    assert reader.episode == info(SCRIPT)
    assert reader.qos == mcap.qos
    assert reader.contents() == mcap.contents()
    assert [m.step for m in map(reader.decode, reader.messages(["/arm/command"]))] == [*range(SCRIPT.steps + 1)]


def test_any_message_is_found_and_loaded(whole):
    reader = BagReader(whole)
    walked = list(reader.messages())
    index = reader.index()
    assert sorted((ref.position, topic) for topic, refs in index.items() for ref in refs) == [
        (message.ref.position, message.topic) for message in walked
    ]
    assert [reader.load(message.ref) for message in walked] == walked
    assert list(reader.index(["/wrist/image_raw", "/nowhere"])) == ["/wrist/image_raw"]


def test_rosbags_reads_it(whole):
    expected = list(messages(SCRIPT))
    with AnyReader([whole]) as reader:
        found = [(c.topic, reader.deserialize(data, c.msgtype)) for c, _, data in reader.messages()]
    assert [topic for topic, _ in found] == [topic for topic, _, _ in expected]
    picture = next(m for topic, m in found if topic == "/wrist/image_raw")
    assert bytes(picture.data) == bytes(next(m for topic, m, _ in expected if topic == "/wrist/image_raw").data)
    content = yaml.safe_load((whole / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    assert content["storage_identifier"] == "sqlite3"
    assert content["relative_file_paths"] == ["bag_0.db3"]


def test_it_is_one_file_and_reading_leaves_nothing_beside_it(whole):
    before = (whole / "bag_0.db3").read_bytes()
    RecordedEpisode(whole)
    assert main(["bag", "check", str(whole)]) == 0
    assert sorted(path.name for path in whole.iterdir()) == ["bag_0.db3", "metadata.yaml"]
    assert (whole / "bag_0.db3").read_bytes() == before


def test_a_killed_process_loses_only_what_is_younger_than_a_commit(tmp_path):
    code = f"""
import time
from pathlib import Path
from episode_bag import TOPICS, Script, info
from kc_vla.bags.storage import Storage
from kc_vla.bags.writer import EpisodeBagWriter
writer = EpisodeBagWriter(Path({str(tmp_path)!r}) / "bag", TOPICS, info(Script()), storage=Storage.SQLITE3,
                          flush_period_s=0.2)
for i in range(300):
    writer.write("/joint_states", bytes(40), i, i)
time.sleep(3.0)
for i in range(300, 310):
    writer.write("/joint_states", bytes(40), i, i)
print("written", flush=True)
time.sleep(60)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment)
    assert child.stdout is not None
    assert child.stdout.readline() == "written\n"
    child.send_signal(signal.SIGKILL)
    child.wait()
    reader = BagReader(tmp_path / "bag")
    times = [message.ref.log_time_ns for message in reader.messages()]
    assert times[:300] == list(range(300))
    assert "was never closed" in reader.damages[0]
    assert reader.episode == info(Script())
    assert len(reader.index()["/joint_states"]) == len(times)
    # A recorder that starts again mends the file and goes on beside it.
    writer = EpisodeBagWriter(tmp_path / "bag", TOPICS, info(Script()), resume=True)
    writer.write("/joint_states", bytes(40), 400, 400)
    writer.close()
    reader = BagReader(tmp_path / "bag")
    assert [message.ref.log_time_ns for message in reader.messages()] == [*times, 400]
    assert reader.damages == []
    names = sorted(path.name for path in (tmp_path / "bag").iterdir())
    assert names == ["bag_0.db3", "bag_1.db3", "metadata.yaml"]
    with AnyReader([tmp_path / "bag"]) as stock:
        assert sum(1 for _ in stock.messages()) == len(times) + 1


def test_what_is_cut_off_is_read_up_to_there_and_mended(bag, whole):
    size = bag.stat().st_size
    for part in (0.99, 0.8, 0.6):
        bag.write_bytes((whole / "bag_0.db3").read_bytes()[: int(size * part)])
        reader = BagReader(bag)
        found = contents(reader)
        assert 0 < len(found) <= len(list(messages(SCRIPT)))
        assert reader.episode == info(SCRIPT)
        assert len(reader.damages) == 1
        assert found == contents(BagReader(whole))[: len(found)]
        assert sum(map(len, reader.index().values())) == len(found)
        cut_off = bag.read_bytes()
        facts, damage, _, kept = repair_file(bag)
        assert damage
        mended = BagReader(bag)
        assert contents(mended)[: len(found)] == found
        assert facts.messages == len(contents(mended)) >= len(found)
        assert mended.damages == []
        assert kept is not None
        assert kept.read_bytes() == cut_off


def test_a_journal_that_was_left_is_told_and_repair_gives_everything_back(bag):
    whole = contents(BagReader(bag))
    code = f"""
import os, sqlite3
bag = sqlite3.connect({str(bag)!r}, isolation_level=None)
bag.execute("PRAGMA cache_size = 5")
bag.execute("BEGIN")
bag.execute("UPDATE messages SET timestamp = timestamp + 1, data = zeroblob(length(data))")
os._exit(0)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    assert bag.with_name("bag_0.db3-journal").stat().st_size > 0
    reader = BagReader(bag)
    list(reader.messages())
    assert len(reader.damages) == 1
    facts = repair_file(bag).facts
    assert facts.messages == len(whole)
    assert contents(BagReader(bag)) == whole
    assert list(bag.parent.iterdir()) == [bag]


def test_a_full_disk_is_one_error_and_what_was_committed_stays_readable(tmp_path):
    code = f"""
import os, resource, time
from pathlib import Path
from episode_bag import TOPICS, Script, info
from kc_vla.bags.errors import BagWriteError
from kc_vla.bags.storage import Storage
from kc_vla.bags.writer import EpisodeBagWriter
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
writer = EpisodeBagWriter(Path({str(tmp_path)!r}) / "bag", TOPICS, info(Script()), storage=Storage.SQLITE3,
                          flush_period_s=0.0)
try:
    for i in range(100_000):
        writer.write("/wrist/image_raw", os.urandom(20_000), i, i)
        time.sleep(0.002)
except BagWriteError as error:
    print(error)
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=120)
    assert len(out.stdout.splitlines()) == 1, out
    assert "stays readable" in out.stdout
    times = [message.ref.log_time_ns for message in BagReader(tmp_path / "bag").messages()]
    assert times == list(range(len(times)))
    assert len(times) > 2


def test_an_older_bag_is_decoded_with_the_definitions_that_are_installed(bag):
    change(
        bag,
        "DROP TABLE message_definitions",
        "DROP TABLE schema",
        "DROP TABLE metadata",
        "DROP TABLE kc_vla",
        "ALTER TABLE topics DROP COLUMN type_description_hash",
        "ALTER TABLE topics DROP COLUMN offered_qos_profiles",
    )
    reader = BagReader(bag)
    assert [m.step for m in map(reader.decode, reader.messages(["/arm/command"]))] == [*range(SCRIPT.steps + 1)]
    assert reader.episode is None
    change(bag, "UPDATE topics SET type = 'nowhere_msgs/msg/Nothing'")
    reader = BagReader(bag)
    with pytest.raises(BagReadError, match="no definition of nowhere_msgs/msg/Nothing: install nowhere_msgs"):
        reader.decode(next(reader.messages()))


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        (["DROP TABLE messages"], "its table 'messages' has no data, id, timestamp, topic_id"),
        (["ALTER TABLE messages RENAME COLUMN data TO bytes"], "its table 'messages' has no data"),
        (["ALTER TABLE topics DROP COLUMN type"], "its table 'topics' has no type"),
        (
            ["ALTER TABLE messages RENAME TO m", "CREATE VIEW messages AS SELECT id, topic_id, timestamp, data FROM m"],
            "its table 'messages' has no data, id, timestamp, topic_id",
        ),
        (["UPDATE messages SET data = 'text' WHERE id = 5"], "the data of message 5 are no bytes"),
        (["UPDATE messages SET timestamp = 'noon' WHERE id = 5"], "the time of message 5 is noon"),
        (["UPDATE messages SET timestamp = -1 WHERE id = 5"], "the time of message 5 is -1"),
        (["UPDATE messages SET topic_id = 99 WHERE id = 5"], "message 5 is of an unknown topic"),
        (["UPDATE messages SET topic_id = x'00' WHERE id = 5"], "message 5 is of an unknown topic"),
        (["UPDATE topics SET name = x'ff' WHERE id = 1"], "a topic without name or type"),
        (["UPDATE messages SET data = x'28b52ffd0000' WHERE id = 5"], "message 5 cannot be decompressed"),
    ],
)
def test_a_file_with_other_contents_is_told_in_a_line(bag, capsys, statements, words):
    change(bag, *statements)
    before = bag.read_bytes()
    reader = BagReader(bag)
    count = len(list(reader.messages()))
    assert len(reader.damages) == 1
    assert words in reader.damages[0]
    assert f"the {count} messages before that were read" in reader.damages[0]
    assert main(["bag", "check", str(bag)]) == 1
    assert words in capsys.readouterr().out
    assert bag.read_bytes() == before
    reader.index()
    reader.contents()


def test_what_is_no_bag_says_so(tmp_path):
    path = tmp_path / "a.db3"
    path.write_bytes(b"\x89MCAP0\r\n" * 10)
    with pytest.raises(BagForeignError, match="is no SQLite file"):
        BagReader(path)
    (tmp_path / "a.mcap").write_bytes(b"")
    with pytest.raises(BagForeignError, match=r"holds \.mcap and \.db3 files"):
        BagReader(tmp_path)
    with pytest.raises(BagForeignError, match=r"holds \.mcap and \.db3 files"):
        EpisodeBagWriter(tmp_path, TOPICS, info(SCRIPT))


def test_an_existing_file_is_never_written_over(tmp_path, whole):
    before = (whole / "bag_0.db3").read_bytes()
    with pytest.raises(BagWriteError, match="holds a bag already"):
        EpisodeBagWriter(whole, TOPICS, info(SCRIPT), storage=Storage.SQLITE3)
    assert (whole / "bag_0.db3").read_bytes() == before
