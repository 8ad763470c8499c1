"""What of the past a policy is given, in words and in frames."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.policy.history import KEYFRAMES, NONE, History, history_of


@given(st.integers(1, 12), st.integers(1, 400), st.integers(0, 3000))
def test_frames_at_a_stride_end_a_stride_before_the_present_and_begin_no_earlier_than_the_episode(
    count: int, stride: int, frame: int
) -> None:
    frames = History(count, stride).frames(frame)
    assert len(frames) == min(count, frame // stride)
    assert [*frames, frame] == list(range(frame - stride * len(frames), frame + 1, stride))
    assert all(each >= 0 for each in frames)


@given(st.integers(1, 999), st.integers(1, 9999))
def test_what_is_written_is_read_again(count: int, stride: int) -> None:
    for history in (KEYFRAMES, NONE, History(count, stride)):
        assert history_of(str(history)) == history


@pytest.mark.parametrize("text", ["", "all", "3 every 0", "0 every 20", "3 every", "-1 every 2", "3 every 20 "])
def test_anything_else_is_refused_with_what_can_be_said(text: str) -> None:
    with pytest.raises(ValueError, match="say keyframes, none, or such as '3 every 20'"):
        history_of(text)
