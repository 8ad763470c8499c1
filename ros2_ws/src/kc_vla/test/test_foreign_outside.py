"""An arm of a third-party driver outside of its limits: it is reported, and only a person's word leads it back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from any_arm import robots
from any_driver import UNITS, DrivenArm, driven
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried
from stepped_servo import Harness, check

from kc_vla.arm.interface import ArmError
from kc_vla.arm.kinematics import Kinematics
from kc_vla.arm.offsets import OffsetArm, Offsets
from kc_vla.arm.outside import AT_LIMIT, beyond
from kc_vla.arm.servo_modes import Mode, ServoSettings
from kc_vla.arm.workspace import Workspace
from kc_vla.core.chain import Chain
from kc_vla.core.robot import JointLimits, Robot, Vector, load_robot

PERIOD = 0.02
SETTINGS = ServoSettings(period=PERIOD, stale_after=60.0, stalled_after=60.0, speed=2.0)
"""A busy machine may hold the test up: it lets time pass by itself, and the driver's messages come in real time."""
UR = load_robot("ur5e_ros")
FAR = np.array([0.1, -1.0, 0.5, 0.2, 0.3, 0.4])
NARROW = replace(UR.limits, highest=np.array([3.0, 0.0, 3.0, 3.0, 3.0, -0.3]))
"""Joint 6 at 0.4 rad is 40 degrees outside of them."""


def everywhere(robot: Robot) -> Workspace:
    return Workspace(Kinematics(robot.links_of("")), (-9.0, -9.0, -9.0), (9.0, 9.0, 9.0))


def begin(robot: Robot, angles: Vector, settings: ServoSettings = SETTINGS) -> Harness:
    return Harness(DrivenArm(robot, angles), settings, everywhere(robot))


@pytest.fixture
def arm() -> Harness:
    return begin(driven(replace(UR, limits=NARROW)), FAR)


def led_back(harness: Harness, seconds: float = 120.0) -> None:
    end = harness.now + seconds
    while harness.servo.mode is Mode.RETURN:
        harness.run(PERIOD)
        assert harness.now < end


def test_it_connects_and_is_reported_and_not_moved_by_itself(arm: Harness) -> None:
    report = arm.run(1.0)
    assert report.mode is Mode.BLOCKED
    assert report.reason.startswith("joint 6 is at 22.9 degrees, outside of its -180.0 to -17.2: look at the arm")
    assert "arm/resume leads it back inside slowly" in report.reason
    arm.resume(leads_back=False)
    arm.servo.set_target(FAR + 0.5, 0.0, arm.now, 0.1)
    assert arm.run(1.0).mode is Mode.BLOCKED
    assert arm.arm.sent == []


def test_a_persons_word_leads_it_back_slowly_and_nothing_else_moves_it_meanwhile(arm: Harness) -> None:
    arm.resume()
    assert arm.run(0.3).mode is Mode.RETURN
    arm.servo.set_target(FAR + 0.5, 0.0, arm.now, 0.1)
    arm.run(0.3)
    with pytest.raises(ArmError, match=r"joint 6 is at 22\.9 degrees"):
        arm.servo.park(arm.now)
    assert arm.run(0.5).mode is Mode.BLOCKED  # as after a stop
    arm.resume()
    led_back(arm)
    assert arm.servo.mode is Mode.HOLD
    np.testing.assert_allclose(arm.arm.angles[:5], FAR[:5], atol=1e-6)
    assert not beyond(arm.arm.angles, NARROW).any()
    check(arm, np.full(6, SETTINGS.return_speed * PERIOD), NARROW)
    goal = np.minimum(FAR + 0.3, NARROW.highest)
    arm.servo.set_target(goal, 0.0, arm.now, 1.0)
    arm.run(3.0)
    np.testing.assert_allclose(arm.arm.angles, goal, atol=1e-3)


def test_one_with_calibrated_joints_is_led_back_too() -> None:
    robot = driven(replace(UR, limits=NARROW))
    arm = DrivenArm(robot, FAR)
    moved = OffsetArm(arm, Offsets(np.full(6, 0.02), NARROW))
    harness = Harness(arm, SETTINGS, everywhere(robot))
    harness.servo = type(harness.servo)(moved, SETTINGS, everywhere(robot))
    harness.resume()
    led_back(harness)
    assert harness.servo.mode is Mode.HOLD
    assert not beyond(moved.read_state().angles, moved.limits).any()


