"""The emulated Piper does what users of the real one rely on, and what they are warned of."""

import struct
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried
from piper import HIGHEST, KINEMATICS, LOWEST, PIPER, TOP_SPEED

from kc_vla.arm.emulator.arm import EmulatedArm, Status
from kc_vla.arm.emulator.body import ACCELERATION
from kc_vla.arm.emulator.frames import (
    FirmwareQuery,
    GripperTarget,
    JointTarget,
    LimitQuery,
    ModeCommand,
    MotorPower,
    Move,
    Stop,
    StopCode,
)
from kc_vla.arm.emulator.simulated_body import FingerDrive, SimulatedBody

ALL = (1, 2, 3, 4, 5, 6)
STEP = 0.005
RAISED = (0, 90_000, -60_000, 0, 30_000, 0)
"""mdeg"""


def ready(speed: int = 50) -> EmulatedArm:
    arm = EmulatedArm(PIPER)
    arm.receive(ModeCommand(1, Move.JOINTS, speed))
    arm.receive(MotorPower(ALL, True))
    return arm


def aim(arm: EmulatedArm, angles) -> None:
    for first in (0, 2, 4):
        arm.receive(JointTarget(first, tuple(angles[first : first + 2])))


def run(arm: EmulatedArm, seconds: float) -> None:
    for _ in range(round(seconds / STEP)):
        arm.step(STEP)


def raised(speed: int = 50) -> EmulatedArm:
    arm = ready(speed)
    aim(arm, RAISED)
    run(arm, 4.0)
    np.testing.assert_allclose(np.degrees(arm.body.angles) * 1e3, RAISED, atol=1)
    return arm


def height(arm: EmulatedArm) -> float:
    return float(KINEMATICS.flange(arm.body.angles)[2, 3])


