"""Joint states of others are believed by their names, and only where they can be true."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.arm.joint_intake import JointIntake
from kc_vla.core.robot import load_robot

ROBOT = load_robot("ur5e_ros")
assert ROBOT.interface is not None
NAMES = (*ROBOT.interface.joints, ROBOT.interface.gripper.joint)
ANGLES = (0.1, -1.0, 0.5, 0.2, 0.3, 0.4)
NOW_NS = 1_700_000_000_000_000_000
AT = 1000.0


class Driver:
    """What a driver says, by our clocks."""

    def __init__(self) -> None:
        assert ROBOT.interface is not None
        self.intake = JointIntake(ROBOT.interface, ROBOT)
        self.at = AT

    def say(
        self,
        names: Sequence[str] = NAMES,
        positions: Sequence[float] = (*ANGLES, 0.2),
        velocities: Sequence[float] = (),
        late_s: float = 0.0,
        stamped: bool = True,
    ) -> None:
        now_ns = NOW_NS + round((self.at - AT) * 1e9)
        stamp_ns = now_ns - round(late_s * 1e9) if stamped else 0
        self.intake.take(names, positions, velocities, stamp_ns, now_ns, self.at)


@pytest.fixture
def driver() -> Driver:
    return Driver()


def test_a_joint_that_is_called_otherwise_is_named_beside_what_was_heard(driver: Driver) -> None:
    assert driver.intake.felt(AT).refusal == "no joint states come on /joint_states: start the robot's driver first"
    driver.say(["shoulder_pan_jont", *NAMES[1:], "lift"], [*ANGLES, 0.2, 0.0])
    told = driver.intake.untold()
    assert told.startswith(f"joint states on /joint_states tell nothing of {NAMES[0]}: they name ")
    assert "shoulder_pan_jont" in told
    driver.at += 0.01
    driver.say()
    assert driver.intake.untold() == ""


def test_joints_are_found_by_name_in_any_order_among_others(driver: Driver) -> None:
    names, positions = [*NAMES[::-1], "lift"], [0.2, *ANGLES[::-1], 9.0]
    driver.say(names, positions, [0.5] * 8)
    felt = driver.intake.felt(AT + 0.01)
    np.testing.assert_allclose(felt.angles, ANGLES)
    np.testing.assert_allclose(felt.speeds, 0.5)
    assert felt.age == pytest.approx(0.01)
    assert felt.share == pytest.approx(0.75)  # the joint closes from 0 to 0.8
    assert (felt.faults, felt.refusal) == ((), "")


def test_joints_may_come_in_several_messages_and_the_oldest_counts(driver: Driver) -> None:
    driver.say(NAMES[:3], ANGLES[:3])
    assert math.isinf(driver.intake.felt(AT).age)
    driver.at += 0.1
    driver.say(NAMES[3:], (*ANGLES[3:], 0.2))
    assert driver.intake.felt(AT + 0.1).age == pytest.approx(0.1)


def test_without_speeds_that_are_numbers_the_positions_tell(driver: Driver) -> None:
    driver.say(velocities=[math.nan] * 7)
    driver.at += 0.1
    driver.say(positions=(*(angle + 0.05 for angle in ANGLES), 0.2), velocities=[math.nan] * 7)
    np.testing.assert_allclose(driver.intake.felt(AT + 0.1).speeds, 0.5)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"positions": ANGLES}, "name 7 joints and give 6 positions"),
        (
            {"names": [f"other_{name}" for name in NAMES]},
            "name other_shoulder_pan_joint, .* and the robot's interface shou",
        ),
        ({"names": [], "positions": []}, "name none, and the robot's interface"),
        ({"names": (*NAMES[:6], NAMES[0])}, "name a joint twice"),
        ({"positions": (*ANGLES[:2], math.nan, *ANGLES[3:], 0.2)}, "give nan for 'elbow_joint'"),
        ({"positions": (math.inf, *ANGLES[1:], 0.2)}, "give inf for 'shoulder_pan_joint'"),
        ({"late_s": -60.0}, "are stamped 60 s ahead"),
        ({"late_s": 0.1}, "repeat an old stamp"),
    ],
)
def test_what_cannot_be_true_is_left_out_and_the_age_tells(driver: Driver, said: dict, told: str) -> None:
    driver.say()
    driver.at += 0.05
    driver.say(**said)
    felt = driver.intake.felt(AT + 0.05)
    np.testing.assert_allclose(felt.angles, ANGLES)
    assert felt.age == pytest.approx(0.05)
    assert re.search(told, felt.refusal)


def test_what_was_measured_long_ago_is_old_however_fresh_it_comes(driver: Driver) -> None:
    driver.say(late_s=5.0)
    felt = driver.intake.felt(AT)
    assert felt.age == pytest.approx(5.0)
    assert "are stamped 5.00 s before they come: do the clocks of the machines agree" in felt.refusal


def test_a_driver_that_repeats_itself_grows_old(driver: Driver) -> None:
    driver.say()
    for _ in range(5):
        driver.at += 0.1
        driver.intake.take(NAMES, (*ANGLES, 0.2), (), NOW_NS, NOW_NS + round((driver.at - AT) * 1e9), driver.at)
    assert driver.intake.felt(driver.at).age == pytest.approx(0.5)


def test_without_stamps_the_time_of_coming_counts(driver: Driver) -> None:
    driver.say(stamped=False)
    driver.at += 0.1
    driver.say(stamped=False)
    assert driver.intake.felt(driver.at).age == pytest.approx(0.0)


def test_a_clock_that_was_set_back_is_followed(driver: Driver) -> None:
    driver.say()
    driver.at += 0.1
    back_ns = NOW_NS - 3_600_000_000_000
    driver.intake.take(NAMES, (*ANGLES, 0.2), (), back_ns, back_ns, driver.at)
    assert driver.intake.felt(driver.at).age == pytest.approx(0.0)


def test_angles_that_no_joint_can_have_are_not_believed(driver: Driver) -> None:
    driver.say(positions=(*np.degrees(ANGLES), 0.2))
    felt = driver.intake.felt(AT)
    assert math.isinf(felt.age)
    assert felt.refusal == (
        "joint 'shoulder_lift_joint' is reported at -3283 degrees, more than a full turn outside of its -180 to 0: "
        "correct units and limits in the robot file"
    )


@pytest.mark.parametrize("out", [0.05, 0.5, 3.0, 6.2])
def test_angles_outside_of_the_limits_are_believed(driver: Driver, out: float) -> None:
    for _ in range(3):
        driver.say(positions=(ROBOT.limits.highest[0] + out, *ANGLES[1:], 0.2))
        driver.at += 0.01
    felt = driver.intake.felt(driver.at)
    assert (felt.refusal, felt.doubt) == ("", "")
    assert felt.angles[0] == pytest.approx(ROBOT.limits.highest[0] + out)
    driver.say(positions=(*ANGLES, 0.2))  # it does not leap back
    if out > 0.2:
        assert "is told to have leapt by" in driver.intake.felt(driver.at).refusal


def test_a_joint_that_leaps_is_not_believed_until_the_arm_counts_as_lost(driver: Driver) -> None:
    leapt = (ANGLES[0] + 0.5, *ANGLES[1:], 0.2)
    driver.say()
    for _ in range(190):
        driver.at += 0.01
        driver.say(positions=leapt)
    felt = driver.intake.felt(driver.at)
    np.testing.assert_allclose(felt.angles, ANGLES)
    assert felt.age == pytest.approx(1.9)
    assert felt.refusal == "'shoulder_pan_joint' is told to have leapt by 29 degrees"
    driver.at += 0.2
    driver.say(positions=leapt)
    assert driver.intake.felt(driver.at).age == pytest.approx(0.0)


def test_nothing_begins_where_a_joint_has_just_leapt_to(driver: Driver) -> None:
    leapt, doubts = (ANGLES[0] + 0.5, *ANGLES[1:], 0.2), []
    driver.say()
    assert driver.intake.felt(driver.at).doubt == ""
    driver.at += 2.1  # it stood still, and is believed again
    for _ in range(11):
        driver.say(positions=leapt)
        doubts.append(driver.intake.felt(driver.at).doubt)
        driver.at += 0.1
    assert (
        doubts[0]
        == doubts[9]
        == (
            "'shoulder_pan_joint' is told to have leapt by 29 degrees: wait until what it tells has been steady for 1 s"
        )
    )
    assert doubts[10] == ""
    driver.say()  # where it was all the time
    felt = driver.intake.felt(driver.at)
    assert felt.age == pytest.approx(0.1)
    assert "has been steady" in felt.doubt


@pytest.mark.parametrize("rate", [10, 50, 500])
def test_an_arm_at_its_top_speed_does_not_leap(driver: Driver, rate: int) -> None:
    for step in range(rate):
        driver.at = AT + step / rate
        driver.say(positions=(-1.0 + ROBOT.limits.speed[0] * step / rate, *ANGLES[1:], 0.2))
        assert driver.intake.felt(driver.at).refusal == ""


def test_a_gripper_that_is_not_told_of_is_a_fault(driver: Driver) -> None:
    driver.say(NAMES[:-1], ANGLES)
    (fault,) = driver.intake.felt(AT).faults
    assert fault == "nothing is told of the gripper's joint 'finger_joint' on /joint_states"


numbers = st.floats(allow_nan=True, allow_infinity=True) | st.floats(-3, 3)


@given(
    st.lists(st.tuples(st.sampled_from([*NAMES, "other"]), numbers), max_size=12),
    st.lists(numbers, max_size=12),
    st.floats(-100, 100),
)
def test_whatever_comes_what_is_felt_is_finite(
    pairs: list[tuple[str, float]], velocities: list[float], late_s: float
) -> None:
    driver = Driver()
    driver.say()
    driver.at += 0.1
    driver.say([name for name, _ in pairs], [value for _, value in pairs], velocities, late_s)
    felt = driver.intake.felt(driver.at)
    assert np.isfinite(felt.angles).all()
    assert np.isfinite(felt.speeds).all()
    assert math.isfinite(felt.share)
    assert 0.0 <= felt.age < 101.0
