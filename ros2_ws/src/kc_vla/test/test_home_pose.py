"""The home pose of a robot file: what speaks against taking the arm's power there."""

from dataclasses import replace

import numpy as np
import pytest
from any_arm import AnyArm
from piper import KINEMATICS, LIMITS, REST

from kc_vla.arm.home_pose import HomePose
from kc_vla.arm.interface import ArmError
from kc_vla.arm.servo import Servo
from kc_vla.arm.servo_modes import Mode, ServoSettings
from kc_vla.arm.workspace import Workspace


def turned(*by):
    return REST + np.array((*by, *[0.0] * (6 - len(by))))


WRONG_SIGN = REST * np.where(np.arange(6) == 4, -1, 1)


@pytest.mark.parametrize(
    ("rest", "found", "joint"),
    [
        (WRONG_SIGN, REST, 5),
        (REST, WRONG_SIGN, 5),
        (turned(0, 0.5), REST, 2),
        (turned(0, 0, -0.4), REST, 3),
        (REST, turned(1.0, 0, 0, 0, 0.1, 2.0), 0),  # turned about an upright axis, or about itself
        (REST, REST, 0),
    ],
)
def test_an_arm_found_without_power_elsewhere_than_at_its_home_pose_is_told_by_heights(rest, found, joint):
    home = HomePose(rest, LIMITS, KINEMATICS)
    told = home.found(found)
    if not joint:
        assert told == home.doubt == ""
        return
    lay, says = np.degrees([found[joint - 1], rest[joint - 1]])
    assert told == home.doubt
    assert f"without power with joint {joint} at {lay:.0f} degrees, and 'home' in its robot file has {says:.0f}" in told
    assert "correct 'home', or lay the arm down as it says" in told


def test_its_power_is_not_taken_at_a_home_pose_that_is_in_doubt():
    arm = AnyArm(LIMITS, WRONG_SIGN, REST)
    everywhere = Workspace(KINEMATICS, (-2.0, -2.0, -2.0), (2.0, 2.0, 2.0))
    servo, now = Servo(arm, ServoSettings(), everywhere), 100.0
    assert servo.home.found(arm.angles)

    def run(seconds):
        nonlocal now
        for _ in range(round(seconds / 0.005)):
            now += 0.005
            report = servo.step(now)
            arm.pass_time(0.005)
        return report

    servo.resume(now)
    run(0.2)
    servo.park(now)
    report = run(6.0)
    assert servo.parked(report)
    with pytest.raises(ArmError, match="the arm was found without power with joint 5 at 29 degrees"):
        servo.release()
    run(0.5)
    assert arm.powered
    assert servo.mode is Mode.PARK


def test_a_home_pose_at_a_limit_is_reached_though_the_arm_reports_a_slightly_narrower_one():
    narrower = replace(LIMITS, lowest=LIMITS.lowest + np.radians(0.5))
    home = HomePose(REST, narrower, KINEMATICS)
    assert home.unreachable == ""
    assert home.lies(REST)
    assert (home.angles >= narrower.lowest).all()
    far = HomePose(REST, replace(LIMITS, highest=np.radians([150.0, 180, 0, 100, 10, 120])), KINEMATICS)
    assert "is out of the joint limits: joint 5 is at 28.6 degrees, outside of its -70.0 to 10.0" in far.unreachable
