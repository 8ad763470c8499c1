from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried

from kc_vla.core.chunk import TOOL_DELTA_NAMES, ActionType, BadChunkError, Chunk, ChunkLimits
from kc_vla.execution.controller import ArmController
from kc_vla.execution.scheduler import ChunkRequest, ChunkScheduler, Hold, ScheduledAction, SchedulerSettings

HORIZON = 16
STEP_M = 1e-4


def controller(latency: int | None = None, execute: int = 5, blend: int = 3) -> ArmController:
    scheduler = ChunkScheduler(SchedulerSettings(execute, blend), ChunkLimits())
    subject = ArmController(scheduler, latency)
    subject.begin("episode")
    return subject


def chunk(request: ChunkRequest, horizon: int = HORIZON, episode: int = 0) -> Chunk:
    """A plan whose first column tells the control step of each row, and the second the episode."""
    actions = np.zeros((horizon, 7), np.float32)
    actions[:, 0] = (request.step + np.arange(horizon)) * STEP_M
    actions[:, 1] = episode * STEP_M
    return Chunk(request.sequence, request.step, ActionType.TOOL_DELTA, TOOL_DELTA_NAMES, actions)


def broken(request: ChunkRequest, how: str) -> Chunk:
    good = chunk(request)
    if how == "nan":
        actions = good.actions.copy()
        actions[3, 2] = np.nan
    elif how == "huge":
        actions = good.actions + np.float32(9)
    elif how == "empty":
        actions = good.actions[:0]
    else:
        return Chunk(good.sequence, request.step + 10_000, good.action_type, good.names, good.actions)
    return Chunk(good.sequence, good.start, good.action_type, good.names, actions)


def command(subject: ArmController, step: int) -> ScheduledAction | Hold | None:
    """What the node does in a control step: a bad chunk is told, and the step goes on without it."""
    try:
        return subject.tick(step)
    except BadChunkError:
        return subject.tick(step)


def offer(subject: ArmController, answer: Chunk, step: int) -> None:
    try:
        subject.offer(answer, step)
    except BadChunkError:
        subject.refuse(answer.sequence)


# -- real time ------------------------------------------------------------------------------------------------------

FATES = st.tuples(
    st.sampled_from(["good", "good", "good", "nan", "huge", "empty", "future", "refuse", "silence"]), st.integers(0, 25)
)
TROUBLE = st.dictionaries(st.integers(0, 80), st.sampled_from(["stop", "release", "begin", "end"]), max_size=6)


@tried(75, 750)
@given(st.lists(FATES, min_size=60, max_size=60), TROUBLE, st.integers(1, 20), st.integers(0, 5))
def test_whatever_the_policy_does_each_step_gets_its_own_row_or_a_hold(
    fates: list[tuple[str, int]], trouble: dict[int, str], execute: int, blend: int
) -> None:
    subject = controller(None, execute, blend)
    on_the_way: list[tuple[int, int, Chunk | None, int]] = []  # due step, episode, answer, sequence
    episode, stopped, running = 0, False, True
    for step in range(90):
        match trouble.get(step):
            case "stop":
                subject.emergency_stop()
                stopped = True
            case "release":
                subject.release()
                stopped = False
            case "begin":
                episode, running = episode + 1, True
                subject.begin(f"episode {episode}")
            case "end":
                subject.end()
                running = False
        for due, of, answer, sequence in list(on_the_way):
            if due > step:
                continue
            on_the_way.remove((due, of, answer, sequence))
            if of != episode:
                continue  # the node drops what names another episode
            if answer is None:
                subject.refuse(sequence)
            else:
                offer(subject, answer, step)
                offer(subject, answer, step)  # a repeated one changes nothing
        request = subject.request(step)
        if request is not None:
            assert running
            assert not stopped
            kind, delay = fates[request.sequence % len(fates)]
            good = chunk(request, episode=episode)
            if kind == "silence":  # the node's time-out refuses it, and then the answer comes all the same
                on_the_way.append((step + 12, episode, None, request.sequence))
                on_the_way.append((step + 13 + delay, episode, good, request.sequence))
            elif kind == "good":
                on_the_way.append((step + delay, episode, good, request.sequence))
            else:
                answer = None if kind == "refuse" else broken(request, kind)
                on_the_way.append((step + delay, episode, answer, request.sequence))
        done = command(subject, step)
        if stopped or not running:
            assert done == Hold("emergency stop" if stopped else "no episode")
        elif isinstance(done, ScheduledAction):
            assert np.isfinite(done.values).all()
            np.testing.assert_allclose(done.values[:2], [step * STEP_M, episode * STEP_M], rtol=1e-4)
        else:
            assert isinstance(done, Hold)


