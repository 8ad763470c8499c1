from dataclasses import dataclass, replace

import numpy as np
import pytest

from kc_vla.core.chunk import TOOL_DELTA_NAMES, ActionType, BadChunkError, Chunk, ChunkLimits
from kc_vla.core.episode import Episode
from kc_vla.core.latency import Statistics
from kc_vla.execution.control_steps import Lockstep, RealTime
from kc_vla.execution.controller import ArmController
from kc_vla.execution.scheduler import ChunkRequest, ChunkScheduler, Hold, ScheduledAction, SchedulerSettings

PERIOD_NS = 50_000_000
START_NS = 10**12
EPISODE = Episode("episode", "task", "do it", START_NS, PERIOD_NS, running=True)


class Around:
    """A policy and an arm that note what they are told."""

    def __init__(self) -> None:
        self.requests: list[ChunkRequest] = []
        self.commands: list[tuple[int, ScheduledAction | Hold]] = []
        self.repeats = 0
        self.problem = ""
        self.followed = self.handed_over = 0
        self.refuses = False

    def ask_policy(self, episode_id: str, request: ChunkRequest) -> None:
        assert episode_id == EPISODE.id
        self.requests.append(request)

    def follow(self, action: ScheduledAction, seconds: float) -> None:
        if self.refuses:
            raise ValueError("a chunk for another arm")
        self.followed += 1

    def hand_over(self) -> None:
        self.handed_over += 1

    def command(self, episode_id: str, step: int, command: ScheduledAction | Hold) -> None:
        self.commands.append((step, command))

    def command_again(self) -> None:
        self.repeats += 1

    def report(self, text: str, is_fault: bool = False) -> None:
        self.problem = text

    @property
    def steps(self) -> list[int]:
        return [step for step, _ in self.commands]


@dataclass
class BlockedArm:
    blocked: str = "a person must resume it"
    held_back: str = ""


@pytest.fixture
def around() -> Around:
    return Around()


@pytest.fixture
def lockstep(around: Around) -> Lockstep:
    subject = Lockstep(_controller(2), around, Statistics())
    assert subject.watch(EPISODE)
    return subject


class Clock:
    now = 100.0


@pytest.fixture
def realtime(around: Around) -> RealTime:
    subject = RealTime(_controller(None), around, Statistics(), 0.5, lambda: Clock.now)
    assert subject.watch(EPISODE)
    return subject


def _controller(latency: int | None) -> ArmController:
    return ArmController(ChunkScheduler(SchedulerSettings(5, 0), ChunkLimits()), latency)


def _stamp(step: int) -> int:
    return START_NS + step * PERIOD_NS


def _chunk(request: ChunkRequest) -> Chunk:
    actions = np.zeros((16, 7), np.float32)
    return Chunk(request.sequence, request.step, ActionType.TOOL_DELTA, TOOL_DELTA_NAMES, actions)


def _answer(subject: Lockstep | RealTime, request: ChunkRequest) -> None:
    subject.answered(EPISODE.id, request.sequence, lambda: _chunk(request))


def test_in_lockstep_the_robot_is_commanded_when_the_chunk_is_there(lockstep: Lockstep, around: Around) -> None:
    lockstep.see(_stamp(0), 0)
    assert around.commands == []
    _answer(lockstep, around.requests[0])
    assert around.steps == [0]
    lockstep.see(_stamp(1), 0)
    assert around.steps == [0, 1]
    assert all(isinstance(command, ScheduledAction) for _, command in around.commands)


def test_a_state_that_is_shown_again_gets_the_same_command_again(lockstep: Lockstep, around: Around) -> None:
    lockstep.see(_stamp(0), 0)
    lockstep.see(_stamp(0), 0)  # it waits: there is nothing to repeat
    assert (around.commands, around.repeats, len(around.requests)) == ([], 0, 1)
    _answer(lockstep, around.requests[0])
    lockstep.see(_stamp(0), 0)
    assert (around.steps, around.repeats) == ([0], 1)


def test_a_state_of_before_the_episode_or_of_a_step_that_is_past_commands_nothing(
    lockstep: Lockstep, around: Around
) -> None:
    lockstep.see(_stamp(-3), 0)
    assert around.requests == []
    lockstep.see(_stamp(0), 0)
    _answer(lockstep, around.requests[0])
    lockstep.see(_stamp(1), 0)
    lockstep.see(_stamp(0), 0)
    assert (around.steps, around.repeats) == ([0, 1], 0)


