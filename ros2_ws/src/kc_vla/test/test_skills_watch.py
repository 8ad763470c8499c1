"""Why a skill is not gone on with, and how long a request waits for the arm."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import numpy as np
import pytest

from kc_vla.skills.interface import ArmReading, SkillError
from kc_vla.skills.watch import NewestReading, SkillWatch


class Time:
    """Time that passes where somebody sleeps."""

    def __init__(self) -> None:
        self.now_s, self.events = 0.0, list[tuple[float, Callable[[], object]]]()

    def __call__(self) -> float:
        return self.now_s

    async def sleep(self, seconds: float) -> None:
        self.now_s += seconds
        for at_s, happen in list(self.events):
            if self.now_s >= at_s:
                self.events.remove((at_s, happen))
                happen()


def why(watch: SkillWatch, canceled: bool = False, clients: int = 1) -> str:
    return watch.why_interrupted(canceled, clients, silence_s=10.0)


def test_an_emergency_stop_ends_a_skill_and_refuses_the_next_until_it_is_released() -> None:
    watch = SkillWatch(Time())
    watch.begin()
    assert why(watch) == ""
    watch.set_stopped(True)
    assert why(watch) == "the emergency stop was set: the arm holds"
    watch.begin()
    assert why(watch) == "the emergency stop is set: release it first"
    watch.set_stopped(False)
    assert why(watch) == "the emergency stop is set: release it first"  # a skill that was refused stays refused
    watch.begin()
    assert why(watch) == ""


def test_a_stop_that_is_released_at_once_ends_the_skill_all_the_same() -> None:
    watch = SkillWatch(Time())
    watch.begin()
    watch.set_stopped(True)
    watch.set_stopped(False)
    assert why(watch) == "the emergency stop was set: the arm holds"


def test_a_client_that_is_gone_a_cancel_and_an_episode_that_is_over_end_a_skill() -> None:
    watch = SkillWatch(Time())
    watch.begin()
    assert why(watch, canceled=True) == "it was stopped"
    assert why(watch, clients=2) == ""  # another one has come
    assert why(watch, clients=1) == "the client that asked for it is gone: the arm holds"
    watch.begin()
    assert why(watch, clients=1) == ""
    assert why(watch, clients=0) == "the client that asked for it is gone: the arm holds"
    watch.end_episode()
    assert why(watch) == "the episode is over"


def test_an_arm_controller_that_is_silent_ends_a_skill_but_not_while_its_way_is_planned() -> None:
    clock = Time()
    watch = SkillWatch(clock)
    watch.begin()
    clock.now_s = 9.0
    with watch.answering():
        clock.now_s = 60.0
        assert why(watch) == ""
    assert why(watch) == ""
    clock.now_s = 72.0
    assert why(watch) == "arm_controller has not asked for set-points for 12 s: is it alive?"
    watch.begin()
    assert why(watch) == ""


def reading(step: int) -> ArmReading:
    return ArmReading(step, np.zeros(7), 0.08)


def test_a_request_waits_for_the_joint_state_of_its_frame() -> None:
    clock = Time()
    arm = NewestReading(clock)
    arm.reading = reading(4)

    def come() -> None:
        arm.reading = reading(6)

    clock.events.append((0.5, come))
    assert asyncio.run(arm.wait_for(5, 2.0, clock.sleep)).step == 6
    assert asyncio.run(arm.wait_for(5, 2.0, clock.sleep)).step == 6  # at once
    assert clock.now_s < 0.6


def test_a_request_whose_joint_state_does_not_come_is_refused_in_time() -> None:
    clock = Time()
    arm = NewestReading(clock)
    with pytest.raises(SkillError, match="no joint state of frame 5 has come"):
        asyncio.run(arm.wait_for(5, 2.0, clock.sleep))
    assert clock.now_s < 2.1


def test_a_request_of_an_episode_that_is_over_gets_no_joint_state_of_the_next() -> None:
    clock = Time()
    arm = NewestReading(clock)

    def next_episode() -> None:
        arm.begin_episode()
        arm.reading = reading(9)

    clock.events.append((0.5, next_episode))
    with pytest.raises(SkillError, match="no joint state of frame 5 has come"):
        asyncio.run(arm.wait_for(5, 2.0, clock.sleep))
