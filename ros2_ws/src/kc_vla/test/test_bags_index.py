"""Any message of a bag can be found and loaded without reading the bag; a file that lies about it is found out."""

import os
import zlib
from io import BytesIO
from pathlib import Path

import pytest
from episode_bag import TOPICS, Script, info, write_episode
from hypothesis import given
from hypothesis import strategies as st
from mcap.opcode import Opcode
from mcap.records import Footer
from mcap.writer import CompressionType, IndexType, Writer

from kc_vla.bags import records
from kc_vla.bags.errors import BagReadError
from kc_vla.bags.mcap_file import ChunkCache
from kc_vla.bags.reader import BagReader, MessageRef

SCRIPT = Script(size=8, steps=24, oracle=(0, 4, 8, 12, 16))


def write_bools(path: Path, count: int = 200, **options: object) -> Path:
    """Write messages on /a and, seldom, on /b, in the order of their log times."""
    with path.open("wb") as file:
        writer = Writer(file, **options)
        writer.start(profile="ros2")
        schema = writer.register_schema("std_msgs/msg/Bool", "ros2msg", b"bool data")
        channels = [writer.register_channel(topic, "cdr", schema) for topic in ("/a", "/b", "/silent")]
        for number in range(count):
            writer.add_message(channels[number % 10 == 0], number, bytes([0, 1, 0, 0, number % 2]), number + 5)
        writer.finish()
    return path


def walked(reader: BagReader) -> dict[str, list[MessageRef]]:
    refs: dict[str, list[MessageRef]] = {}
    for message in reader.messages():
        refs.setdefault(message.topic, []).append(message.ref)
    return refs


def without_empty(index: dict[str, list[MessageRef]]) -> dict[str, list[MessageRef]]:
    return {topic: refs for topic, refs in index.items() if refs}


@pytest.mark.parametrize(
    "options",
    [
        {"compression": CompressionType.ZSTD, "chunk_size": 300},
        {"compression": CompressionType.LZ4, "chunk_size": 300},
        {"compression": CompressionType.NONE, "chunk_size": 300},
        {"compression": CompressionType.NONE, "use_chunking": False},
        {"index_types": IndexType.NONE},
        {"use_statistics": False},
        {"repeat_channels": False},
        {"repeat_schemas": False, "repeat_channels": False, "use_summary_offsets": False},
    ],
    ids=lambda options: " ".join(f"{key}={value}" for key, value in options.items()),
)
def test_the_index_holds_what_a_walk_finds_and_each_message_loads(tmp_path, options):
    path = write_bools(tmp_path / "a.mcap", **options)
    all_messages = list(BagReader(path).messages())
    reader = BagReader(path)
    index = reader.index()
    assert without_empty(index) == walked(BagReader(path))
    assert reader.damages == []
    loaded = [reader.load(ref) for refs in index.values() for ref in refs]
    assert sorted(loaded, key=lambda message: message.ref.log_time_ns) == all_messages
    assert {topic: found.count for topic, found in reader.topics().items() if found.count} == {"/a": 180, "/b": 20}
    contents = reader.contents()
    assert (contents.messages, contents.start_ns, contents.end_ns) == (200, 0, 199)


def test_a_recorded_episode_over_several_files(tmp_path):
    bag = write_episode(tmp_path / "bag", SCRIPT)
    (tmp_path / "two").mkdir()
    for number in range(2):
        (tmp_path / "two" / f"two_{number}.mcap").write_bytes((bag / "bag_0.mcap").read_bytes())
    reader = BagReader(tmp_path / "two")
    refs = reader.index(["/arm/command", "/nowhere"])
    assert list(refs) == ["/arm/command"]
    steps = [reader.decode(reader.load(ref)).step for ref in refs["/arm/command"]]
    assert steps == [*range(SCRIPT.steps + 1)] * 2
    assert reader.episode == info(SCRIPT)
    topics = reader.topics()
    assert {name: found.type for name, found in topics.items()} == {name: own.type for name, own in TOPICS.items()}
    assert topics["/episode/status"].qos.transient_local
    assert topics["/arm/command"].count == 2 * (SCRIPT.steps + 1)


def test_two_publishers_of_a_topic_with_different_types(tmp_path):
    path = tmp_path / "a.mcap"
    with path.open("wb") as file:
        writer = Writer(file, chunk_size=100)
        writer.start(profile="ros2")
        channels = []
        for kind in ("Bool", "Int8"):
            schema = writer.register_schema(f"std_msgs/msg/{kind}", "ros2msg", f"{kind.lower()} data".encode())
            channels.append(writer.register_channel("/a", "cdr", schema))
        for number in range(40):
            writer.add_message(channels[number % 3 == 0], number, bytes([0, 1, 0, 0, number % 2]), number)
        writer.finish()
    assert BagReader(path).index() == walked(BagReader(path))