def test_a_bad_chunk_is_told_counted_and_asked_for_again(lockstep: Lockstep, around: Around) -> None:
    def broken() -> Chunk:
        raise BadChunkError("of no shape")

    lockstep.see(_stamp(0), 0)
    lockstep.answered(EPISODE.id, around.requests[0].sequence, broken)
    assert (around.problem, lockstep.bad_chunks) == ("of no shape", 1)
    lockstep.see(_stamp(0), 0)
    _answer(lockstep, around.requests[-1])
    assert around.steps == [0]
    assert around.problem == "of no shape"  # until the next episode
    lockstep.watch(Episode("another", "task", "do it", START_NS, PERIOD_NS, running=True))
    assert (around.problem, lockstep.bad_chunks) == ("", 0)


def test_an_answer_to_another_episode_is_not_even_read(lockstep: Lockstep, around: Around) -> None:
    lockstep.see(_stamp(0), 0)
    lockstep.answered("of before", 0, lambda: pytest.fail("it was read"))
    assert around.commands == []


def test_in_real_time_a_step_is_done_once_and_a_missing_chunk_holds(realtime: RealTime, around: Around) -> None:
    realtime.see(_stamp(0), _stamp(0))
    for now in (_stamp(0), _stamp(0) + 10, _stamp(1), _stamp(4)):
        realtime.tick(now)
    assert around.steps == [0, 1, 4]
    assert realtime.holds == 3
    realtime.refused(EPISODE.id, around.requests[0].sequence, "it has no picture")
    realtime.tick(_stamp(5))
    assert around.problem.startswith("the arm holds: ")
    assert around.problem.endswith(": it has no picture")
    _answer(realtime, around.requests[-1])
    realtime.tick(_stamp(6))
    assert isinstance(around.commands[-1][1], ScheduledAction)
    assert (around.problem, around.followed) == ("", 1)


def test_a_silent_robot_is_not_moved_also_where_it_repeats_an_old_state(realtime: RealTime, around: Around) -> None:
    realtime.see(_stamp(0), _stamp(0))
    realtime.tick(_stamp(0))
    _answer(realtime, around.requests[0])
    Clock.now += 0.6
    realtime.see(_stamp(0), _stamp(1))
    realtime.tick(_stamp(1))
    assert around.commands[-1] == (1, Hold("no joint state for 0.5 s"))
    realtime.see(_stamp(2), _stamp(2))
    realtime.tick(_stamp(2))
    assert isinstance(around.commands[-1][1], ScheduledAction)


def test_a_clock_that_goes_back_is_told_and_no_step_is_done_twice(realtime: RealTime, around: Around) -> None:
    realtime.see(_stamp(0), _stamp(0))
    realtime.tick(_stamp(20))
    realtime.tick(_stamp(18))
    assert "clock" not in around.problem  # set right a little at a time
    realtime.tick(_stamp(10))
    assert "the clock went back" in around.problem
    assert around.steps == [20]


def test_a_clock_that_was_set_back_between_episodes_does_not_make_the_robot_silent(
    realtime: RealTime, around: Around
) -> None:
    hour_ns = 3600 * 10**9
    realtime.see(_stamp(0) + hour_ns, _stamp(0) + hour_ns)
    Clock.now += 10.0
    for step in range(3):  # a true stamp is always a little older than now
        realtime.see(_stamp(step) - 5_000_000, _stamp(step))
        realtime.tick(_stamp(step))
        if around.requests and step == 0:
            _answer(realtime, around.requests[-1])
        Clock.now += PERIOD_NS * 1e-9
    assert any(isinstance(command, ScheduledAction) for _, command in around.commands)


def test_what_is_said_after_a_bad_chunk_is_still_so(realtime: RealTime, around: Around) -> None:
    arm = BlockedArm(blocked="")
    realtime.arm = arm
    realtime.see(_stamp(0), _stamp(0))
    realtime.tick(_stamp(0))

    def garbage() -> Chunk:
        raise BadChunkError("garbage")

    realtime.answered(EPISODE.id, around.requests[-1].sequence, garbage)
    assert around.problem == "garbage"
    realtime.tick(_stamp(1))
    assert "the arm holds" in around.problem
    _answer(realtime, around.requests[-1])
    realtime.tick(_stamp(2))
    assert around.problem == "garbage"  # it moves again; that there was a bad one stays to be seen
    arm.held_back = "floor"
    realtime.tick(_stamp(3))
    assert around.problem == "floor"
    arm.held_back = ""
    assert realtime.watch(replace(EPISODE, id="another"))
    assert around.problem == ""


