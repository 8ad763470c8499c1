import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.core.chunk import TOOL_DELTA_NAMES, ActionType, BadChunkError, Chunk, ChunkLimits
from kc_vla.execution.scheduler import ChunkScheduler, Hold, ScheduledAction, SchedulerSettings


def scheduler(execute: int = 5, blend: int = 0) -> ChunkScheduler:
    return ChunkScheduler(SchedulerSettings(execute, blend), ChunkLimits())


def chunk(sequence: int, start: int, horizon: int = 16) -> Chunk:
    """Each row tells its control step and its chunk."""
    actions = np.zeros((horizon, 7), np.float32)
    actions[:, 0] = (start + np.arange(horizon)) * 1e-4
    actions[:, 6] = sequence * 1e-3
    return Chunk(sequence, start, ActionType.TOOL_DELTA, TOOL_DELTA_NAMES, actions)


def test_the_first_request_is_due_at_once_and_only_one_is_in_flight() -> None:
    subject = scheduler()
    request = subject.request(0)
    assert request is not None
    assert (request.sequence, request.step, request.frozen.shape) == (0, 0, (0, 0))
    assert subject.waiting is request
    assert subject.request(1) is None
    assert subject.action(1) == Hold("no chunk yet")


def test_the_rows_of_steps_that_have_passed_are_skipped() -> None:
    subject = scheduler()
    subject.request(0)
    subject.offer(chunk(0, 0), step=3)
    for step in range(3, 16):
        action = subject.action(step)
        assert isinstance(action, ScheduledAction)
        assert (action.index, action.sequence) == (step, 0)
        assert action.values[0] == np.float32(step * 1e-4)
    assert subject.action(16) == Hold("the chunk is used up and no new one has come")


def test_the_next_chunk_is_asked_for_while_the_current_one_runs() -> None:
    subject = scheduler(execute=5)
    subject.request(0)
    subject.offer(chunk(0, 0), step=1)
    assert [subject.request(step) for step in range(1, 5)] == [None] * 4
    request = subject.request(5)
    assert request is not None
    assert (request.sequence, request.step) == (1, 5)
    assert isinstance(subject.action(6), ScheduledAction)


def test_the_actions_of_the_expected_delay_are_sent_along() -> None:
    subject = scheduler(execute=5)
    for sequence, (asked, used) in enumerate([(0, 9), (9, 11), (16, 18)]):
        request = subject.request(asked)
        assert request is not None
        assert request.sequence == sequence
        subject.offer(chunk(sequence, asked), used)
    assert subject.expected_delay == 2  # that of the first answer, 9, is warm-up
    request = subject.request(21)
    assert request is not None
    assert (request.frozen == chunk(2, 16).actions[5:7]).all()


@given(st.integers(1, 30), st.integers(2, 40), st.lists(st.integers(0, 12), min_size=2, max_size=20))
def test_steps_executed_of_a_chunk_lie_between_d_and_h_less_d(execute: int, horizon: int, delays: list[int]) -> None:
    subject = scheduler(execute)
    start, step = None, 0
    for delay in delays:
        handed_over, expected = step, subject.expected_delay
        while (request := subject.request(step)) is None:
            step += 1
        if start is not None and step > handed_over and 2 * expected <= horizon:
            assert expected <= step - start <= horizon - expected
        start = step
        step += min(delay, horizon - 1)
        subject.offer(chunk(request.sequence, start, horizon), step)


def test_a_refused_request_is_made_again_under_a_new_number() -> None:
    subject = scheduler()
    subject.request(0)
    subject.refuse(7)
    assert subject.waiting is not None
    subject.refuse(0)
    request = subject.request(1)
    assert request is not None
    assert (request.sequence, request.step) == (1, 1)
    with pytest.raises(BadChunkError, match="chunk 0 was not asked for, or came too late: dropped"):
        subject.offer(chunk(0, 0), 2)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (chunk(2, 5), "chunk 2 was not asked for"),
        (chunk(1, 4), "was computed from step 4: asked for was step 5 or newer"),
        (chunk(1, 9), r"claims an observation of the future \(step 9\)"),
        (chunk(1, 5, horizon=2), "is stale: it ends at step 6 and the arm is at step 8"),
        (Chunk(1, 5, ActionType.TOOL_DELTA, TOOL_DELTA_NAMES, np.full((16, 7), np.nan, np.float32)), "not finite"),
    ],
)
def test_a_bad_chunk_leaves_the_running_one_alone(bad: Chunk, message: str) -> None:
    subject = scheduler(blend=3)
    subject.request(0)
    subject.offer(chunk(0, 0), step=1)
    subject.request(5)
    with pytest.raises(BadChunkError, match=message):
        subject.offer(bad, step=8)
    action = subject.action(8)
    assert isinstance(action, ScheduledAction)
    assert (action.values == chunk(0, 0).actions[8]).all()
    assert bad.sequence == 2 or subject.request(8) is not None


def test_a_newer_observation_than_asked_for_is_welcome() -> None:
    subject = scheduler()
    subject.request(0)
    subject.offer(chunk(0, 2), step=3)
    action = subject.action(3)
    assert isinstance(action, ScheduledAction)
    assert action.index == 1


def test_forget_goes_on_counting_and_reset_begins_anew() -> None:
    subject = scheduler()
    subject.request(0)
    subject.offer(chunk(0, 0), 1)
    subject.request(5)
    subject.forget()
    assert not subject.running
    with pytest.raises(BadChunkError, match="came too late"):
        subject.offer(chunk(1, 5), 6)
    request = subject.request(6)
    assert request is not None
    assert request.sequence == 2
    subject.reset()
    request = subject.request(0)
    assert request is not None
    assert request.sequence == 0


def test_steps_must_ascend() -> None:
    subject = scheduler()
    subject.request(5)
    subject.offer(chunk(0, 5), 5)
    with pytest.raises(ValueError, match="step 4 lies before the chunk's first, 5"):
        subject.action(4)


@pytest.mark.parametrize(("execute", "blend", "message"), [(0, 3, "execute_steps is 0"), (5, -1, "blend_steps is -1")])
def test_refuses_settings_that_cannot_work(execute: int, blend: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        scheduler(execute, blend)
