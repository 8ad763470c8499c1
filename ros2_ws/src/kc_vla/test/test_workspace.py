"""The whole way of the arm stays inside its workspace, braking included, whatever it is asked for."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried
from piper import HIGHEST, KINEMATICS, LOWEST, REST
from stepped_arm import SteppedArm, power

from kc_vla.arm.interface import ArmError
from kc_vla.arm.limiter import MotionLimits, SetPointLimiter
from kc_vla.arm.parking import way_to_rest
from kc_vla.arm.servo import Servo
from kc_vla.arm.servo_modes import Mode, ServoSettings
from kc_vla.arm.workspace import Workspace
from kc_vla.core.robot import JointLimits

PERIOD, MARGIN = 0.005, 0.005
ONES = np.ones(6)
TABLE = Workspace(KINEMATICS)
ABOVE, BEYOND = np.radians([0.0, 180.0, 0.0, 0.0, 70.0, 0.0]), np.radians([0.0, 90.0, -30.0, 0.0, -70.0, 0.0])
"""Both well above the table; a straight way from one to the other goes through it."""

poses = st.tuples(*(st.floats(low, high) for low, high in zip(LOWEST, HIGHEST, strict=True))).map(np.array)
speeds = st.floats(0.2, 3.0)
workspaces = st.builds(
    lambda low, high: Workspace(KINEMATICS, low, high),
    st.tuples(st.floats(-0.7, 0.0), st.floats(-0.7, -0.1), st.floats(-0.2, 0.11)),
    st.tuples(st.floats(0.1, 0.7), st.floats(0.1, 0.7), st.floats(0.25, 0.9)),
)
scripts = st.lists(st.tuples(poses, st.integers(1, 300)), min_size=1, max_size=6)


def limiter(workspace: Workspace, speed: float) -> SetPointLimiter:
    joints = JointLimits(LOWEST, HIGHEST, speed * ONES)
    return SetPointLimiter(MotionLimits(joints, 8.0 * ONES, 80.0 * ONES), PERIOD, workspace, MARGIN)


def slack(workspace: Workspace, way: list[np.ndarray]) -> np.ndarray:
    return workspace.slack(np.array(way)).min(axis=0)


@tried(20, 375)
@given(scripts, speeds, workspaces)
def test_no_script_at_any_speed_crosses_a_bound_of_any_workspace(script, speed, workspace):
    limits = limiter(workspace, speed)
    limits.begin(REST)
    way = [REST]
    for target, periods in script:
        way += [limits.next(target) for _ in range(periods)]
    inside_at_first = np.minimum(workspace.slack(REST), 0.0)
    assert (slack(workspace, way) >= inside_at_first - 1e-6).all()
    assert (np.abs(np.diff(np.array(way), axis=0)) <= speed * PERIOD + 1e-9).all()


@tried(8, 150)
@given(st.lists(st.tuples(poses, st.floats(0.1, 6.0)), min_size=1, max_size=4), speeds)
def test_no_targets_lead_the_arms_body_through_the_table(script, speed):
    arm = SteppedArm()
    servo = Servo(arm, replace(ServoSettings(), speed=speed), TABLE)
    power(servo, 100.0, PERIOD)
    now, way = 100.0, []
    for target, seconds in script:
        servo.set_target(target, 0.0, now, seconds)
        for _ in range(round(seconds / PERIOD)):
            now += PERIOD
            servo.step(now)
            arm.pass_time(PERIOD)
            way.append(arm.body.angles.copy())
    assert slack(TABLE, way).min() > 0.0


def test_the_way_between_two_good_poses_is_not_gone_where_it_leads_through_the_table():
    arm = SteppedArm()
    servo = Servo(arm, ServoSettings(), TABLE)
    power(servo, 100.0, PERIOD)
    now, heights, told = 100.0, [], set()
    for target, seconds in ((ABOVE, 6.0), (BEYOND, 4.0)):
        servo.set_target(target, 0.0, now, seconds)
        for _ in range(round((seconds + 1.0) / PERIOD)):
            now += PERIOD
            told.add(servo.step(now).held_back)
            arm.pass_time(PERIOD)
            heights.append(KINEMATICS.flange(arm.body.angles)[2, 3])
    assert TABLE.outside(ABOVE) == TABLE.outside(BEYOND) == ""
    assert min(heights) > 0.0
    assert told == {"", "floor of the workspace"}
    assert servo.clamped["way: floor of the workspace"] >= 1


def test_an_arm_at_the_bound_goes_on_as_soon_as_the_way_is_free():
    limits = limiter(TABLE, 1.5)
    limits.begin(ABOVE)
    for _ in range(1000):
        limits.next(BEYOND)
    assert limits.held_back
    for _ in range(1000):
        reached = limits.next(ABOVE)
    np.testing.assert_allclose(reached, ABOVE, atol=1e-6)
    assert limits.held_back == ""


def test_an_arm_that_is_outside_already_may_come_in_and_not_go_further_out():
    low_ceiling = Workspace(KINEMATICS, (-0.7, -0.7, 0.0), (0.7, 0.7, 0.3))
    start, up, down = np.radians([[0, 70, -80, 0, 0, 0], [0, 50, -110, 0, 0, 0], [0, 90, -40, 0, 0, 0]])
    assert low_ceiling.outside(start) == "z of the workspace"
    assert low_ceiling.outside(down) == ""
    limits = limiter(low_ceiling, 1.5)
    limits.begin(start)
    way = [limits.next(up) for _ in range(400)]
    assert slack(low_ceiling, way)[-1] > low_ceiling.slack(start)[-1] - 1e-6
    for _ in range(3000):
        reached = limits.next(down)
    np.testing.assert_allclose(reached, down, atol=1e-6)


@given(poses, workspaces)
def test_the_way_to_the_rest_pose_stays_inside(start, workspace):
    way = way_to_rest(start, REST, workspace, MARGIN)
    if way is None:
        return
    np.testing.assert_array_equal(way[-1], REST)
    points = np.concatenate([np.linspace(a, b, 200) for a, b in zip([start, *way], way, strict=False)])
    at_first = np.minimum(workspace.slack(start) - MARGIN, 0.0)
    assert (workspace.slack(points).min(axis=0) > at_first - 1e-3).all()


def test_from_wherever_it_is_above_a_table_the_arm_finds_a_way_to_its_rest_pose():
    drawn = np.random.default_rng(0).uniform(LOWEST, HIGHEST, (300, 6))
    inside = drawn[TABLE.slack(drawn).min(axis=1) > MARGIN]
    assert len(inside) > 100
    assert all(way_to_rest(start, REST, TABLE, MARGIN) for start in inside)


@pytest.mark.parametrize("slow", [None, 0, 1, 3])
def test_the_arm_parks_around_a_wall_on_the_way_that_was_found_however_slow_a_joint_is(slow):
    wall = Workspace(KINEMATICS, (-0.7, -0.15, 0.0), (0.7, 0.7, 0.9))
    start = np.radians([120.0, 90.0, -60.0, 90.0, 60.0, 0.0])
    assert wall.outside(start) == ""
    way = way_to_rest(start, REST, wall, MARGIN)
    arm = SteppedArm()
    arm.limits = replace(arm.limits, speed=np.where(np.arange(6) == slow, 0.05, 3.0))
    arm.body.angles = start.copy()
    servo = Servo(arm, ServoSettings(), wall)
    power(servo, 100.0, PERIOD)
    assert way is not None
    servo.park(100.0)
    now, gone = 100.0, []
    for _ in range(10_000):
        now += PERIOD
        report = servo.step(now)
        arm.pass_time(PERIOD)
        gone.append(arm.body.angles.copy())
        if servo.parked(report):
            break
    assert servo.parked(report)
    assert slack(wall, gone).min() > 0.0
    points = np.concatenate([np.linspace(a, b, 500) for a, b in pairwise([start, *way])])
    off = [np.abs(points - angles).max(axis=1).min() for angles in arm.sent]
    assert max(off) < np.radians(2.0)


def test_an_arm_that_finds_no_way_to_its_rest_pose_holds_and_says_so(monkeypatch):
    monkeypatch.setattr("kc_vla.arm.servo.way_to_rest", lambda *given: None)
    servo = Servo(SteppedArm(), ServoSettings(), TABLE)
    power(servo, 100.0, PERIOD)
    with pytest.raises(ArmError, match="no way to the rest pose stays inside the workspace: move the arm elsewhere"):
        servo.park(100.0)
    assert servo.mode is Mode.HOLD