def test_chunks_are_not_read_for_an_index_nor_whole_where_they_are_not_compressed(tmp_path, monkeypatch):
    path = write_bools(tmp_path / "a.mcap", 5000, compression=CompressionType.NONE, chunk_size=50_000)
    read = 0
    pread = os.pread

    def counted(number: int, length: int, position: int) -> bytes:
        nonlocal read
        read += length
        return pread(number, length, position)

    monkeypatch.setattr(records.os, "pread", counted)
    reader = BagReader(path)
    refs = reader.index()["/b"]
    indexes = 5000 * 16
    assert read < indexes + 5000
    read = 0
    reader.load(refs[77])
    assert read < 200


@pytest.mark.parametrize("cut", [1, 9, 60, 400])
def test_a_file_that_was_never_closed_is_read_through_and_told(tmp_path, cut):
    path = write_episode(tmp_path / "bag", SCRIPT) / "bag_0.mcap"
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    reader = BagReader(path)
    index = reader.index()
    assert len(reader.damages) == 1
    assert index == walked(BagReader(path))
    for refs in index.values():
        assert reader.load(refs[-1]).ref == refs[-1]
    assert reader.topics()["/joint_states"].count == len(index["/joint_states"])
    assert len(reader.damages) == 1


def test_a_changed_file_is_noticed_when_a_message_is_loaded(tmp_path):
    path = write_bools(tmp_path / "a.mcap", chunk_size=300, compression=CompressionType.NONE)
    reader = BagReader(path)
    ref = reader.index()["/b"][3]
    write_bools(path, 150, chunk_size=400, compression=CompressionType.NONE)
    with pytest.raises(BagReadError, match=r"a\.mcap"):
        reader.load(ref)
    path.unlink()
    with pytest.raises(BagReadError, match="cannot read"):
        reader.load(ref)


def test_a_record_of_the_summary_is_no_message_whatever_it_says(tmp_path):
    path = write_bools(tmp_path / "a.mcap", 60, chunk_size=200, compression=CompressionType.ZSTD)
    whole = bytearray(path.read_bytes())
    begin = Footer.read(_stream(whole[-28:])).summary_start
    assert whole[begin] == Opcode.SCHEMA
    whole[begin] = Opcode.MESSAGE
    _sign(whole, begin)
    path.write_bytes(whole)
    reader = BagReader(path)
    assert len(list(reader.messages())) == 60
    assert "messages after the end of the data" in str(reader.damages)


@given(data=st.data())
def test_a_lying_index_gives_no_other_message(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("lying") / "a.mcap"
    compression = data.draw(st.sampled_from(CompressionType))
    whole = bytearray(write_bools(path, 60, chunk_size=200, compression=compression).read_bytes())
    expected = {message.ref.log_time_ns: message.data for message in BagReader(path).messages()}
    begin = Footer.read(_stream(whole[-28:])).summary_start if data.draw(st.booleans()) else 0
    for _ in range(data.draw(st.integers(1, 3))):
        whole[data.draw(st.integers(begin, len(whole) - 1))] = data.draw(st.integers(0, 255))
    if begin:
        _sign(whole, begin)
    path.write_bytes(whole)
    try:
        reader = BagReader(path)
        refs = [ref for found in reader.index().values() for ref in found]
    except BagReadError:
        return
    for ref in refs:
        try:
            message = reader.load(ref)
        except BagReadError:
            continue
        if begin:  # the messages themselves are as they were
            assert expected[ref.log_time_ns] == message.data


def _stream(content: bytes):
    from mcap.data_stream import ReadDataStream

    return ReadDataStream(BytesIO(content))


def _sign(whole: bytearray, begin: int) -> None:
    """Make the check sum of the summary right again."""
    whole[-12:-8] = zlib.crc32(bytes(whole[begin:-12])).to_bytes(4, "little")


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 50)), max_size=60))
def test_the_cache_stays_within_its_bytes_and_never_mixes_up_chunks(asked):
    cache = ChunkCache(100)
    for key, size in asked:
        assert cache.get((key, size), lambda key=key, size=size: bytes([key]) * size) == bytes([key]) * size
        assert cache.held_bytes <= 100


def test_a_chunk_larger_than_the_cache_is_held_alone():
    cache = ChunkCache(100)
    cache.get("small", lambda: bytes(50))
    cache.get("large", lambda: bytes(1000))
    assert cache.held_bytes == 1000
    assert cache.get("large", lambda: b"made again") == bytes(1000)
    cache.get("small", lambda: bytes(50))
    assert cache.held_bytes == 50
