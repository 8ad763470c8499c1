"""The time of a robot, for its memories and for people."""

from __future__ import annotations

from kc_vla.planning.execution.robot_clock import RobotClock


def test_alone_it_adds_up_what_skills_took_after_all_that_is_remembered() -> None:
    clock = RobotClock(latest_s=100.0)
    assert clock.now_s == clock.told_s == 101.0
    clock.went(7.0)
    clock.tick()
    assert 108.0 < clock.now_s == clock.told_s < 108.1


def test_beside_others_it_is_their_time_and_people_read_that_of_the_skills() -> None:
    day_s = [1000.0]
    clock = RobotClock(latest_s=900.0, lasting=lambda: day_s[0])
    assert (clock.now_s, clock.began_s, clock.told_s) == (1000.0, 1000.0, 0.0)
    day_s[0] = 1030.0
    clock.went(7.0)  # a simulator is slower than the day
    assert (clock.now_s, clock.told_s) == (1030.0, 7.0)
    day_s[0] = 1000.0  # somebody sets the clock
    clock.tick()
    assert clock.now_s > 1030.0


def test_it_begins_after_what_a_clock_that_was_ahead_has_stamped() -> None:
    assert RobotClock(latest_s=2000.0, lasting=lambda: 1000.0).now_s > 2000.0
