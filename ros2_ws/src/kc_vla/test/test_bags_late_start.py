"""A bag from a time on holds what came then, and what was latched before; the rest of it is not taken apart."""

from pathlib import Path

import pytest
from episode_bag import Script, write_episode
from mcap.writer import Writer

from kc_vla.bags import mcap_file
from kc_vla.bags.joining_late import latched_before, with_late_start
from kc_vla.bags.playback import Playback
from kc_vla.bags.reader import BagReader
from kc_vla.bags.storage import Storage

SCRIPT = Script(size=8, steps=60)
LATCHED = ["/episode/status", "/episode/result"]


@pytest.fixture(scope="module", params=list(Storage))
def bag(request, tmp_path_factory) -> Path:
    return write_episode(tmp_path_factory.mktemp("episode") / "bag", SCRIPT, request.param)


@pytest.mark.parametrize("asked", [True, False])
def test_messages_since_a_time(bag, asked):
    whole = list(BagReader(bag).messages())
    for since in (0, whole[0].ref.log_time_ns, whole[100].ref.log_time_ns, whole[-1].ref.log_time_ns, 2**62):
        reader = BagReader(bag)
        if asked:
            reader.topics()
        assert list(reader.messages(None, since)) == [m for m in whole if m.ref.log_time_ns >= since]
        chosen = [m for m in whole if m.ref.log_time_ns >= since and m.topic == "/arm/command"]
        assert list(reader.messages(["/arm/command"], since)) == chosen
        assert reader.damages == []


def test_older_chunks_are_not_decompressed(tmp_path, monkeypatch):
    path = tmp_path / "a.mcap"
    with path.open("wb") as file:
        writer = Writer(file, chunk_size=100)
        writer.start(profile="ros2")
        schema = writer.register_schema("std_msgs/msg/Bool", "ros2msg", b"bool data")
        channel = writer.register_channel("/a", "cdr", schema)
        for number in range(100):
            writer.add_message(channel, number, b"\0\1\0\0\1", number)
        writer.finish()
    taken = []
    content = mcap_file.chunk_content
    monkeypatch.setattr(mcap_file, "chunk_content", lambda record: taken.append(record.offset) or content(record))
    reader = BagReader(path)
    reader.topics()
    assert [m.ref.log_time_ns for m in reader.messages(None, 95)] == [95, 96, 97, 98, 99]
    assert 0 < len(taken) < 5


def test_what_was_latched_before(bag):
    reader = BagReader(bag)
    whole = list(BagReader(bag).messages())
    found = latched_before(reader, {"/keyframes/event": 3, "/episode/status": 1}, whole[200].ref.log_time_ns)
    events = [m for m in whole[:200] if m.topic == "/keyframes/event"]
    assert found == [whole[0], *events[-3:]]


@pytest.mark.parametrize("start", [0.5, 1.0, 2.9])
def test_a_late_start_plays_what_a_skip_plays(bag, start):
    skipped = Playback(lambda: BagReader(bag).messages(), 0.0, start=start, latched=LATCHED)
    late = Playback(lambda: with_late_start(BagReader(bag), None, LATCHED, start), 0.0, start=start, latched=LATCHED)
    for now in (0.0, 0.3, 1.0, 5.0, 6.0, 7.0):
        assert late.due(now) == skipped.due(now)
    assert late.ended
    assert skipped.ended