@given(
    st.sets(st.integers(1, 79), max_size=6), st.lists(st.integers(0, 25), min_size=60, max_size=60), st.integers(1, 20)
)
@pytest.mark.parametrize("latency", [None, 2])
def test_after_a_hand_over_nothing_that_was_planned_before_is_done(
    latency: int | None, hand_overs: set[int], delays: list[int], execute: int
) -> None:
    subject = controller(latency, execute)
    on_the_way: list[tuple[int, Chunk]] = []
    turn = 0
    for step in range(80):
        if step in hand_overs:
            turn += 1
            subject.hand_over(to_person=turn % 2 == 1)
        command_ = None
        for _ in range(40):  # in lock-step the robot waits
            for due, answer in list(on_the_way):
                if due <= step or (command_ is None and latency is not None):
                    on_the_way.remove((due, answer))
                    offer(subject, answer, step)
            request = subject.request(step)
            if request is not None:
                on_the_way.append((step + delays[request.sequence % 60] // (1 + turn), chunk(request, episode=turn)))
            command_ = command(subject, step)
            if command_ is not None:
                break
        if isinstance(command_, ScheduledAction):
            np.testing.assert_allclose(command_.values[1], turn * STEP_M, rtol=1e-4)
        else:
            assert isinstance(command_, Hold)


def test_a_person_is_followed_at_once_and_the_policy_again_in_its_own_way() -> None:
    subject = controller(execute=5)

    def asked_in(steps: range) -> list[int]:
        asked = []
        for step in steps:
            if (request := subject.request(step)) is not None:
                asked.append(step)
                subject.offer(chunk(request), step)
            assert isinstance(subject.tick(step), ScheduledAction)
        return asked

    assert asked_in(range(10)) == [0, 5]
    subject.hand_over(to_person=True)
    assert asked_in(range(10, 14)) == [10, 11, 12, 13]
    subject.hand_over(to_person=False)
    assert asked_in(range(14, 22)) == [14, 19]
    subject.hand_over(to_person=True)
    subject.begin("the next one")
    assert asked_in(range(10)) == [0, 5]


@pytest.mark.parametrize("delay", [1, 5, HORIZON // 2])
def test_a_policy_in_time_never_makes_the_arm_hold(delay: int) -> None:
    subject, pending, held = controller(), [], []
    for step in range(60):
        for due, answer in list(pending):
            if due == step:
                pending.remove((due, answer))
                subject.offer(answer, step)
        request = subject.request(step)
        if request is not None:
            pending.append((step + delay, chunk(request)))
        if isinstance(command(subject, step), Hold):
            held.append(step)
    assert held == list(range(delay))  # only until the first chunk is there


def test_an_answer_of_before_an_emergency_stop_never_moves_the_arm() -> None:
    subject = controller()
    old = subject.request(0)
    assert old is not None
    subject.emergency_stop()
    subject.release()
    new = subject.request(1)
    assert new is not None
    with pytest.raises(BadChunkError, match="was not asked for, or came too late"):
        subject.offer(chunk(old), 2)
    assert command(subject, 2) == Hold("no chunk yet")
    subject.offer(chunk(new), 2)
    assert isinstance(command(subject, 2), ScheduledAction)


def test_an_emergency_stop_is_latched_over_episodes_until_a_person_releases_it() -> None:
    subject = controller()
    subject.emergency_stop()
    subject.begin("another")
    assert subject.stopped
    assert subject.request(0) is None
    assert command(subject, 0) == Hold("emergency stop")
    subject.release()
    assert subject.request(1) is not None


def test_no_episode_means_hold_and_silence() -> None:
    subject = controller()
    subject.end()
    assert subject.episode == ""
    assert subject.request(0) is None
    assert command(subject, 0) == Hold("no episode")


# -- lock-step ------------------------------------------------------------------------------------------------------


@dataclass
class Policy:
    """Decides what becomes of a request by its step, as a policy does that looks at the observation.

    It refuses only once: the robot would rightly wait for ever for the first chunk if that were always refused.
    """

    fates: list[str]
    refused: set[int] = field(default_factory=set)

    def answer(self, request: ChunkRequest) -> Chunk | None:
        fate = self.fates[request.step % len(self.fates)]
        if fate == "refuse":
            if request.step not in self.refused:
                self.refused.add(request.step)
                return None
            fate = "good"
        return chunk(request) if fate == "good" else broken(request, fate)


def run_lockstep(policy: Policy, latency: int, arrival: Callable[[], int], steps: int = 60) -> list[tuple[int, ...]]:
    """Run an episode; an answer arrives `arrival()` events after its request, the robot waits while it has to."""
    subject = controller(latency)
    log: list[tuple[int, ...]] = []
    pending: tuple[int, ChunkRequest] | None = None
    step = event = 0
    while step < steps:
        event += 1
        assert event < 50 * steps, "the robot waits for ever"
        if pending is not None and event >= pending[0]:
            request, pending = pending[1], None
            answer = policy.answer(request)
            if answer is None:
                subject.refuse(request.sequence)
            else:
                offer(subject, answer, step)
        asked = subject.request(step)  # also when the frame is shown again
        if asked is not None:
            assert pending is None
            pending = (event + 1 + arrival(), asked)
        done = command(subject, step)
        if done is None:
            continue
        if isinstance(done, ScheduledAction):
            np.testing.assert_allclose(done.values[0], step * STEP_M, rtol=1e-4, atol=1e-9)
            log.append((step, done.sequence, done.index))
        else:
            log.append((step,))
        step += 1
    return log


@tried(50, 500)
@given(
    st.lists(st.sampled_from(["good", "good", "good", "refuse", "nan", "huge", "future"]), min_size=1, max_size=40),
    st.integers(0, 8),
    st.randoms(use_true_random=False),
)
def test_when_answers_arrive_changes_nothing_in_lockstep(fates: list[str], latency: int, random: Random) -> None:
    at_once = run_lockstep(Policy(fates), latency, lambda: 0)
    assert run_lockstep(Policy(fates), latency, lambda: random.randrange(0, 12)) == at_once


@pytest.mark.parametrize("latency", [0, 2, 5])
def test_a_chunk_is_used_exactly_the_latency_after_it_was_asked_for(latency: int) -> None:
    log = run_lockstep(Policy(["good"]), latency, lambda: 3)
    assert all(len(entry) == 3 for entry in log)
    first_uses = {}
    for step, sequence, index in log:
        first_uses.setdefault(sequence, (step, index))
    assert first_uses.pop(0) == (0, 0)
    assert {index for _, index in first_uses.values()} == {latency}


def test_the_robot_waits_for_a_chunk_that_is_due_and_goes_on_with_the_old_one_until_then() -> None:
    subject = controller(latency=2)
    request = subject.request(0)
    assert request is not None
    assert subject.tick(0) is None
    subject.offer(chunk(request), 0)
    assert isinstance(subject.tick(0), ScheduledAction)
    for step in range(1, 5):
        assert subject.request(step) is None
        assert isinstance(subject.tick(step), ScheduledAction)
    assert subject.request(5) is not None
    assert isinstance(subject.tick(5), ScheduledAction)
    assert isinstance(subject.tick(6), ScheduledAction)
    assert subject.tick(7) is None
    subject.emergency_stop()
    assert subject.tick(7) == Hold("emergency stop")


def test_a_refusal_takes_effect_when_the_answer_would_have() -> None:
    subject = controller(latency=2)
    first = subject.request(0)
    assert first is not None
    subject.offer(chunk(first), 0)
    subject.tick(0)
    second = subject.request(5)
    assert second is not None
    subject.refuse(second.sequence)
    assert subject.waiting is None
    assert subject.request(6) is None
    third = subject.request(7)
    assert third is not None
    assert (third.sequence, third.step) == (2, 7)
    with pytest.raises(BadChunkError, match="chunk 1 was not asked for, or came too late"):
        subject.offer(chunk(second), 7)


def test_while_the_policy_is_silent_the_robot_waits_in_one_step_however_often_it_is_asked() -> None:
    subject = controller(latency=2)
    first = subject.request(0)
    assert first is not None
    subject.offer(chunk(first), 0)
    for step in range(5):
        assert isinstance(subject.tick(step), ScheduledAction)
    asked = subject.request(5)
    assert asked is not None
    assert [type(subject.tick(step)) for step in (5, 6)] == [ScheduledAction, ScheduledAction]
    for _ in range(3):
        assert subject.tick(7) is None
        subject.expire(asked.sequence)
        asked = subject.request(7)
        assert asked is not None
    subject.offer(chunk(asked), 7)
    assert isinstance(subject.tick(7), ScheduledAction)


def test_the_first_answer_counts_when_two_come() -> None:
    subject = controller(latency=2)
    request = subject.request(0)
    assert request is not None
    subject.offer(chunk(request, episode=1), 0)
    with pytest.raises(BadChunkError, match="not asked for"):
        subject.offer(chunk(request, episode=2), 0)
    subject.refuse(request.sequence)
    done = subject.tick(0)
    assert isinstance(done, ScheduledAction)
    assert done.values[1] == np.float32(STEP_M)
