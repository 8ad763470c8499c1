"""What leaves for an arm: it begins where it is, and no set-point is a jump, whatever limits, file and arm say."""

from dataclasses import replace

import numpy as np
import pytest
from any_arm import AnyArm, robots
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried
from piper import LIMITS, REST
from stepped_servo import PERIOD, SETTINGS, Harness, check

from kc_vla.arm.interface import ArmError, UnfitArmError
from kc_vla.arm.kinematics import Kinematics
from kc_vla.arm.outside import AT_LIMIT, beyond
from kc_vla.arm.piper_models import require_limits
from kc_vla.arm.servo_modes import Mode
from kc_vla.arm.set_points import RefusedSetPointError, SetPointGuard
from kc_vla.arm.workspace import Workspace
from kc_vla.core.robot import JointLimits

NARROW = replace(LIMITS, highest=np.radians([150.0, 180, 0, 100, 10, 120]))
"""Joint 5 of a Piper that lies is 18.6 degrees outside of them."""
BEYOND = REST + np.radians([0, 0, 0, 0, 0, 165.0])
"""Joint 6 may have 120."""


def piper(angles: np.ndarray, limits: JointLimits = LIMITS) -> Harness:
    return Harness(AnyArm(limits, REST, angles))


def speeds(harness: Harness, start: np.ndarray) -> np.ndarray:
    return np.diff(np.array([start, *harness.arm.sent]), axis=0) / PERIOD


@pytest.mark.parametrize(("limits", "found", "joint"), [(LIMITS, BEYOND, 6), (NARROW, REST, 5)])
def test_an_arm_outside_of_its_limits_is_not_moved_and_not_enabled_by_itself(limits, found, joint):
    harness = piper(found, limits)
    at = np.degrees(found[joint - 1])
    report = harness.run(0.1)
    assert report.mode is Mode.BLOCKED
    assert f"joint {joint} is at {at:.1f} degrees, outside of its" in report.reason
    assert "arm/resume leads it back inside" in report.reason
    harness.resume(leads_back=False)
    report = harness.run(0.5)
    assert (report.mode, harness.arm.sent, harness.arm.powered) == (Mode.BLOCKED, [], False)
    assert report.outside.startswith(f"joint {joint} is at {at:.1f} degrees")


@pytest.mark.parametrize(("limits", "found", "joint"), [(LIMITS, BEYOND, 6), (NARROW, REST, 5)])
def test_a_persons_word_leads_it_back_inside_slowly_and_then_it_works(limits, found, joint):
    harness = piper(found, limits)
    harness.resume()
    report = harness.run(0.3)
    assert report.mode is Mode.RETURN
    harness.servo.set_target(REST + 1.0, 0.0, harness.now, 0.1)  # nothing else moves it meanwhile
    harness.run(0.3)
    assert harness.servo.mode is Mode.RETURN
    while harness.servo.mode is Mode.RETURN:
        harness.run(PERIOD)
        assert harness.now < 120.0
    assert harness.servo.mode is Mode.HOLD
    assert not beyond(harness.arm.angles, limits).any()
    others = [k for k in range(6) if k != joint - 1]
    np.testing.assert_allclose(harness.arm.angles[others], found[others], atol=1e-6)
    np.testing.assert_allclose(harness.arm.sent[0], found, atol=1e-5)
    way = speeds(harness, found)
    assert np.abs(way).max() <= SETTINGS.return_speed + 1e-6
    gained = np.diff(way, axis=0) / PERIOD
    assert np.abs(gained).max() <= SETTINGS.acceleration + 1e-3
    assert np.abs(np.diff(gained, axis=0)).max() / PERIOD <= SETTINGS.jerk + 1.0
    target = np.clip(REST + 0.2, limits.lowest, limits.highest)
    harness.servo.set_target(target, 0.0, harness.now, 2.0)
    harness.run(4.0)
    np.testing.assert_allclose(harness.arm.angles, target, atol=1e-3)