def test_an_arm_that_waits_for_a_person_holds_and_says_why(realtime: RealTime, around: Around) -> None:
    realtime.arm = BlockedArm()
    realtime.see(_stamp(0), _stamp(0))
    realtime.tick(_stamp(0))
    assert around.commands == [(0, Hold("a person must resume it"))]
    assert around.requests == []


def test_a_chunk_from_before_the_arm_was_blocked_or_led_by_hand_is_void(realtime: RealTime, around: Around) -> None:
    arm = BlockedArm(blocked="")
    realtime.arm = arm
    for step in range(6):  # it takes 5 actions of a chunk, and asks for the next one in time
        realtime.see(_stamp(step), _stamp(step))
        realtime.tick(_stamp(step))
        if step == 0:
            _answer(realtime, around.requests[0])
    assert len(around.requests) == 2
    arm.blocked = "a hand leads the arm"
    realtime.tick(_stamp(6))
    _answer(realtime, around.requests[1])  # it is for where the arm was
    assert (realtime.bad_chunks, around.problem) == (0, "the arm holds: a hand leads the arm")
    realtime.tick(_stamp(7))
    arm.blocked = ""
    realtime.tick(_stamp(8))
    assert isinstance(around.commands[-1][1], Hold)
    _answer(realtime, around.requests[-1])
    realtime.tick(_stamp(9))
    assert isinstance(around.commands[-1][1], ScheduledAction)
    assert around.commands[-1][1].sequence == around.requests[-1].sequence
    assert len(around.requests) == 3


def test_a_chunk_for_another_arm_is_counted_as_a_bad_one(realtime: RealTime, around: Around) -> None:
    realtime.see(_stamp(0), _stamp(0))
    realtime.tick(_stamp(0))
    _answer(realtime, around.requests[0])
    around.refuses = True
    realtime.tick(_stamp(1))
    assert (realtime.bad_chunks, around.problem) == (1, "a chunk for another arm")


def test_when_the_episode_is_over_nothing_is_commanded(realtime: RealTime, around: Around) -> None:
    realtime.watch(Episode(EPISODE.id, "task", "do it", START_NS, PERIOD_NS, running=False))
    realtime.see(_stamp(3), _stamp(3))
    realtime.tick(_stamp(3))
    assert around.commands == []


# -- somebody else drives -------------------------------------------------------------------------------------------


def test_when_a_person_takes_over_the_chunk_that_runs_is_void_and_the_arm_waits_for_the_persons(
    around: Around, realtime: RealTime
) -> None:
    realtime.see(_stamp(0), _stamp(0))
    realtime.tick(_stamp(0))
    realtime.answered(EPISODE.id, 0, lambda: _chunk(around.requests[0]))
    realtime.tick(_stamp(1))
    assert isinstance(around.commands[-1][1], ScheduledAction)
    realtime.driven(EPISODE.id, 1, by_person=True)
    assert around.handed_over == 1
    realtime.tick(_stamp(2))
    assert isinstance(around.commands[-1][1], Hold)
    assert around.requests[-1].step == 2
    assert around.requests[-1].frozen.size == 0
    realtime.driven(EPISODE.id, 1, by_person=True)  # it is heard again: nothing changes
    assert around.handed_over == 1
    realtime.answered(EPISODE.id, 1, lambda: _chunk(around.requests[-1]))
    realtime.tick(_stamp(3))
    assert around.commands[-1][1].sequence == 1
    realtime.driven(EPISODE.id, 2, by_person=False)
    realtime.tick(_stamp(4))
    assert isinstance(around.commands[-1][1], Hold)


def test_in_lock_step_the_robot_waits_for_the_one_who_drives_by_now(around: Around, lockstep: Lockstep) -> None:
    lockstep.see(_stamp(0), _stamp(0))
    assert around.commands == []
    lockstep.driven(EPISODE.id, 1, by_person=True)
    assert [request.sequence for request in around.requests] == [0, 1]
    lockstep.answered(EPISODE.id, 1, lambda: _chunk(around.requests[1]))
    assert around.steps == [0]
    assert around.commands[0][1].sequence == 1


def test_who_drives_may_be_told_before_the_episode_and_counts_for_it_alone(around: Around) -> None:
    subject = RealTime(_controller(None), around, Statistics(), 0.5, lambda: Clock.now)
    subject.driven(EPISODE.id, 3, by_person=True)
    assert around.handed_over == 0
    subject.watch(EPISODE)
    assert around.handed_over == 1
    subject.watch(replace(EPISODE, running=False))
    subject.driven("another", 1, by_person=True)
    subject.watch(EPISODE)
    assert around.handed_over == 1
