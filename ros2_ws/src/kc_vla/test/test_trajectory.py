"""Trajectories of ros2_control clients: interpolation, checks, tolerances, and the course of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from piper import HIGHEST, KINEMATICS, LOWEST, PIPER, REST

from kc_vla.arm.workspace import Workspace
from kc_vla.core.episode import Episode
from kc_vla.policy.interface import PolicyInput
from kc_vla.policy.options import TrajectoryOptions
from kc_vla.policy.trajectory.backend import TrajectoryBackend
from kc_vla.policy.trajectory.executor import TrajectoryExecutor
from kc_vla.policy.trajectory.gripper_run import GripperRun
from kc_vla.policy.trajectory.path_motion import PathMotion
from kc_vla.policy.trajectory.request import (
    ArmBounds,
    RequestedPoint,
    RequestedTrajectory,
    TrajectoryCode,
    TrajectoryError,
)
from kc_vla.policy.trajectory.spline import JointSpline, TrajectoryPoint
from kc_vla.policy.trajectory.tolerances import RequestedTolerance, TrajectoryTolerances, read_tolerances
from kc_vla.policy.trajectory.tracking import TrajectoryRun

JOINTS = PIPER.joints
SPEED, ACCELERATION = np.full(6, 1.0), np.full(6, 8.0)
BOUNDS = ArmBounds(SPEED, ACCELERATION)
OPTIONS = TrajectoryOptions()
USUAL = read_tolerances([], [], 0.0, PIPER, OPTIONS)
HERE = np.array([0.1, 0.8, -0.6, 0.0, 0.2, 0.1])
NOW = 1000.0
STEP = 0.01

numbers = st.floats(-3.0, 3.0)
shares = st.lists(st.floats(0.0, 1.0), min_size=6, max_size=6).map(np.array)
spans = st.floats(0.01, 3.0)


def points_of(rows: Sequence[Any], seconds: Sequence[float], depth: int) -> list[TrajectoryPoint]:
    """Points with positions, and with velocities or accelerations where `depth` is 2 or 3."""
    times = np.cumsum(seconds)
    return [
        TrajectoryPoint(float(time), np.array(row[:2]), *(np.array(row[2 * k : 2 * k + 2]) for k in range(1, depth)))
        for time, row in zip(times, rows, strict=True)
    ]


@st.composite
def splines(draw: st.DrawFn) -> list[TrajectoryPoint]:
    """Points of two joints, of any mixture of what points may have."""
    count = draw(st.integers(1, 5))
    rows = [draw(st.lists(numbers, min_size=6, max_size=6)) for _ in range(count)]
    seconds = [draw(spans) for _ in range(count)]
    return [points_of(rows, seconds, draw(st.integers(1, 3)))[index] for index in range(count)]


# -- the way through the points ---------------------------------------------------------------------------------


@given(splines())
def test_a_way_hits_its_points_is_continuous_and_always_finite(points: list[TrajectoryPoint]) -> None:
    way = JointSpline(points)
    for point in points:
        np.testing.assert_allclose(way.at(point.time_s).positions, point.positions, atol=1e-9)
        np.testing.assert_allclose(way.at(point.time_s - 1e-9).positions, point.positions, atol=1e-3)
    for first, last in pairwise(points):
        if first.velocities is not None and last.velocities is not None:
            np.testing.assert_allclose(way.at(first.time_s).velocities, first.velocities, atol=1e-6)
            np.testing.assert_allclose(way.at(last.time_s - 1e-9).velocities, last.velocities, atol=1e-2)
    times = np.linspace(-1.0, way.duration_s + 1.0, 200)
    states = [way.at(time) for time in times]
    assert all(np.isfinite([*s.positions, *s.velocities, *s.accelerations]).all() for s in states)
    fastest = max(1.0, float(np.abs(way.samples()[2]).max()))
    steps = np.abs(np.diff([s.positions for s in states], axis=0)).max()
    assert steps <= 1.5 * fastest * (times[1] - times[0]) + 1e-6


def test_what_the_points_have_decides_how_it_is_interpolated() -> None:
    half = {
        depth: JointSpline(points_of([[0.0] * 6, [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]], [0.0001, 1.0], depth)).at(0.2501)
        for depth in (1, 2, 3)
    }
    assert half[1].positions[0] == pytest.approx(0.25)
    assert half[2].positions[0] == pytest.approx(3 * 0.25**2 - 2 * 0.25**3)
    assert half[3].positions[0] == pytest.approx(10 * 0.25**3 - 15 * 0.25**4 + 6 * 0.25**5)


@given(splines(), st.floats(0.0, 1.0))
def test_what_is_canceled_comes_to_rest_on_the_way_and_never_turns_back(
    points: list[TrajectoryPoint], share: float
) -> None:
    way = JointSpline(points)
    motion = PathMotion(way, NOW, np.zeros(2))
    from_s = NOW + share * way.duration_s
    slowed = motion.slowed(from_s, np.full(2, 8.0))
    assert slowed.slowed(from_s + 0.01, np.full(2, 8.0)) is slowed
    np.testing.assert_allclose(slowed.at(from_s).positions, motion.at(from_s).positions, atol=1e-9)
    rest = slowed.at(slowed.ends_s + 1.0)
    assert np.abs(rest.velocities).max() == 0.0
    assert slowed.ends_s <= from_s + max(0.1, np.abs(motion.at(from_s).velocities).max() / 4.0) + 1e-6
    latest = np.linspace(from_s, min(slowed.ends_s, NOW + way.duration_s), 50) - NOW
    on_the_way = np.array([way.at(time).positions for time in np.linspace(latest[0], latest[-1], 2000)])
    for time in np.linspace(from_s, slowed.ends_s, 20):
        off = np.abs(on_the_way - slowed.at(time).positions).max(axis=1).min()
        assert off < 0.05


# -- the course of a trajectory ---------------------------------------------------------------------------------


class Arm:
    """An executor, with an arm that is where it is to be, in steps of time."""

    def __init__(self, at: np.ndarray = HERE, lag: float = 0.0) -> None:
        self.executor = TrajectoryExecutor(PIPER, OPTIONS)
        self.now, self.at, self.lag, self.path = NOW, np.array(at, float), lag, [np.array(at, float)]
        self.speed = np.zeros(6)
        self.step()

    def step(self) -> None:
        """One period."""
        self.executor.measure(self.now, self.at, self.speed)
        self.now += STEP
        (there,) = self.executor.desired(np.array([self.now]), self.at)
        moved = (1.0 - self.lag) * (there - self.at)
        self.speed, self.at = moved / STEP, self.at + moved
        self.path.append(there)

    def send(self, asked: RequestedTrajectory, tolerances: TrajectoryTolerances = USUAL) -> TrajectoryRun:
        """Send a trajectory."""
        return self.executor.begin(asked, tolerances, BOUNDS, self.now)

    def finish(self, run: TrajectoryRun, most_s: float = 30.0) -> TrajectoryCode:
        """Wait for its end."""
        until = self.now + most_s
        while run.outcome is None:
            assert self.now < until
            self.step()
        return run.outcome.code


def asked_for(
    rows: Sequence[np.ndarray], times: Sequence[float], names: Sequence[str] = JOINTS, start_s: float = 0.0
) -> RequestedTrajectory:
    still = [0.0] * len(names)
    return RequestedTrajectory(
        list(names),
        [RequestedPoint(time, list(row), still) for row, time in zip(rows, times, strict=True)],
        start_s,
    )


@given(st.lists(st.tuples(shares, st.floats(0.0, 6.0), st.integers(0, 60), st.sampled_from("gGcfi")), max_size=6))
def test_whatever_is_asked_for_no_joint_jumps_or_leaves_its_limits(asked: list[tuple[Any, float, int, str]]) -> None:
    arm = Arm()
    runs = []
    for share, seconds, steps, what in asked:
        there = LOWEST + share * (HIGHEST - LOWEST)
        try:
            if what in "gG":  # reachable ones, and whatever comes
                near = arm.at + 0.2 * (there - arm.at) if what == "G" else there
                runs.append(arm.send(asked_for([near], [seconds])))
            elif what == "f":
                runs.append(
                    arm.send(asked_for([arm.at + 0.1 * (there - arm.at)], [seconds + 1.0], start_s=arm.now + 0.2))
                )
            elif runs and what == "c":
                arm.executor.cancel(runs[-1], arm.now)
            elif what == "i":
                arm.executor.interrupt("the arm holds")
        except TrajectoryError as error:
            assert "\n" not in str(error)  # noqa: PT017  # most are refused
        for _ in range(steps):
            arm.step()
    for run in runs:
        arm.finish(run)
    for _ in range(2):
        arm.step()
    path = np.array(arm.path)
    assert np.isfinite(path).all()
    assert (path >= LOWEST - 0.02).all()
    assert (path <= HIGHEST + 0.02).all()
    assert np.abs(np.diff(path, axis=0)).max() <= (1.05 * SPEED.max() + 0.15) * STEP + 1e-6
    assert np.abs(path[-1] - path[-2]).max() < 1e-3  # and in the end it stands


def test_it_begins_where_the_arm_is_and_ends_at_its_last_point() -> None:
    arm = Arm()
    there = HERE + 0.3
    run = arm.send(asked_for([HERE + 0.04, there], [0.0, 1.0]))  # as far off as a planner's state may be
    assert arm.finish(run) is TrajectoryCode.SUCCESSFUL
    np.testing.assert_allclose(arm.at, there, atol=OPTIONS.goal_tolerance)
    arm.step()
    assert np.abs(np.diff(arm.path, axis=0)).max() < 1.2 * SPEED.max() * STEP


def test_a_newer_one_replaces_it_and_a_refused_one_does_not() -> None:
    arm = Arm()
    first = arm.send(asked_for([HERE + 0.5], [2.0]))
    for _ in range(50):
        arm.step()
    with pytest.raises(TrajectoryError, match="would move at"):
        arm.send(asked_for([HERE - 0.5], [0.2]))
    assert first.outcome is None
    second = arm.send(asked_for([HERE], [1.5]))
    assert first.outcome is not None
    assert (first.outcome.code, second.outcome) == (TrajectoryCode.INVALID_GOAL, None)
    assert arm.finish(second) is TrajectoryCode.SUCCESSFUL
    np.testing.assert_allclose(arm.at, HERE, atol=0.02)


def test_a_stamp_ahead_waits_and_one_that_is_over_in_part_goes_on_with_the_rest() -> None:
    arm = Arm()
    run = arm.send(asked_for([HERE, HERE + 0.3], [0.0, 1.0], start_s=NOW + 1.0))
    while arm.now < NOW + 0.95:
        arm.step()
    np.testing.assert_allclose(arm.at, HERE, atol=1e-9)
    assert arm.finish(run) is TrajectoryCode.SUCCESSFUL
    assert arm.now == pytest.approx(NOW + 2.0, abs=0.2)
    begun = arm.now
    late = arm.send(asked_for([HERE + 0.2, HERE], [0.5, 2.0], start_s=begun - 1.0))
    assert arm.finish(late) is TrajectoryCode.SUCCESSFUL
    assert arm.now == pytest.approx(begun + 1.0, abs=0.2)
    with pytest.raises(TrajectoryError, match=r"ended 1\.0 s ago .* set the stamp to 0") as caught:
        arm.send(asked_for([HERE], [1.0], start_s=arm.now - 2.0))
    assert caught.value.code is TrajectoryCode.OLD_HEADER_TIMESTAMP


def test_an_arm_that_was_moved_before_the_start_does_not_follow() -> None:
    arm = Arm()
    run = arm.send(asked_for([HERE, HERE + 0.3], [0.0, 1.0], start_s=NOW + 0.5))
    arm.executor.interrupt("a person has taken over")
    assert run.outcome is not None
    assert run.outcome.text == "a person has taken over"
    arm.at = HERE + 0.5
    while arm.now < NOW + 1.0:
        arm.step()
    np.testing.assert_allclose(arm.at, HERE + 0.5, atol=1e-9)


def test_a_start_ahead_while_the_arm_moves_must_fit_to_where_it_comes_to_rest() -> None:
    arm = Arm()
    arm.send(asked_for([HERE + 0.5], [1.0]))
    for _ in range(50):
        arm.step()
    with pytest.raises(TrajectoryError, match="plan from where the arm is"):
        arm.send(asked_for([HERE, HERE + 0.3], [0.0, 1.0], start_s=arm.now + 1.0))
    timed = arm.send(asked_for([HERE], [2.0], start_s=arm.now + 1.0))
    for _ in range(80):
        arm.step()
    assert np.abs(arm.path[-1] - arm.path[-2]).max() == 0.0
    assert arm.finish(timed) is TrajectoryCode.SUCCESSFUL


def test_an_arm_that_lags_violates_the_path_and_stops_where_it_is() -> None:
    arm = Arm(lag=0.99)
    run = arm.send(asked_for([HERE + 0.5], [1.0]))
    assert arm.finish(run) is TrajectoryCode.PATH_TOLERANCE_VIOLATED
    assert run.outcome is not None
    assert "joint1 is 0.2" in run.outcome.text
    stopped = arm.at.copy()
    for _ in range(200):
        arm.step()
    assert np.abs(arm.at - stopped).max() < 0.02


def test_an_arm_that_does_not_get_there_violates_the_goal_in_time() -> None:
    arm = Arm(lag=0.99)
    goal = [RequestedTolerance(joint, 1e-6) for joint in JOINTS]
    tolerances = read_tolerances([], goal, 0.3, PIPER, OPTIONS)
    run = arm.send(asked_for([HERE + 0.05], [1.0]), tolerances)
    assert arm.finish(run) is TrajectoryCode.GOAL_TOLERANCE_VIOLATED
    assert arm.now == pytest.approx(NOW + 1.4, abs=0.1)
    arm.step()
    np.testing.assert_allclose(arm.path[-1], arm.at, atol=1e-3)  # nothing is pressed on that may be in the way
    unchecked = read_tolerances([], [RequestedTolerance(joint, -1.0, -1.0) for joint in JOINTS], 0.3, PIPER, OPTIONS)
    run = arm.send(asked_for([arm.at + 0.05], [1.0]), unchecked)
    assert arm.finish(run) is TrajectoryCode.SUCCESSFUL


@given(shares, st.floats(0.05, 1.0))
def test_a_trajectory_that_is_too_fast_is_taken_at_the_scaling_that_its_refusal_names(
    share: Any, seconds: float
) -> None:
    there = LOWEST + share * (HIGHEST - LOWEST)
    arm = Arm()
    try:
        arm.send(asked_for([there], [seconds]))
    except TrajectoryError as error:
        scaling = float(str(error).split("velocity scaling of ")[1].split()[0])
        if seconds / scaling < 3600.0:
            arm.send(asked_for([there], [seconds / scaling]))


# -- what is refused --------------------------------------------------------------------------------------------

GOOD = asked_for([HERE, HERE + 0.1], [0.0, 1.0])


def with_point(**changes: Any) -> RequestedTrajectory:
    """A good one, the last point of which is otherwise."""
    return replace(GOOD, points=[GOOD.points[0], replace(GOOD.points[1], **changes)])


@pytest.mark.parametrize(
    ("asked", "code", "line"),
    [
        (replace(GOOD, names=JOINTS[:5]), TrajectoryCode.INVALID_JOINTS, "this arm needs each of joint1"),
        (replace(GOOD, names=[]), TrajectoryCode.INVALID_JOINTS, "of no name"),
        (replace(GOOD, names=[*JOINTS[:5], "joint1"]), TrajectoryCode.INVALID_JOINTS, "once, in any order"),
        (replace(GOOD, names=[*JOINTS, "gripper"]), TrajectoryCode.INVALID_JOINTS, "gripper_controller/gripper_cmd"),
        (replace(GOOD, points=[]), TrajectoryCode.INVALID_GOAL, "has no points"),
        (replace(GOOD, points=[GOOD.points[0]] * 2001), TrajectoryCode.INVALID_GOAL, "2000 are the most"),
        (with_point(positions=[]), TrajectoryCode.INVALID_GOAL, "point 1 has no positions"),
        (with_point(positions=[0.0] * 5), TrajectoryCode.INVALID_GOAL, "5 positions for 6 joints"),
        (with_point(velocities=[0.0] * 7), TrajectoryCode.INVALID_GOAL, "7 velocities for 6 joints"),
        (with_point(positions=[np.nan] * 6), TrajectoryCode.INVALID_GOAL, "positions that are not finite"),
        (with_point(velocities=[np.inf] * 6), TrajectoryCode.INVALID_GOAL, "velocities that are not finite"),
        (with_point(accelerations=[1e9] * 6), TrajectoryCode.INVALID_GOAL, "is the unit right"),
        (with_point(effort=[1.0] * 6), TrajectoryCode.INVALID_GOAL, "has efforts"),
        (with_point(velocities=[0.2] * 6), TrajectoryCode.INVALID_GOAL, "the last point moves on"),
        (with_point(velocities=[50.0] * 6), TrajectoryCode.INVALID_GOAL, "moves joint1 at 50.00 rad/s"),
        (with_point(positions=[1e308] * 6), TrajectoryCode.INVALID_GOAL, "its limits are -2.62 to 2.62 rad"),
        (with_point(positions=np.degrees(HERE).tolist()), TrajectoryCode.INVALID_GOAL, "its limits are"),
        (with_point(time_s=0.0), TrajectoryCode.INVALID_GOAL, "the times must increase"),
        (with_point(time_s=-1.0), TrajectoryCode.INVALID_GOAL, "time_from_start"),
        (with_point(time_s=1e6), TrajectoryCode.INVALID_GOAL, "0 to 3600 s is allowed"),
        (with_point(time_s=0.001), TrajectoryCode.INVALID_GOAL, "would move at"),
        (replace(GOOD, start_s=NOW + 1e6), TrajectoryCode.INVALID_GOAL, "ahead: 3600 s are the most"),
        (asked_for([HERE + 0.1], [0.0]), TrajectoryCode.INVALID_GOAL, "plan from where the arm is"),
        (asked_for([HERE + 0.1, HERE], [0.0, 5.0]), TrajectoryCode.INVALID_GOAL, "plan from where the arm is"),
    ],
)
def test_it_is_refused_in_one_line_and_the_arm_stays(
    asked: RequestedTrajectory, code: TrajectoryCode, line: str
) -> None:
    arm = Arm()
    with pytest.raises(TrajectoryError, match=r"^[^\n]+$") as caught:
        arm.send(asked)
    assert line in str(caught.value)
    assert caught.value.code is code
    arm.step()
    np.testing.assert_allclose(arm.at, HERE, atol=1e-12)


def test_without_a_joint_state_and_out_of_the_workspace_it_is_refused() -> None:
    arm = Arm()
    with pytest.raises(TrajectoryError, match="no joint state has come"):
        arm.executor.begin(GOOD, USUAL, BOUNDS, arm.now + 1.0)
    with pytest.raises(TrajectoryError, match="no joint state has come"):
        TrajectoryExecutor(PIPER, OPTIONS).begin(GOOD, USUAL, BOUNDS, NOW)
    low = np.array([0.0, 2.9, -0.3, 0.0, 0.0, 0.0])
    box = ArmBounds(SPEED, ACCELERATION, Workspace(KINEMATICS))
    with pytest.raises(TrajectoryError, match="the flange or a joint would cross the floor of the workspace"):
        arm.executor.begin(asked_for([low], [5.0]), USUAL, box, arm.now)
    resting = Arm(REST)
    resting.executor.begin(asked_for([HERE], [5.0]), USUAL, box, resting.now)  # from where it lies without power


@pytest.mark.parametrize(
    ("path", "goal", "seconds", "line"),
    [
        ([RequestedTolerance("elbow", 0.1)], [], 0.0, "path_tolerance names the joint 'elbow'"),
        ([], [RequestedTolerance("joint1", -0.5)], 0.0, "goal_tolerance of joint1 is -0.5"),
        ([], [RequestedTolerance("joint1", 0.0, np.nan)], 0.0, "goal_tolerance of joint1 is nan"),
        ([], [], -2.0, "goal_time_tolerance is -2 s"),
    ],
)
def test_tolerances_that_are_none_are_refused(path: Any, goal: Any, seconds: float, line: str) -> None:
    with pytest.raises(TrajectoryError, match=line):
        read_tolerances(path, goal, seconds, PIPER, OPTIONS)


def test_tolerances_are_the_clients_where_it_names_them() -> None:
    path = [RequestedTolerance("joint2", 0.05, 0.3), RequestedTolerance("joint3", -1.0)]
    read = read_tolerances(path, [], -1.0, PIPER, OPTIONS)
    usual = OPTIONS.path_tolerance
    assert read.path.position.tolist() == [usual, 0.05, np.inf, usual, usual, usual]
    assert read.path.velocity.tolist() == [np.inf, 0.3, np.inf, np.inf, np.inf, np.inf]
    assert read.goal_time_s == np.inf


# -- the policy -------------------------------------------------------------------------------------------------


def given_at(frame: int, joints: np.ndarray, width: float) -> PolicyInput:
    return PolicyInput(frame, {}, [], np.array([*joints, width]), "", np.empty((0, 0), np.float32))


def test_without_a_goal_the_arm_stays_and_after_a_hold_it_begins_where_it_is() -> None:
    backend = TrajectoryBackend(PIPER, OPTIONS)
    backend.reset(Episode("one", "counting", "", int(NOW * 1e9), 50_000_000, True))
    rows = backend.infer(given_at(0, HERE, 0.02))
    np.testing.assert_allclose(rows, np.tile([*HERE, 0.02], (len(rows), 1)), atol=1e-6)
    sagged = backend.infer(given_at(1, HERE - 0.01, 0.02))
    np.testing.assert_allclose(sagged, rows)  # it does not follow an arm that sags
    backend.interrupt("the arm holds")
    moved = backend.infer(given_at(2, HERE + 0.3, 0.02))
    np.testing.assert_allclose(moved[:, :6], np.tile(HERE + 0.3, (len(moved), 1)), atol=1e-6)
    later = backend.infer(given_at(100, HERE, 0.02))  # it was not asked for so long
    np.testing.assert_allclose(later[:, :6], np.tile(HERE, (len(later), 1)), atol=1e-6)


def test_the_rows_of_a_chunk_are_where_the_arm_is_to_be_at_the_end_of_each_step() -> None:
    backend = TrajectoryBackend(PIPER, OPTIONS)
    backend.reset(Episode("one", "counting", "", int(NOW * 1e9), 50_000_000, True))
    backend.infer(given_at(0, HERE, 0.0))
    backend.measure(NOW, np.array([*HERE, 0.0]), np.zeros(7))
    there = HERE + np.array([0.4, 0.0, 0.0, 0.0, 0.0, 0.0])
    line = RequestedTrajectory(list(JOINTS), [RequestedPoint(1.0, there.tolist())])
    backend.executor.begin(line, USUAL, BOUNDS, NOW)  # it begins in 0.1 s: the arm has its next rows already
    rows = backend.infer(given_at(2, HERE, 0.0))
    np.testing.assert_allclose(rows[:3, 0], HERE[0] + 0.4 * np.array([0.05, 0.1, 0.15]), atol=1e-5)


def test_the_gripper_reaches_its_width_or_stalls_on_what_it_grips() -> None:
    backend = TrajectoryBackend(PIPER, OPTIONS)
    backend.reset(Episode("one", "counting", "", int(NOW * 1e9), 50_000_000, True))
    run = backend.grip(0.05, NOW)
    assert backend.infer(given_at(0, HERE, 0.0))[0, 6] == pytest.approx(0.05)
    for number, width in enumerate(np.linspace(0.0, 0.05, 20)):
        backend.measure(NOW + 0.1 * number, np.array([*HERE, width]), np.zeros(7))
    assert (run.reached, run.stalled) == (True, False)
    closing = backend.grip(0.0, NOW + 2.0)
    for number in range(20):
        backend.measure(NOW + 2.0 + 0.1 * number, np.array([*HERE, max(0.03, 0.05 - 0.01 * number)]), np.zeros(7))
    assert (closing.reached, closing.stalled, closing.measured) == (False, True, 0.03)
    replaced = backend.grip(0.0, NOW + 4.0)
    backend.grip(0.07, NOW + 4.0)
    assert "newer" in replaced.refusal


def test_a_gripper_goal_that_is_ended_before_the_arm_was_sent_it_is_not_followed_later() -> None:
    backend = TrajectoryBackend(PIPER, OPTIONS)
    backend.reset(Episode("one", "counting", "", int(NOW * 1e9), 50_000_000, True))
    backend.infer(given_at(0, HERE, 0.02))
    run = backend.grip(0.05, NOW)
    backend.interrupt("the emergency stop is set")
    assert run.refusal == "the emergency stop is set"
    assert backend.infer(given_at(1, HERE, 0.019))[0, 6] == pytest.approx(0.02)  # what it holds, it holds on to
    backend.grip(0.0, NOW + 1.0)
    backend.infer(given_at(2, HERE, 0.02))
    backend.interrupt("the emergency stop is set")  # the arm was sent this one: it does not release what it grips
    assert backend.infer(given_at(3, HERE, 0.01))[0, 6] == 0.0


@pytest.mark.parametrize("width", [np.nan, np.inf, -0.01, 0.2, 50.0])
def test_a_width_that_is_none_is_refused(width: float) -> None:
    backend = TrajectoryBackend(PIPER, OPTIONS)
    with pytest.raises(TrajectoryError, match=r"0 to 0\.07 m"):
        backend.grip(width, NOW)
    assert backend.gripper is None
    assert not GripperRun(0.0, NOW).is_over