@pytest.mark.parametrize("wrong", [np.nan, 57.0, -10.0, 1e6])
def test_a_joint_that_cannot_be_where_it_is_reported_blocks_whichever_driver_says_it(
    arm: Harness, wrong: float
) -> None:
    """The intake of joint states leaves such messages out; other drivers report whatever they like."""
    state = arm.arm.read_state()

    class Garbled(DrivenArm):
        def read_state(self):
            return replace(super().read_state(), angles=np.where(np.arange(6) == 2, self.at, state.angles))

        at = 0.5

    robot = driven(UR)
    harness = Harness(Garbled(robot, FAR), SETTINGS, everywhere(robot))
    harness.resume()
    assert harness.run(0.2).mode is Mode.HOLD
    sent, harness.arm.at = len(harness.arm.sent), wrong
    report = harness.run(2.0)
    assert (report.mode, report.set_point) == (Mode.BLOCKED, None)
    assert "joint 3 is reported at" in report.reason
    assert "correct units and limits in the robot file" in report.reason
    np.testing.assert_array_equal(harness.arm.sent[sent - 1 :], [FAR] * (len(harness.arm.sent) - sent + 1))
    with pytest.raises(ArmError, match="joint 3 is reported at"):
        harness.servo.resume(harness.now)


@st.composite
def outsiders(draw: st.DrawFn) -> tuple[Robot, Vector]:
    """A robot of 1 to 7 joints that a third-party driver moves, and a pose of which some joint is outside of it."""
    robot, _, _ = draw(robots())
    count = len(robot.joints)
    lows = np.array([draw(st.floats(-3.0, 2.0)) for _ in range(count)])
    highs = lows + [draw(st.floats(0.05, 4.0)) for _ in range(count)]
    limits = JointLimits(lows, highs, np.array([draw(st.floats(0.2, 4.0)) for _ in range(count)]))
    shares = np.array([draw(st.floats(0.0, 1.0)) for _ in range(count)])
    found = lows + shares * (highs - lows)
    out = draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=count, unique=True))
    for joint in out:
        way = draw(st.floats(0.1, 1.5))
        found[joint] = draw(st.sampled_from([lows[joint] - way, highs[joint] + way]))
    links = Chain.of_table(np.array([[0.1, np.pi / 2, 0.1, 0.0]] * count))
    return driven(replace(robot, limits=limits, links=links, rest=(lows + highs) / 2), draw(UNITS)), found


@pytest.mark.nightly  # one robot is led back above, and any robot is moved below
@pytest.mark.timeout(7200)
@tried(60, 5000)
@given(outsiders(), st.sampled_from([1, 2, 5]))
def test_any_robot_outside_of_any_limits_is_led_back_by_a_person_alone(
    given_: tuple[Robot, Vector], every: int
) -> None:
    robot, found = given_
    limits = robot.limits
    harness = begin(robot, found, replace(SETTINGS, command_every=every))
    harness.resume(leads_back=False)
    report = harness.run(5 * PERIOD)
    assert (report.mode, harness.arm.sent) == (Mode.BLOCKED, [])
    for joint in np.flatnonzero(beyond(found, limits) > AT_LIMIT).tolist():
        assert f"joint {joint + 1} is at {np.degrees(found[joint]):.1f} degrees" in report.reason
    harness.resume()
    harness.servo.set_target(found + 1.0, 0.0, harness.now, 0.1)
    led_back(harness)
    assert harness.servo.mode is Mode.HOLD
    assert beyond(harness.arm.angles, limits).max() < 1e-9
    inside = beyond(found, limits) == 0.0
    np.testing.assert_allclose(harness.arm.angles[inside], found[inside], atol=1e-5)
    check(harness, np.minimum(limits.speed, SETTINGS.return_speed) * PERIOD * every, limits)


EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("aim"), st.floats(-4.0, 4.0)),
        st.tuples(st.just("push"), st.floats(-1.0, 1.0)),
        st.tuples(st.sampled_from(["halt", "park", "resume", "enable", "stuck", "free", "stall"]), st.just(0.0)),
    ),
    max_size=8,
)


@pytest.mark.timeout(7200)  # of the night
@tried(60, 5000)
@given(outsiders(), EVENTS, st.sampled_from([1, 2, 5]))
def test_whatever_happens_to_it_no_set_point_is_a_jump(drawn: tuple[Robot, Vector], events: list, every: int) -> None:
    robot, found = drawn
    settings = replace(SETTINGS, command_every=every, stalled_after=0.5)
    harness = begin(robot, found, settings)
    words = 0
    for name, value in [*events, ("resume", 0.0)]:
        match name:
            case "aim":
                harness.servo.set_target(np.full(len(found), value), 0.0, harness.now, 0.1)
            case "push":
                harness.arm.push(np.full(len(found), value) * (harness.servo.mode is Mode.BLOCKED))
            case "halt":
                harness.servo.halt("asked to")
            case "park":
                try:
                    harness.servo.park(harness.now)
                except ArmError:
                    assert harness.servo.mode in (Mode.HOLD, Mode.BLOCKED)
            case "stuck" | "free":
                harness.arm.robot.follows = name == "free"
            case "stall":
                harness.now += 0.7
            case "resume" | "enable":
                harness.resume(leads_back=name == "resume")
                words += name == "resume"
        outside = beyond(harness.arm.angles, robot.limits).max() > AT_LIMIT
        harness.run(15 * PERIOD)
        if not words and outside:
            assert harness.arm.sent == []
    check(harness, np.minimum(robot.limits.speed, SETTINGS.speed) * PERIOD * every, robot.limits)
