"""A bag in the time of its stamps: the order of the recording, the pace of the sensors."""

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.bags.errors import BagReadError
from kc_vla.bags.messages import NO_CHUNK, BagMessage, MessageRef
from kc_vla.episodes.stamped_time import in_stamped_time

STAMPED = "/stamped"


def message(topic: str, log_time_ns: int, stamp_ns: int, number: int = 0) -> BagMessage:
    data = b"\0\1\0\0" + struct.pack("<iI", stamp_ns // 10**9, stamp_ns % 10**9)
    return BagMessage(MessageRef(topic, "x/msg/X", log_time_ns, Path("bag"), NO_CHUNK, number), data, log_time_ns)


@given(st.lists(st.tuples(st.sampled_from([STAMPED, "/bare"]), st.integers(0, 2**31 * 10**9 - 1)), max_size=30))
def test_nothing_is_lost_or_moved_and_time_does_not_go_back(found: list[tuple[str, int]]) -> None:
    messages = [message(topic, number, stamp, number) for number, (topic, stamp) in enumerate(found)]
    timed = list(in_stamped_time(iter(messages), {STAMPED}))
    assert [m.ref.position for m in timed] == list(range(len(messages)))
    assert [m.data for m in timed] == [m.data for m in messages]
    if any(topic == STAMPED for topic, _ in found):
        times = [m.ref.log_time_ns for m in timed]
        assert times == sorted(times)
        assert times[-1] == max(stamp for topic, stamp in found if topic == STAMPED)


def test_a_recording_of_a_slow_simulator_has_the_pace_of_its_cameras() -> None:
    slow = [message(STAMPED, k * 900_000_000, 10**9 + k * 50_000_000) for k in range(5)]
    times = [m.ref.log_time_ns for m in in_stamped_time(iter(slow), {STAMPED})]
    assert times == [10**9 + k * 50_000_000 for k in range(5)]


def test_what_has_no_stamp_comes_with_what_was_recorded_before_it() -> None:
    given_ = [message("/bare", 1, 7), message(STAMPED, 2, 500), message("/bare", 3, 7), message(STAMPED, 4, 400)]
    assert [m.ref.log_time_ns for m in in_stamped_time(iter(given_), {STAMPED})] == [500, 500, 500, 500]


def test_a_message_that_is_too_short_is_told() -> None:
    short = BagMessage(MessageRef(STAMPED, "x/msg/X", 1, Path("bag"), NO_CHUNK, 0), b"\0\1\0\0", 1)
    with pytest.raises(BagReadError, match="too short"):
        list(in_stamped_time(iter([short]), {STAMPED}))