def test_a_stop_on_the_way_back_holds_it_there_and_only_a_person_goes_on():
    harness = piper(BEYOND)
    harness.resume()
    harness.run(1.0)
    harness.servo.halt("emergency stop")
    harness.run(0.5)
    there = harness.arm.angles.copy()
    assert np.degrees(there[5]) > 150.0
    harness.servo.set_target(REST, 0.0, harness.now, 0.1)
    harness.servo.park(harness.now)
    report = harness.run(1.0)
    assert report.mode is Mode.BLOCKED
    assert report.reason.startswith("emergency stop; joint 6 is at")
    np.testing.assert_allclose(harness.arm.angles, there, atol=1e-9)
    harness.resume()
    assert harness.run(0.2).mode is Mode.RETURN


def test_it_is_not_parked_from_outside_of_its_limits_nor_to_a_home_pose_outside_of_them():
    harness = piper(BEYOND)
    harness.resume()
    harness.run(0.5)
    with pytest.raises(ArmError, match=r"joint 6 is at 165\.0 degrees, outside of its"):
        harness.servo.park(harness.now)
    harness.run(1.0)
    assert (harness.servo.mode, harness.arm.powered) == (Mode.BLOCKED, True)
    harness = piper(np.where(np.arange(6) == 4, 0.0, REST), NARROW)
    harness.resume()
    harness.run(0.5)
    with pytest.raises(
        ArmError, match=r"the home pose \('home' in the robot file\) is out of the joint limits: joint 5"
    ):
        harness.servo.park(harness.now)
    harness.run(1.0)
    np.testing.assert_allclose(harness.arm.angles[4], 0.0, atol=1e-6)
    with pytest.raises(ArmError):
        harness.servo.release()


def test_one_that_does_not_follow_on_its_way_back_is_not_pulled_at():
    harness = piper(BEYOND)
    harness.arm.follows = False
    harness.resume()
    report = harness.run(3.0)
    assert report.mode is Mode.BLOCKED
    assert "does not follow on the way back inside: bring it inside by hand" in report.reason
    assert np.degrees(np.abs(np.array(harness.arm.sent) - BEYOND).max()) < 6.0
    np.testing.assert_allclose(harness.arm.sent[-1], BEYOND, atol=np.radians(6.0))


def test_an_arm_that_lies_against_the_end_of_its_range_begins_there_and_works():
    found = REST - np.radians([0, 0.8, 0, 0, 0, 0])
    harness = piper(found)
    harness.resume(leads_back=False)
    assert harness.run(0.5).mode is Mode.HOLD
    np.testing.assert_array_equal(harness.arm.sent, [found] * len(harness.arm.sent))
    harness.servo.set_target(REST + np.radians([5, 5, -5, 5, 5, 5.0]), 0.0, harness.now, 0.5)
    harness.run(2.0)
    np.testing.assert_allclose(harness.arm.angles, REST + np.radians([5, 5, -5, 5, 5, 5.0]), atol=1e-3)
    assert np.abs(speeds(harness, found)).max() <= SETTINGS.speed + 1e-6


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ([0.1, 0, 0, 0, 0, 0], "joint 1 at 5.73 degrees was not sent: the last one is at 0.00, a step may have 0.29"),
        ([np.nan, 0, 0, 0, 0, 0], "not usable"),
        ([0, -1e-3, 0, 0, 0, 0], "joint 2 at -0.06 degrees was not sent"),
    ],
)
def test_the_guard_refuses_a_jump_and_a_way_out_and_sends_nothing(step, words):
    arm = AnyArm(LIMITS, REST, REST)
    guard = SetPointGuard(arm, np.ones(6), PERIOD)
    with pytest.raises(RefusedSetPointError, match="before it is known"):
        guard.send(REST, 0.0)
    guard.begin(REST)
    with pytest.raises(RefusedSetPointError, match=words):
        guard.send(REST + step, 0.0)
    assert arm.sent == []
    guard.send(REST, 0.0)
    assert len(arm.sent) == 1


class Jumps:
    """A limiter that leads anywhere, as one with a fault would."""

    def __init__(self, limiter) -> None:
        self._limiter = limiter

    def __getattr__(self, name):
        return getattr(self._limiter, name)

    def next(self, target, speeds=None):
        return self._limiter.next(target, speeds) + 0.3


def test_a_set_point_that_is_refused_blocks_the_arm_until_a_person_has_looked():
    harness = piper(REST)
    harness.resume()
    harness.run(0.1)
    sent, limiter = len(harness.arm.sent), harness.servo._limiter
    harness.servo._limiter = Jumps(limiter)
    report = harness.run(0.5)
    assert (report.mode, report.set_point, len(harness.arm.sent)) == (Mode.BLOCKED, None, sent)
    assert "was not sent: the last one is at" in report.reason
    harness.servo._limiter = limiter
    harness.resume()
    assert harness.run(0.1).mode is Mode.HOLD


