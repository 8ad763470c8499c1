import contextlib
from pathlib import Path

import pytest
from episode_bag import Script, info, messages, write_episode
from hypothesis import given
from hypothesis import strategies as st
from mcap.writer import CompressionType, Writer
from nightly import tried

from kc_vla.bags.errors import BagEmptyError, BagForeignError, BagMissingError, BagReadError
from kc_vla.bags.reader import BagReader

SCRIPT = Script(size=8, steps=24, oracle=(0, 4, 8, 12, 16))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    bag = write_episode(tmp_path_factory.mktemp("episode") / "bag", SCRIPT)
    return (bag / "bag_0.mcap").read_bytes()


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scratch") / "bag_0.mcap"


def head_of(whole: bytes) -> bytes:
    """Return the magic and the header record."""
    return whole[: 8 + 9 + int.from_bytes(whole[9:17], "little")]


def contents(path: Path) -> tuple[list[tuple[str, bytes]], BagReader]:
    reader = BagReader(path)
    return [(message.topic, message.data) for message in reader.messages()], reader


def test_a_bag_is_read_in_order_with_its_episode(tmp_path: Path) -> None:
    bag = write_episode(tmp_path / "bag", SCRIPT)
    found, reader = contents(bag)
    assert [topic for topic, _ in found] == [topic for topic, _, _ in messages(SCRIPT)]
    assert reader.episode == info(SCRIPT)
    assert reader.damages == []


def test_topics_can_be_chosen_and_messages_are_decoded(tmp_path: Path) -> None:
    reader = BagReader(write_episode(tmp_path / "bag", SCRIPT))
    decoded = [reader.decode(message) for message in reader.messages(["/arm/command"])]
    assert [command.step for command in decoded] == list(range(SCRIPT.steps + 1))
    assert decoded[3].values == pytest.approx([0.003, -0.002, 0, 0, 0, 0, 0])


def test_a_message_can_be_loaded_again(tmp_path: Path) -> None:
    reader = BagReader(write_episode(tmp_path / "bag", SCRIPT))
    read = list(reader.messages())
    for message in reversed(read):
        assert reader.load(message.ref) == message


@tried(50, 750)
@given(data=st.data())
def test_a_cut_file_gives_everything_before_the_cut(data: st.DataObject, whole: bytes, scratch: Path) -> None:
    cut = data.draw(st.integers(1, len(whole) - 1))
    scratch.write_bytes(whole)
    complete, _ = contents(scratch)
    scratch.write_bytes(whole[:cut])
    found, reader = contents(scratch)
    assert found == complete[: len(found)]
    assert len(reader.damages) == 1
    assert f"the {len(found)} messages before that were read" in reader.damages[0]
    assert "\n" not in reader.damages[0]


def test_a_file_cut_in_its_last_chunk_keeps_the_chunks_before(tmp_path: Path) -> None:
    bag = tmp_path / "chunks.mcap"
    ends = []
    with bag.open("wb") as file:
        writer = Writer(file, compression=CompressionType.ZSTD)
        writer.start(profile="ros2")
        schema = writer.register_schema("std_msgs/msg/Bool", "ros2msg", b"bool data")
        channel = writer.register_channel("/a", "cdr", schema)
        for number in range(4):
            writer.add_message(channel, number, bytes([0, 1, 0, 0, number % 2]), number)
            writer.flush()
            ends.append(file.tell())
        writer.finish()
    whole = bag.read_bytes()
    for kept, end in enumerate(ends):
        bag.write_bytes(whole[: end - 60])  # within the chunk or the index that follows it
        found, _ = contents(bag)
        assert len(found) in (kept, kept + 1)
        bag.write_bytes(whole[:end])
        assert len(contents(bag)[0]) == kept + 1


@tried(60, 1000)
@given(data=st.data())
def test_damaged_bytes_never_crash_the_reader(data: st.DataObject, whole: bytes, scratch: Path) -> None:
    damaged = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(whole) - 1))
        damaged[at] = data.draw(st.integers(0, 255))
    scratch.write_bytes(damaged)
    with contextlib.suppress(BagReadError):
        reader = BagReader(scratch)
        for message in reader.messages():
            with contextlib.suppress(BagReadError):
                reader.decode(message)


@tried(40, 500)
@given(tail=st.binary(max_size=300))
def test_garbage_after_the_magic_never_crashes_the_reader(tail: bytes, whole: bytes, scratch: Path) -> None:
    scratch.write_bytes(whole[:8] + tail)
    try:
        found, reader = contents(scratch)
    except BagReadError:
        return
    assert found == []
    assert reader.damages


@pytest.mark.parametrize("record", [b"\x03", b"\x06", b"\x05", b"\x0c"])
def test_a_record_that_claims_more_than_the_file_holds(record: bytes, tmp_path: Path, whole: bytes) -> None:
    path = tmp_path / "liar.mcap"
    path.write_bytes(head_of(whole) + record + (2**63).to_bytes(8, "little") + bytes(50))
    found, reader = contents(path)
    assert found == []
    assert "cut off" in reader.damages[0]


def test_a_chunk_that_would_not_fit_the_memory_is_refused(tmp_path: Path, whole: bytes) -> None:
    path = tmp_path / "bomb.mcap"
    huge = (
        (0).to_bytes(16, "little") + (1 << 50).to_bytes(8, "little") + bytes(4) + bytes(4) + (0).to_bytes(8, "little")
    )
    path.write_bytes(head_of(whole) + b"\x06" + len(huge).to_bytes(8, "little") + huge)
    _, reader = contents(path)
    assert "claims" in reader.damages[0]


def test_what_is_no_bag_says_so(tmp_path: Path) -> None:
    with pytest.raises(BagMissingError, match="no bag at"):
        BagReader(tmp_path / "nowhere")
    with pytest.raises(BagEmptyError, match=r"no \.mcap or \.db3 file in"):
        BagReader(tmp_path)
    (tmp_path / "a.mcap").write_bytes(b"")
    with pytest.raises(BagEmptyError, match="nothing was recorded"):
        BagReader(tmp_path)
    (tmp_path / "a.mcap").write_bytes(b"SQLite format 3\0" * 10)
    with pytest.raises(BagForeignError, match="is no MCAP file"):
        BagReader(tmp_path)


def test_a_bag_of_another_middleware_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ros1.mcap"
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start(profile="ros1")
        writer.finish()
    with pytest.raises(BagForeignError, match="ros1"):
        BagReader(path)


def test_bytes_that_do_not_fit_their_type_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "short.mcap"
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start(profile="ros2")
        schema = writer.register_schema("std_msgs/msg/Int64", "ros2msg", b"int64 data")
        writer.add_message(writer.register_channel("/a", "cdr", schema), 1, b"\0\1\0\0\5", 1)
        writer.finish()
    reader = BagReader(path)
    with pytest.raises(BagReadError, match="is no std_msgs/msg/Int64"):
        [reader.decode(message) for message in reader.messages()]
