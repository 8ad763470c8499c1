"""`kc-vla bag`: what a person is told of a bag that is well, torn, spoilt or none."""

from pathlib import Path

import pytest
from episode_bag import Script, write_episode
from mcap.reader import make_reader
from mcap.writer import Writer
from rosbags.highlevel import AnyReader

from kc_vla.bags.inspect import TopicFacts
from kc_vla.bags.storage import Storage
from kc_vla.cli import main


@pytest.fixture
def bag(tmp_path: Path) -> Path:
    return write_episode(tmp_path / "bag", Script(size=8, steps=40))


def told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    status = main(["bag", *words])
    captured = capsys.readouterr()
    return status, captured.out + captured.err


def test_a_bag_that_is_well(bag, capsys):
    status, text = told(capsys, "check", str(bag))
    assert status == 0
    assert "episode counting-000003-1" in text
    assert f"MB unpacked, {sum(file.stat().st_size for file in bag.glob('*.mcap')) / 1e6:.1f} MB on disk" in text
    (line,) = [line for line in text.splitlines() if line.strip().startswith("/joint_states ")]
    assert line.split()[1:] == ["41", "20.0", "Hz", "sensor_msgs/msg/JointState"]


def test_what_is_said_a_few_times_at_the_beginning_has_no_rate():
    said = TopicFacts("tf2_msgs/msg/TFMessage")
    for at_ns in (0, 3_000_000, 5_000_000):
        said.add(at_ns, 100)
    assert said.rate is None
    for at_ns in range(10_000_000, 500_000_000, 33_000_000):
        said.add(at_ns, 100)
    assert said.rate == pytest.approx(17 / 0.472, rel=0.01)
    slow = TopicFacts("diagnostic_msgs/msg/DiagnosticArray")
    for second in range(4):
        slow.add(second * 1_000_000_000, 100)
    assert slow.rate == pytest.approx(1.0)


def test_a_torn_bag_is_told_and_made_whole(bag, capsys):
    file = bag / "bag_0.mcap"
    file.write_bytes(file.read_bytes()[:-400])
    status, text = told(capsys, "check", str(bag))
    assert status == 1
    assert "bag_0.mcap" in text
    assert "1 of 1 bags are not well" in text
    assert told(capsys, "repair", str(bag))[0] == 0
    assert told(capsys, "repair", str(bag)) == (0, f"{bag} is whole\n")
    status, text = told(capsys, "check", str(bag))
    assert status == 0
    with file.open("rb") as stream:
        assert make_reader(stream).get_summary() is not None


def test_a_message_that_is_not_what_it_says_is_named(tmp_path, capsys):
    path = tmp_path / "spoilt.mcap"
    with path.open("wb") as stream:
        writer = Writer(stream)
        writer.start(profile="ros2", library="test")
        schema = writer.register_schema("std_msgs/msg/String", "ros2msg", b"string data")
        channel = writer.register_channel("/words", "cdr", schema)
        good = b"\x00\x01\x00\x00\x03\x00\x00\x00hi\x00"
        bad = b"\x00\x01\x00\x00\x03"
        for time, data in ((10**9, good), (4 * 10**9, bad), (10**9, good)):
            writer.add_message(channel, time, data, time)
        writer.finish()
    status, text = told(capsys, "check", str(path))
    assert status == 1
    assert "message 2 of /words is not understood" in text
    assert "1 messages of /words are over a second older than the one ahead" in text


def test_a_name_that_would_move_the_cursor_does_not(tmp_path, capsys):
    path = tmp_path / "odd.mcap"
    with path.open("wb") as stream:
        writer = Writer(stream)
        writer.start(profile="ros2", library="test")
        schema = writer.register_schema("std_msgs/msg/Bool", "ros2msg", b"bool data")
        writer.add_message(writer.register_channel("/a\n\x1b[2J", "cdr", schema), 1, b"\0\1\0\0\7\0", 1)
        writer.finish()
    _, text = told(capsys, "check", str(path))
    assert text.isascii()
    assert all(letter.isprintable() or letter == "\n" for letter in text)


@pytest.mark.parametrize("action", ["info", "check", "repair"])
@pytest.mark.parametrize(
    ("content", "words"), [(None, "nowhere.mcap"), (b"", "empty"), (b"no bag" * 50, "no MCAP file")]
)
def test_what_is_no_bag_is_one_line(tmp_path, capsys, action, content, words):
    path = tmp_path / "nowhere.mcap"
    if content is not None:
        path.write_bytes(content)
    status, text = told(capsys, action, str(path))
    assert status == 1
    assert words in text
    assert text.count("\n") == 1
    assert (path.read_bytes() if path.exists() else None) == content


def test_a_bag_that_another_program_still_writes_is_not_repaired(bag, capsys):
    file = bag / "bag_0.mcap"
    torn = file.read_bytes()[:-400]
    file.write_bytes(torn)
    with file.open("ab"):  # as a recorder of others, which takes no lock of ours
        status, text = told(capsys, "repair", str(bag))
    assert status == 1
    assert "is open for writing in another program" in text
    assert file.read_bytes() == torn
    assert told(capsys, "repair", str(bag))[0] == 0


def test_a_part_that_is_packed_is_not_passed_over(bag, capsys):
    (bag / "bag_1.mcap.zstd").write_bytes(b"packed")
    status, text = told(capsys, "check", str(bag))
    assert status == 1
    assert "bag_1.mcap.zstd is compressed as a whole: unpack it" in text
    (bag / "bag_1.mcap").write_bytes((bag / "bag_0.mcap").read_bytes())  # unpacked, and kept beside it
    assert "compressed as a whole" not in told(capsys, "check", str(bag))[1]


@pytest.mark.parametrize("storage", list(Storage))
def test_after_a_kill_and_a_repair_other_tools_open_the_folder(tmp_path, capsys, storage):
    bag = write_episode(tmp_path / "bag", Script(size=8, steps=40), storage)
    with AnyReader([bag]) as reader:
        before = {connection.topic: connection.msgcount for connection in reader.connections}
    (bag / "metadata.yaml").unlink()
    (file,) = bag.glob("bag_0.*")
    file.write_bytes(file.read_bytes()[:-400] if storage is Storage.MCAP else file.read_bytes()[:-4096])
    assert told(capsys, "repair", str(bag))[0] == 0
    with AnyReader([bag]) as reader:
        after = {connection.topic: connection.msgcount for connection in reader.connections}
    assert after.keys() == before.keys()
    assert sum(after.values()) > 0.5 * sum(before.values())
