from hypothesis import given
from hypothesis import strategies as st

from kc_vla.core.episode import Episode, start_in_step

PERIOD_NS = 50_000_000
STARTS = st.integers(0, 2_000_000_000_000_000_000)


def episode(start_ns: int, period_ns: int = PERIOD_NS) -> Episode:
    return Episode("counting-1", "counting", "push", start_ns, period_ns, running=True)


@given(STARTS, st.integers(-1000, 10_000_000), st.integers(-PERIOD_NS // 2 + 1, PERIOD_NS // 2 - 1))
def test_a_stamp_belongs_to_the_nearest_frame(start_ns: int, frame: int, jitter_ns: int) -> None:
    assert episode(start_ns).frame_of(start_ns + frame * PERIOD_NS + jitter_ns) == frame


@given(STARTS, st.integers(1, 10**10), st.integers(0, 10**12), st.integers(0, 10**12))
def test_later_stamps_never_belong_to_earlier_frames(start_ns: int, period_ns: int, one: int, other: int) -> None:
    subject = episode(start_ns, period_ns)
    early, late = sorted((one, other))
    assert 0 <= subject.frame_of(start_ns + early) <= subject.frame_of(start_ns + late)


@given(STARTS, st.integers(-(10**12), 10**12), st.integers(1_000_000, 10**9), st.data())
def test_an_episode_that_begins_in_step_has_each_picture_in_a_frame_of_its_own(
    earliest_ns: int, apart_ns: int, period_ns: int, data: st.DataObject
) -> None:
    seen_ns = earliest_ns + apart_ns
    start_ns = start_in_step(earliest_ns, seen_ns, period_ns)
    assert earliest_ns <= start_ns < earliest_ns + period_ns
    first_ns = seen_ns + -((seen_ns - start_ns) // period_ns) * period_ns
    for number in range(5):
        jitter_ns = data.draw(st.integers(-(period_ns // 4), period_ns // 5))
        stamp_ns = first_ns + number * period_ns + jitter_ns
        assert stamp_ns >= start_ns
        assert episode(start_ns, period_ns).frame_of(stamp_ns) == number


def test_stamps_of_before_the_episode_are_negative() -> None:
    assert episode(10**9).frame_of(10**9 - PERIOD_NS) == -1
