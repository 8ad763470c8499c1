import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.keyframes.synchronizer import SyncedFrame, Synchronizer

PERIOD = 50
TOLERANCE = 20
OTHERS = ("wrist", "joints")


def put_all(subject: Synchronizer, arrivals: list[tuple[str, int]]) -> list[SyncedFrame]:
    return [moment for stream, stamp in arrivals for moment in subject.put(stream, stamp, (stream, stamp))]


@st.composite
def arrivals(draw: st.DrawFn) -> tuple[list[tuple[str, int]], dict[str, list[int]]]:
    """Streams that each ascend in time, with jitter and losses, mixed in any order, some samples twice."""
    frames = draw(st.integers(1, 10))
    stamps = {"image": [frame * PERIOD for frame in range(frames) if draw(st.integers(0, 9))]}
    for name in OTHERS:
        jitter = st.sampled_from([0, 0, 0, 5, -5, TOLERANCE, -TOLERANCE, TOLERANCE + 1])
        stamps[name] = [frame * PERIOD + draw(jitter) for frame in range(frames) if draw(st.integers(0, 9))]
    left = {name: list(values) for name, values in stamps.items()}
    order = []
    while any(left.values()):
        name = draw(st.sampled_from(sorted(name for name, values in left.items() if values)))
        order.append((name, left[name].pop(0)))
        if not draw(st.integers(0, 5)):
            order.append(draw(st.sampled_from(order)))
    return order, stamps


@given(arrivals())
def test_gives_every_complete_moment_once_in_order_and_counts_the_others(
    given_: tuple[list[tuple[str, int]], dict[str, list[int]]],
) -> None:
    order, stamps = given_
    subject = Synchronizer("image", OTHERS, TOLERANCE)
    moments = put_all(subject, order)
    # far newer samples end the waiting of every frame
    moments += put_all(subject, [(name, 10**6) for name in ("image", *OTHERS)])
    complete = [
        stamp
        for stamp in stamps["image"]
        if all(any(abs(other - stamp) <= TOLERANCE for other in stamps[name]) for name in OTHERS)
    ]
    assert [moment.stamp_ns for moment in moments] == [*complete, 10**6]
    assert sum(subject.incomplete.values()) == len(stamps["image"]) - len(complete)
    for moment in moments:
        assert moment["image"] == ("image", moment.stamp_ns)
        for name in OTHERS:
            stream, stamp = moment[name]
            assert stream == name
            assert abs(stamp - moment.stamp_ns) <= TOLERANCE


@given(arrivals(), st.integers(1, 4))
def test_holds_no_more_than_its_depth_and_loses_nothing_in_silence(
    given_: tuple[list[tuple[str, int]], dict[str, list[int]]], depth: int
) -> None:
    order, stamps = given_
    subject = Synchronizer("image", OTHERS, TOLERANCE, depth=depth, span_ns=0)
    moments = []
    for stream, stamp in order:
        moments += subject.put(stream, stamp, None)
        assert all(len(held.samples) <= depth for held in subject._streams.values())
    moments += put_all(subject, [(name, 10**6) for name in ("image", *OTHERS)])
    given_stamps = [moment.stamp_ns for moment in moments]
    assert given_stamps == sorted(set(given_stamps))
    assert len(given_stamps) + sum(subject.incomplete.values()) == len(set(stamps["image"])) + 1


@given(st.permutations([(name, frame * PERIOD) for frame in range(4) for name in ("image", *OTHERS)]))
def test_samples_of_equal_stamps_meet_in_whatever_order_they_come(order: list[tuple[str, int]]) -> None:
    subject = Synchronizer("image", OTHERS, 0)
    waiting: dict[int, set[str]] = {}
    for stream, stamp in order:
        waiting.setdefault(stamp, set()).add(stream)
        for moment in subject.put(stream, stamp, stamp):
            assert waiting[moment.stamp_ns] == {"image", *OTHERS}
            assert set(moment.samples.values()) == {moment.stamp_ns}


def test_takes_the_nearest_of_the_samples_at_hand() -> None:
    subject = Synchronizer("image", ["joints"], TOLERANCE)
    put_all(subject, [("joints", 85), ("joints", 98), ("joints", 112)])
    (moment,) = subject.put("image", 100, "picture")
    assert moment["joints"] == ("joints", 98)


def test_pictures_that_come_late_still_meet_what_was_felt_when_they_were_taken() -> None:
    subject = Synchronizer("image", ["joints"], TOLERANCE, depth=4, span_ns=50 * PERIOD)
    given_ = []
    for now in range(0, 200 * PERIOD, 5):
        given_ += subject.put("joints", now, None)
        if now % PERIOD == 0 and now >= 40 * PERIOD:
            given_ += subject.put("image", now - 40 * PERIOD, None)
        assert len(subject._streams["joints"].samples) <= 50 * PERIOD // 5 + 1
    assert [moment.stamp_ns for moment in given_] == list(range(0, 160 * PERIOD, PERIOD))
    assert not subject.incomplete


def test_an_exact_stream_must_carry_the_very_stamp() -> None:
    subject = Synchronizer("image", ["oracle"], TOLERANCE, exact=["oracle"])
    subject.put("image", 100, None)
    assert subject.put("oracle", 99, None) == []
    assert [moment.stamp_ns for moment in subject.put("oracle", 100, None)] == [100]


def test_exact_streams_may_come_from_an_iterator() -> None:
    subject = Synchronizer("image", ["joints", "oracle"], TOLERANCE, exact=iter(["joints", "oracle"]))
    put_all(subject, [("image", 100), ("joints", 101)])
    assert subject.put("oracle", 101, None) == []


def test_a_frame_shown_again_is_neither_given_nor_counted_again() -> None:
    subject = Synchronizer("image", ["joints"], TOLERANCE)
    assert len(put_all(subject, [("joints", 0), ("image", 0), ("image", 0)])) == 1
    put_all(subject, [("image", 50), ("joints", 100), ("image", 50)])
    assert subject.incomplete == {"joints": 1}


def test_a_waiting_frame_shown_again_drives_none_out() -> None:
    subject = Synchronizer("image", ["joints"], TOLERANCE, depth=2)
    put_all(subject, [("image", 0), ("image", 50), ("image", 50)])
    assert [moment.stamp_ns for moment in put_all(subject, [("joints", 0), ("joints", 50)])] == [0, 50]


def test_a_frame_that_has_to_leave_is_counted_against_the_stream_that_failed_it() -> None:
    subject = Synchronizer("image", OTHERS, TOLERANCE, depth=2)
    put_all(subject, [("wrist", 0), ("image", 0), ("image", 50), ("image", 100)])
    assert subject.incomplete == {"joints": 1}


def test_reset_forgets_what_is_held_and_ends_the_frames_before() -> None:
    subject = Synchronizer("image", ["joints"], TOLERANCE)
    put_all(subject, [("image", 0), ("joints", 100)])
    subject.reset(after_ns=100)
    assert subject.incomplete == {}
    assert put_all(subject, [("image", 100), ("joints", 100)]) == []
    assert [moment.stamp_ns for moment in put_all(subject, [("image", 150), ("joints", 150)])] == [150]


def test_refuses_to_hold_nothing() -> None:
    with pytest.raises(ValueError, match="depth of 0 samples is too small"):
        Synchronizer("image", OTHERS, TOLERANCE, depth=0)
