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
from stepped_servo import Rig, check

from kc_vla.arm.interface import ArmError
from kc_vla.arm.kinematics import Kinematics
from kc_vla.arm.offsets import OffsetArm, Offsets
from kc_vla.arm.outside import AT_LIMIT, beyond
from kc_vla.arm.servo_modes import Mode, ServoSettings
from kc_vla.arm.workspace import Workspace
from kc_vla.core.chain import Chain
from kc_vla.core.rig import JointLimits, Vector, load_rig
from kc_vla.core.rig import Rig as Robot

PERIOD = 0.02
SETTINGS = ServoSettings(period=PERIOD, stale_after=60.0, stalled_after=60.0, speed=2.0)
"""A busy machine may hold the test up: it lets time pass by itself, and the driver's messages come in real time."""
UR = load_rig("ur5e_ros")
FAR = np.array([0.1, -1.0, 0.5, 0.2, 0.3, 0.4])
NARROW = replace(UR.limits, highest=np.array([3.0, 0.0, 3.0, 3.0, 3.0, -0.3]))
"""Joint 6 at 0.4 rad is 40 degrees outside of them."""


def everywhere(robot: Robot) -> Workspace:
    return Workspace(Kinematics(robot.links_of("")), (-9.0, -9.0, -9.0), (9.0, 9.0, 9.0))


def begin(robot: Robot, angles: Vector, settings: ServoSettings = SETTINGS) -> Rig:
    return Rig(DrivenArm(robot, angles), settings, everywhere(robot))


@pytest.fixture
def arm() -> Rig:
    return begin(driven(replace(UR, limits=NARROW)), FAR)


def led_back(rig: Rig, seconds: float = 120.0) -> None:
    end = rig.now + seconds
    while rig.servo.mode is Mode.RETURN:
        rig.run(PERIOD)
        assert rig.now < end


def test_it_connects_and_is_reported_and_not_moved_by_itself(arm: Rig) -> None:
    report = arm.run(1.0)
    assert report.mode is Mode.BLOCKED
    assert report.reason.startswith("joint 6 is at 22.9 degrees, outside of its -180.0 to -17.2: look at the arm")
    assert "arm/resume leads it back inside slowly" in report.reason
    arm.resume(leads_back=False)
    arm.servo.set_target(FAR + 0.5, 0.0, arm.now, 0.1)
    assert arm.run(1.0).mode is Mode.BLOCKED
    assert arm.arm.sent == []


def test_a_persons_word_leads_it_back_slowly_and_nothing_else_moves_it_meanwhile(arm: Rig) -> None:
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
    rig = Rig(arm, SETTINGS, everywhere(robot))
    rig.servo = type(rig.servo)(moved, SETTINGS, everywhere(robot))
    rig.resume()
    led_back(rig)
    assert rig.servo.mode is Mode.HOLD
    assert not beyond(moved.read_state().angles, moved.limits).any()


@pytest.mark.parametrize("wrong", [np.nan, 57.0, -10.0, 1e6])
def test_a_joint_that_cannot_be_where_it_is_reported_blocks_whichever_driver_says_it(arm: Rig, wrong: float) -> None:
    """The intake of joint states leaves such messages out; other drivers report whatever they like."""
    state = arm.arm.read_state()

    class Garbled(DrivenArm):
        def read_state(self):
            return replace(super().read_state(), angles=np.where(np.arange(6) == 2, self.at, state.angles))

        at = 0.5

    robot = driven(UR)
    rig = Rig(Garbled(robot, FAR), SETTINGS, everywhere(robot))
    rig.resume()
    assert rig.run(0.2).mode is Mode.HOLD
    sent, rig.arm.at = len(rig.arm.sent), wrong
    report = rig.run(2.0)
    assert (report.mode, report.set_point) == (Mode.BLOCKED, None)
    assert "joint 3 is reported at" in report.reason
    assert "correct units and limits in the robot file" in report.reason
    np.testing.assert_array_equal(rig.arm.sent[sent - 1 :], [FAR] * (len(rig.arm.sent) - sent + 1))
    with pytest.raises(ArmError, match="joint 3 is reported at"):
        rig.servo.resume(rig.now)


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


@pytest.mark.timeout(7200)  # of the night
@tried(60, 5000)
@given(outsiders(), st.sampled_from([1, 2, 5]))
def test_any_robot_outside_of_any_limits_is_led_back_by_a_person_alone(
    given_: tuple[Robot, Vector], every: int
) -> None:
    robot, found = given_
    limits = robot.limits
    rig = begin(robot, found, replace(SETTINGS, command_every=every))
    rig.resume(leads_back=False)
    report = rig.run(5 * PERIOD)
    assert (report.mode, rig.arm.sent) == (Mode.BLOCKED, [])
    for joint in np.flatnonzero(beyond(found, limits) > AT_LIMIT).tolist():
        assert f"joint {joint + 1} is at {np.degrees(found[joint]):.1f} degrees" in report.reason
    rig.resume()
    rig.servo.set_target(found + 1.0, 0.0, rig.now, 0.1)
    led_back(rig)
    assert rig.servo.mode is Mode.HOLD
    assert beyond(rig.arm.angles, limits).max() < 1e-9
    inside = beyond(found, limits) == 0.0
    np.testing.assert_allclose(rig.arm.angles[inside], found[inside], atol=1e-5)
    check(rig, np.minimum(limits.speed, SETTINGS.return_speed) * PERIOD * every, limits)


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
    rig = begin(robot, found, settings)
    words = 0
    for name, value in [*events, ("resume", 0.0)]:
        match name:
            case "aim":
                rig.servo.set_target(np.full(len(found), value), 0.0, rig.now, 0.1)
            case "push":
                rig.arm.push(np.full(len(found), value) * (rig.servo.mode is Mode.BLOCKED))
            case "halt":
                rig.servo.halt("asked to")
            case "park":
                try:
                    rig.servo.park(rig.now)
                except ArmError:
                    assert rig.servo.mode in (Mode.HOLD, Mode.BLOCKED)
            case "stuck" | "free":
                rig.arm.robot.follows = name == "free"
            case "stall":
                rig.now += 0.7
            case "resume" | "enable":
                rig.resume(leads_back=name == "resume")
                words += name == "resume"
        outside = beyond(rig.arm.angles, robot.limits).max() > AT_LIMIT
        rig.run(15 * PERIOD)
        if not words and outside:
            assert rig.arm.sent == []
    check(rig, np.minimum(robot.limits.speed, SETTINGS.speed) * PERIOD * every, robot.limits)