@given(st.lists(st.tuples(*[st.floats(0, 1)] * 6), min_size=1, max_size=6), st.integers(1, 100), st.floats(0.001, 0.02))
@tried(50, 250)
def test_no_joint_is_ever_faster_than_it_can_be_or_out_of_its_range(targets, speed, step):
    arm = ready(speed)
    for shares in targets:
        aim(arm, np.degrees(LOWEST + np.array(shares) * (HIGHEST - LOWEST)) * 1e3 // 1)
        for _ in range(60):
            before, speeds = arm.body.angles, arm.body.speeds
            arm.step(step)
            assert (np.abs(arm.body.angles - before) <= speed / 100 * TOP_SPEED * step + ACCELERATION * step**2).all()
            assert (np.abs(arm.body.speeds - speeds) <= ACCELERATION * step + 1e-9).all() or (
                arm.body.speeds == 0
            ).any()  # stopped by the end of its range
            assert ((arm.body.angles >= LOWEST) & (arm.body.angles <= HIGHEST)).all()


def test_a_target_is_reached_and_held():
    arm = raised()
    there = arm.body.angles
    run(arm, 1.0)
    np.testing.assert_allclose(arm.body.angles, there, atol=1e-4)
    assert arm.status == Status.NORMAL


def test_without_power_a_target_moves_nothing_and_a_raised_arm_falls():
    arm = raised()
    before = height(arm)
    arm.receive(MotorPower(ALL, False))
    run(arm, 0.3)
    assert height(arm) < before - 0.05
    aim(arm, RAISED)
    run(arm, 2.0)
    assert height(arm) < before - 0.2


def test_a_stop_lets_the_arm_down_slowly_and_nothing_else_is_followed():
    stopped, dropped = raised(), raised()
    before = height(stopped)
    stopped.receive(Stop(StopCode.STOP, 0))
    dropped.receive(MotorPower(ALL, False))
    aim(stopped, (90_000, 90_000, -60_000, 0, 0, 0))
    run(stopped, 0.3)
    run(dropped, 0.3)
    assert stopped.status == Status.STOPPED
    assert before - 0.1 < height(stopped) < before
    assert height(dropped) < height(stopped)
    assert abs(stopped.body.angles[0]) < 0.01
    stopped.receive(MotorPower(ALL, True))
    assert stopped.body.descending


def test_after_a_reset_the_arm_drops_and_must_be_enabled_twice():
    arm = raised()
    arm.receive(Stop(StopCode.STOP, 0))
    arm.receive(Stop(StopCode.RESUME, 0))
    assert not arm.body.powered.any()
    arm.receive(MotorPower(ALL, True))
    assert not arm.body.powered.any()
    arm.receive(MotorPower(ALL, True))
    assert arm.body.powered.all()
    held = arm.body.angles
    run(arm, 0.5)
    np.testing.assert_allclose(arm.body.angles, held, atol=0.05)  # no jump to where it was sent before


def test_a_target_out_of_range_is_reported_and_not_followed():
    arm = raised()
    arm.receive(JointTarget(2, (10_000, 0)))  # joint 3 ends at 0
    run(arm, 1.0)
    assert arm.status == Status.OUT_OF_RANGE
    assert np.degrees(arm.body.angles[2]) == pytest.approx(-60, abs=0.01)
    status = next(iter(arm.fast_feedback()))
    assert status.data[6] == 0b000100
    arm.receive(JointTarget(2, (-50_000, 0)))
    assert arm.status == Status.NORMAL


@pytest.mark.parametrize(
    "mode", [ModeCommand(0, Move.JOINTS, 50), ModeCommand(1, Move.POSE, 50)], ids=["standby", "other move"]
)
def test_joint_targets_are_followed_in_the_right_mode_only(mode):
    arm = ready()
    arm.receive(mode)
    before = arm.body.angles
    aim(arm, RAISED)
    run(arm, 1.0)
    np.testing.assert_allclose(arm.body.angles, before, atol=1e-6)


def test_one_joint_without_power_falls_alone_and_one_that_is_stuck_stays():
    arm = raised()
    arm.receive(MotorPower((3,), False))
    run(arm, 0.5)
    assert abs(np.degrees(arm.body.angles[2]) + 60) > 1
    assert np.degrees(arm.body.angles[1]) == pytest.approx(90, abs=0.01)
    arm = raised()
    arm.body.stuck[0] = True
    aim(arm, (90_000, *RAISED[1:]))
    run(arm, 2.0)
    assert arm.body.angles[0] == pytest.approx(0, abs=1e-4)


def test_the_gripper_moves_while_it_has_power_and_stays_in_its_range():
    arm = ready()
    arm.receive(GripperTarget(50_000, 1_000, 0, False))
    run(arm, 1.0)
    assert arm.gripper.width == 0.0
    arm.receive(GripperTarget(500_000, 1_000, 1, False))
    run(arm, 0.1)
    assert 0 < arm.gripper.width < 0.02
    run(arm, 1.0)
    assert arm.gripper.width == pytest.approx(0.07)


def test_fingers_close_on_a_thing_that_is_between_them_and_no_further():
    arm = ready()
    arm.receive(GripperTarget(70_000, 1_000, 1, False))
    run(arm, 1.0)
    arm.gripper.between = 0.045
    arm.receive(GripperTarget(0, 800, 1, False))
    run(arm, 0.05)
    assert arm.gripper.gripping == 0  # on their way
    run(arm, 1.0)
    assert (arm.gripper.width, arm.gripper.gripping) == (pytest.approx(0.045), 800)
    (gripper,) = (frame.data for frame in arm.fast_feedback() if frame.id == 0x2A8)
    assert struct.unpack(">ih", gripper[:6]) == (45_000, 800)
    arm.gripper.between = 0.0  # it fell
    run(arm, 1.0)
    assert (arm.gripper.width, arm.gripper.gripping) == (0.0, 0)


def test_the_gripper_of_a_simulated_body_is_as_wide_as_its_fingers_and_presses_on_what_they_touch():
    arm = ready()
    arm.receive(GripperTarget(0, 800, 1, False))
    body = SimulatedBody(0.04, touch=True, blocked=np.zeros(6, bool))
    arm.gripper.simulated = body
    run(arm, 0.1)
    assert (arm.gripper.width, arm.gripper.gripping) == (0.04, 800)
    assert arm.gripper.drive == FingerDrive(0.0, 0.8)
    arm.gripper.simulated = replace(body, width=0.03, touch=False)  # it slipped away, and the fingers go on
    run(arm, STEP)
    assert (arm.gripper.width, arm.gripper.gripping) == (0.03, 0)
    arm.receive(GripperTarget(0, 800, 0, False))
    assert arm.gripper.drive is None


def test_a_joint_of_a_simulated_body_that_is_blocked_is_a_collision_unless_its_level_is_0():
    arm = raised()
    arm.blocked = np.arange(6) == 2
    assert arm.status is Status.COLLISION
    arm.levels = (0,) * 6
    assert arm.status is Status.NORMAL


def test_feedback_tells_angles_power_and_silence():
    arm = raised()
    fast = {frame.id: frame.data for frame in arm.fast_feedback()}
    told = [value for k in (0x2A5, 0x2A6, 0x2A7) for value in struct.unpack(">ii", fast[k])]
    np.testing.assert_allclose(told, RAISED, atol=1)
    assert set(range(0x251, 0x257)) <= set(fast)
    assert all(frame.data[5] == 0b0100_0000 for frame in arm.slow_feedback())
    arm.silent[4] = True
    assert 0x255 not in {frame.id for frame in arm.fast_feedback()}
    assert 0x265 not in {frame.id for frame in arm.slow_feedback()}
    assert arm.status == Status.JOINT_SILENT


def test_queries_are_answered():
    arm = EmulatedArm(PIPER)
    (limits,) = arm.receive(LimitQuery((3,)))
    assert struct.unpack(">BhhHx", limits.data) == (3, 0, -1700, 3000)
    assert b"".join(frame.data for frame in arm.receive(FirmwareQuery())).startswith(b"S-V")


@pytest.mark.parametrize("how", ["stopped", "taught"])
def test_after_its_own_stop_or_teaching_only_a_reset_frees_it(how):
    arm = raised()
    if how == "stopped":
        arm.receive(Stop(StopCode.STOP, 0))
    else:
        arm.press_teach()
        arm.release_teach()

    def obeys() -> bool:
        for _ in range(3):
            arm.receive(ModeCommand(1, Move.JOINTS, 100))
            arm.receive(MotorPower(ALL, True))
        before = arm.body.angles.copy()
        aim(arm, (20_000, 90_000, -60_000, 0, 0, 0))
        run(arm, 0.3)
        return bool(arm.body.angles[0] > before[0] + 0.05)

    assert not obeys()
    arm.receive(Stop(StopCode.RESUME, 0))
    assert not arm.body.powered.any()
    assert arm.status == Status.NORMAL
    assert obeys()


def test_a_reset_drops_a_raised_arm_unless_people_support_it():
    dropped, supported = raised(), raised()
    supported.body.held = True
    before = height(dropped)
    for arm in (dropped, supported):
        arm.receive(Stop(StopCode.STOP, 0))
        arm.receive(Stop(StopCode.RESUME, 0))
        run(arm, 0.5)
    assert height(dropped) < before - 0.05
    assert height(supported) == pytest.approx(before, abs=0.01)
