"""What the servo sends an arm, period by period: bounded, never from stale data, never on by itself."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried
from piper import HIGHEST, KINEMATICS, LOWEST, REST
from stepped_arm import SteppedArm

from kc_vla.arm.interface import ArmError
from kc_vla.arm.servo import Servo
from kc_vla.arm.servo_modes import Mode, Report, ServoSettings
from kc_vla.arm.workspace import Workspace

SETTINGS = ServoSettings()
PERIOD = SETTINGS.period
RAISED = np.radians([10.0, 60.0, -40.0, 0.0, 20.0, 5.0])
EVERYWHERE = Workspace(KINEMATICS, (-2.0, -2.0, -2.0), (2.0, 2.0, 2.0))


class Harness:
    """A servo, its arm and a clock."""

    def __init__(self, workspace: Workspace = EVERYWHERE, command_every: int = 1) -> None:
        self.arm = SteppedArm()
        self.servo = Servo(self.arm, replace(SETTINGS, command_every=command_every), workspace)
        self.now = 100.0

    def run(self, seconds: float) -> Report:
        for _ in range(max(1, round(seconds / PERIOD))):
            self.now += PERIOD
            report = self.servo.step(self.now)
            self.arm.pass_time(PERIOD)
        return report

    def resume(self) -> None:
        self.servo.resume(self.now)
        while self.servo.mode is Mode.POWERING:
            self.run(PERIOD)

    def set_target(self, angles: np.ndarray, seconds: float = 0.05) -> None:
        self.servo.set_target(angles, 0.03, self.now, seconds)


@pytest.fixture
def harness() -> Harness:
    harness = Harness()
    harness.resume()
    harness.run(0.1)
    return harness


def bounded(sent: list[np.ndarray]) -> bool:
    """No step above what one control period allows."""
    return bool((np.abs(np.diff(np.array(sent), axis=0)) <= SETTINGS.speed * PERIOD + 1e-9).all())


def test_nothing_is_sent_before_a_person_says_so():
    harness = Harness()
    assert harness.run(0.1).mode is Mode.BLOCKED
    harness.set_target(RAISED)
    harness.run(0.5)
    assert harness.arm.sent == []
    assert not harness.arm.body.powered.any()


def test_it_goes_where_it_is_aimed_and_holds_there(harness):
    harness.set_target(RAISED, 2.0)
    assert harness.run(0.05).mode is Mode.FOLLOW
    report = harness.run(3.0)
    assert (report.mode, report.reason) == (Mode.HOLD, "no new target")
    np.testing.assert_allclose(harness.arm.body.angles, RAISED, atol=1e-3)
    assert harness.arm.gripper == pytest.approx(0.03)
    assert bounded(harness.arm.sent)


def test_an_arm_that_is_told_nothing_more_stops_on_the_way(harness):
    """A stick is let go of, a chunk is used up: what it was aimed at before counts no more."""
    far = RAISED + np.radians([80.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    harness.set_target(far)  # in far too short a time
    harness.run(0.5)
    assert harness.servo.mode is Mode.HOLD
    stopped = harness.arm.body.angles.copy()
    harness.run(3.0)
    assert np.abs(harness.arm.body.angles - stopped).max() < np.radians(2.0)
    assert np.abs(harness.servo.target - harness.arm.body.angles).max() < 1e-3  # what comes next begins here
    assert bounded(harness.arm.sent)


@pytest.mark.parametrize(("kept_power", "opened"), [(True, False), (False, False), (True, True)])
def test_what_is_held_stays_held_when_an_arm_that_kept_its_power_is_resumed(harness, kept_power, opened):
    harness.servo.set_target(RAISED, 0.0, harness.now, 2.0)
    harness.arm.between = 0.03  # an object
    harness.run(3.0)
    harness.arm.faults = ("overheated",)
    harness.run(0.5)
    assert harness.servo.mode is Mode.BLOCKED
    harness.arm.faults = ()
    harness.arm.body.powered[:] = kept_power
    harness.arm.between = 0.06 if opened else 0.03  # a person has opened it by hand, and taken the object
    harness.resume()
    harness.run(0.5)
    assert harness.arm.gripper == (harness.arm.between if opened or not kept_power else 0.0)


def test_the_arm_may_be_told_less_often_than_its_way_is_worked_out():
    harness = Harness(command_every=4)
    harness.resume()
    harness.set_target(RAISED, 2.0)
    harness.run(4.0)
    assert len(harness.arm.sent) == 1 + 4.0 / PERIOD / 4  # the first one, where it is, leaves as it begins
    assert (np.abs(np.diff(np.array(harness.arm.sent), axis=0)) <= 4 * SETTINGS.speed * PERIOD + 1e-9).all()
    np.testing.assert_allclose(harness.arm.body.angles, RAISED, atol=1e-3)


def test_a_needless_resume_does_not_disturb_a_motion(harness):
    harness.set_target(RAISED, 2.0)
    harness.run(0.5)
    harness.resume()
    assert harness.run(0.1).mode is Mode.FOLLOW
    assert bounded(harness.arm.sent)
    harness.run(2.0)
    np.testing.assert_allclose(harness.arm.body.angles, RAISED, atol=1e-3)


def test_nobody_lets_it_begin_where_it_is_in_doubt_whether_it_is_there() -> None:
    harness = Harness()
    harness.arm.doubt = "joint 1 is told to have leapt"
    with pytest.raises(ArmError, match="the arm is not enabled: joint 1 is told to have leapt"):
        harness.resume()
    harness.arm.doubt = ""
    harness.servo.resume(harness.now)
    harness.arm.doubt = "joint 1 is told to have leapt"  # while it gets power
    assert harness.run(0.1).mode is Mode.BLOCKED
    assert not harness.arm.sent
    harness.arm.doubt = ""
    harness.resume()
    harness.arm.doubt = "joint 1 is told to have leapt"  # it moves as it did: what is old is told by its age
    harness.set_target(RAISED, 1.0)
    assert harness.run(0.5).mode is Mode.FOLLOW


def test_a_moving_target_is_followed_at_its_pace(harness):
    for k in range(1, 41):
        harness.set_target(REST + k / 40 * (RAISED - REST))
        harness.run(0.05)
        if k > 10:  # it has to gain speed first
            np.testing.assert_allclose(harness.arm.sent[-1], REST + k / 40 * (RAISED - REST), atol=0.005)


targets = st.tuples(*(st.floats(low, high) for low, high in zip(LOWEST - 0.5, HIGHEST + 0.5, strict=True))).map(
    np.array
)
EVENTS = st.one_of(
    st.tuples(st.just("aim"), targets),
    st.tuples(st.sampled_from(["halt", "park", "silent", "heard", "fault", "healed", "resume", "teach"]), st.none()),
)


@tried(60, 300)
@given(st.lists(EVENTS, min_size=1, max_size=15))
def test_whatever_happens_no_step_is_above_the_bound_and_nothing_is_sent_unseen(events):
    harness = Harness()
    arm = harness.arm
    harness.resume()
    for name, angles in events:
        match name:
            case "aim":
                harness.set_target(angles)
            case "halt":
                harness.servo.halt("asked to")
            case "park":
                harness.servo.park(harness.now)
            case "silent":
                harness.arm.age = 1.0
            case "heard":
                harness.arm.age, harness.arm.in_command_mode = 0.0, True
            case "fault":
                harness.arm.faults = ("collision",)
            case "healed":
                harness.arm.faults = ()
            case "teach":
                harness.arm.in_command_mode = False
            case "resume":
                try:
                    harness.resume()
                except ArmError:
                    assert harness.servo.mode is Mode.BLOCKED or arm.age or arm.faults or not arm.in_command_mode
        before = len(harness.arm.sent)
        harness.run(0.1)
        if harness.arm.age or not harness.arm.in_command_mode:
            assert len(harness.arm.sent) == before
    # where it was taken up again it began at the arm's angles, which may be a little behind what was sent last
    steps = np.abs(np.diff(np.array(harness.arm.sent), axis=0)) if len(harness.arm.sent) > 1 else np.zeros((1, 6))
    assert steps.max() <= max(SETTINGS.speed * PERIOD + 1e-9, SETTINGS.astray)
    travelled = np.abs(harness.arm.body.speeds)
    assert (travelled <= 3.0 + 1e-9).all()


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda arm: setattr(arm, "age", 0.3), "nothing has come from the arm for 0.30 s"),
        (lambda arm: setattr(arm, "faults", ("collision",)), "collision"),
        (lambda arm: arm.body.powered.__setitem__(4, False), "joint 5 has no power"),
        (lambda arm: setattr(arm, "in_command_mode", False), "teach button"),
    ],
    ids=["silence", "fault", "power", "teach"],
)
def test_what_is_wrong_with_the_arm_blocks_it_until_a_person_resumes(harness, spoil, words):
    harness.set_target(RAISED, 1.0)
    harness.run(0.3)
    spoil(harness.arm)
    report = harness.run(PERIOD)
    assert report.mode is Mode.BLOCKED
    assert words in report.reason
    harness.run(0.5)
    there = harness.arm.body.angles.copy()
    harness.arm.age, harness.arm.faults, harness.arm.in_command_mode = 0.0, (), True
    harness.set_target(RAISED)
    assert harness.run(1.0).mode is Mode.BLOCKED
    np.testing.assert_allclose(harness.arm.body.angles, there, atol=0.03)  # a joint without power still turns a little
    harness.resume()
    harness.run(0.5)
    np.testing.assert_allclose(harness.arm.body.angles, there, atol=0.03)  # a joint without power still turns a little
    harness.set_target(RAISED, 2.0)
    harness.run(3.0)
    np.testing.assert_allclose(harness.arm.body.angles, RAISED, atol=1e-3)


def test_an_arm_that_is_silent_is_sent_nothing_and_is_not_pushed_when_it_is_heard_again(harness):
    harness.set_target(RAISED, 1.0)
    harness.run(0.3)
    harness.arm.age = 0.3
    before = len(harness.arm.sent)
    harness.run(0.5)
    harness.arm.age = 0.0
    harness.run(0.5)
    assert len(harness.arm.sent) == before


def test_a_loop_that_stood_still_does_not_blame_the_arm(harness):
    harness.set_target(RAISED, 1.0)
    harness.run(0.3)
    harness.now += 3.0
    harness.arm.age = 3.0  # what the arm has sent meanwhile has not been looked at yet
    assert harness.run(PERIOD).reason == "its control loop stood still for 3.0 s"


def test_a_stuck_joint_is_noticed_and_not_pressed_on(harness):
    harness.arm.body.stuck[1] = True
    harness.set_target(RAISED, 2.0)
    report = harness.run(2.0)
    assert report.mode is Mode.BLOCKED
    assert "joint 2 is" in report.reason
    assert abs(harness.arm.sent[-1][1] - harness.arm.body.angles[1]) < 0.01
    assert bounded(harness.arm.sent)


def test_an_old_state_does_not_say_that_a_joint_strayed():
    harness = Harness()
    harness.servo = Servo(harness.arm, replace(SETTINGS, stale_after=1.5), EVERYWHERE)
    harness.resume()
    harness.run(0.1)
    harness.arm.body.stuck[1] = True  # it shows where it was
    harness.arm.age = 0.5
    harness.set_target(RAISED)
    harness.run(1.0)
    assert harness.servo.mode is Mode.HOLD
    before = len(harness.arm.sent)
    harness.arm.age = 1.6
    report = harness.run(1.0)
    assert (report.mode, len(harness.arm.sent)) == (Mode.BLOCKED, before)
    assert report.reason.startswith("nothing has come from the arm for 1.60 s")


def test_halting_comes_to_rest_at_once_and_gives_up_the_way_to_rest(harness):
    harness.set_target(RAISED, 1.0)
    harness.run(0.5)
    harness.servo.halt("emergency stop")
    there = harness.run(0.3).set_point
    harness.run(1.0)
    np.testing.assert_allclose(harness.arm.sent[-1], there, atol=0.02)
    harness.servo.park(harness.now)
    harness.run(0.3)
    harness.servo.halt("emergency stop")
    assert harness.run(0.3).mode is Mode.HOLD
    assert bounded(harness.arm.sent)


def test_parking_is_slow_ends_at_rest_and_listens_to_no_target(harness):
    harness.set_target(RAISED, 2.0)
    harness.run(3.0)
    harness.servo.park(harness.now)
    before = len(harness.arm.sent)
    harness.run(1.0)
    harness.set_target(RAISED)
    report = harness.run(3.5)
    assert harness.servo.parked(report)
    np.testing.assert_allclose(harness.arm.body.angles, REST, atol=1e-3)
    steps = np.abs(np.diff(np.array(harness.arm.sent[before:]), axis=0)) / PERIOD
    assert steps.max() < 1.5 * SETTINGS.park_speed


def test_a_target_out_of_the_workspace_is_not_gone_to_and_counted():
    harness = Harness(Workspace(KINEMATICS))
    harness.resume()
    harness.set_target(RAISED, 2.0)
    harness.run(3.0)
    down = np.radians([0.0, 170.0, -60.0, 0.0, 0.0, 0.0])
    harness.set_target(down)
    harness.run(1.0)
    np.testing.assert_allclose(harness.arm.body.angles, RAISED, atol=1e-3)
    assert harness.servo.clamped == {"floor of the workspace": 1}
    assert Workspace(KINEMATICS).outside(REST) == ""


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_garbage_is_refused_and_the_way_goes_on(harness, bad):
    harness.set_target(RAISED, 2.0)
    for angles, gripper, seconds in ((RAISED * bad, 0.0, 0.1), (RAISED, bad, 0.1), (RAISED, 0.0, bad)):
        with pytest.raises(ValueError, match="not usable"):
            harness.servo.set_target(angles, gripper, harness.now, seconds)
    harness.run(3.0)
    np.testing.assert_allclose(harness.arm.body.angles, RAISED, atol=1e-3)


POSES = st.lists(st.floats(-1.0, 1.0), min_size=6, max_size=6)


@tried(25, 125)
@given(st.lists(st.tuples(POSES, st.booleans(), st.integers(1, 40)), min_size=2, max_size=6))
def test_whoever_takes_the_arm_from_whom_no_step_is_above_what_one_period_allows_and_it_begins_where_it_is(targets):
    """A hand-over as `ArmLink` has it: it comes to rest, and the next target may be anywhere."""
    harness = Harness()
    harness.resume()
    for shares, handed_over, periods in targets:
        harness.set_target(RAISED + np.array(shares))
        harness.run(periods * PERIOD)
        if handed_over:
            before = harness.arm.sent[-1].copy()
            harness.servo.halt("another one drives")
            assert np.abs(harness.servo.target - before).max() <= 0.2  # not where the one before was going
            harness.run(0.05)
    assert bounded(harness.arm.sent)


def test_an_arm_in_its_own_stop_is_sent_nothing_and_is_not_resumed_until_it_is_reset(harness):
    harness.set_target(RAISED, 0.5)
    harness.run(0.2)
    harness.arm.own_stop = "the arm's own emergency stop is set"
    report = harness.run(0.1)
    assert (report.mode, report.reason) == (Mode.BLOCKED, harness.arm.own_stop)
    sent = len(harness.arm.sent)
    harness.run(0.5)
    assert len(harness.arm.sent) == sent
    with pytest.raises(ArmError, match="not enabled: the arm's own emergency stop is set"):
        harness.servo.resume(harness.now)
    harness.arm.own_stop, harness.arm.body.powered[:] = "", False  # somebody has reset it
    assert harness.run(0.1).reason == "not enabled yet"
    assert len(harness.arm.sent) == sent
    harness.resume()
    harness.run(0.1)
    assert bounded(harness.arm.sent[sent:])


def test_a_stop_of_the_arms_own_outranks_why_it_was_blocked(harness):
    harness.arm.faults = ("collision",)
    harness.run(0.1)
    harness.arm.own_stop = "the arm was in teach mode"
    assert harness.run(0.1).reason == "the arm was in teach mode"
    sent = len(harness.arm.sent)
    harness.run(0.3)
    assert len(harness.arm.sent) == sent