OTHERS = ("halt", "park", "stall", "silent", "heard", "fault", "healed", "resume", "enable", "stuck", "free", "push")
EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("aim"), st.floats(-4.0, 4.0)),
        st.tuples(
            st.sampled_from(OTHERS),
            st.just(0.0),
        ),
    ),
    max_size=6,
)
CADENCES = st.sampled_from([(0.005, 1), (0.005, 4), (0.01, 1), (0.002, 3)])


@pytest.mark.timeout(7200)  # of the night
@tried(100, 10_000)
@given(robots(), CADENCES, st.sampled_from([1.0, 0.05, 2.5]), EVENTS)
def test_whatever_limits_file_and_arm_say_no_set_point_is_a_jump(robot, cadence, top, events):
    file, reported, found = robot
    try:
        require_limits(reported, file)
    except UnfitArmError as error:
        told = str(error)
    else:
        told = ""
    if told:
        assert "joint" in told
        assert "It is not enabled" in told
        return
    limits = file.limits.narrowed(reported)
    period, every = cadence
    settings = replace(SETTINGS, period=period, command_every=every, speed=top)
    size = (5.0, 5.0, 5.0)
    workspace = Workspace(Kinematics(file.links), tuple(-side for side in size), size)
    harness = Harness(AnyArm(limits, file.rest, found), settings, workspace)
    words = 0
    for name, value in [("enable", 0.0), *events, ("resume", 0.0)]:
        match name:
            case "aim":
                harness.servo.set_target(np.full(len(found), value), 0.0, harness.now, 0.1)
            case "halt":
                harness.servo.halt("asked to")
            case "park":
                try:
                    harness.servo.park(harness.now)
                except ArmError:
                    assert harness.servo.mode in (Mode.HOLD, Mode.BLOCKED)
            case "stall":
                harness.now += 0.7
            case "silent":
                harness.arm.age = 1.0
            case "heard":
                harness.arm.age, harness.arm.in_command_mode = 0.0, True
            case "fault":
                harness.arm.faults = ("collision",)
            case "healed":
                harness.arm.faults = ()
            case "stuck":
                harness.arm.follows = False
            case "free":
                harness.arm.follows = True
            case "push":
                harness.arm.angles += 0.5 * (harness.servo.mode is Mode.BLOCKED)
            case "resume" | "enable":
                try:
                    harness.resume(leads_back=name == "resume")
                except ArmError:
                    assert harness.arm.age or harness.arm.faults
                words += name == "resume"
        harness.run(15 * period)
        if not words and beyond(found, limits).max() > AT_LIMIT:
            assert harness.arm.sent == []
            assert not harness.arm.powered
    check(harness, np.minimum(limits.speed, top) * period * every, limits)


@tried(30, 1000)
@given(st.lists(st.floats(-3.0, 3.0), min_size=1, max_size=5), st.integers(0, 5))
def test_each_joint_keeps_its_own_velocity_acceleration_and_jerk(targets, slow):
    """The narrower of the robot file's and of the controller's."""
    rows = {"speed": (3.0, 0.2), "acceleration": (100.0, 1.0), "jerk": (5000.0, 10.0)}
    own = {key: np.where(np.arange(6) == slow, low, high) for key, (high, low) in rows.items()}
    harness = piper(REST, replace(LIMITS, **own))
    harness.resume()
    for target in targets:
        harness.servo.set_target(REST + target, 0.0, harness.now, 0.05)
        harness.run(0.4)
    way = speeds(harness, REST)
    gained = np.diff(way, axis=0, prepend=np.zeros((1, 6))) / PERIOD
    assert (np.abs(way) <= np.minimum(own["speed"], SETTINGS.speed) + 1e-6).all()
    assert (np.abs(gained) <= np.minimum(own["acceleration"], SETTINGS.acceleration) + 1e-3).all()
    assert (np.abs(np.diff(gained, axis=0)) / PERIOD <= np.minimum(own["jerk"], SETTINGS.jerk) + 1.0).all()
