"""A compliant arm, with friction: it stays where it is left, follows a hand, and never falls, jumps or runs away."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried
from piper import HIGHEST, KINEMATICS, LOWEST, PIPER
from soft_arm import SETTINGS, WORKSPACE, SoftArm, SoftHarness

from kc_vla.arm.compliance import compliance_of
from kc_vla.arm.compliant_servo import CompliantServo
from kc_vla.arm.dynamics import ArmDynamics
from kc_vla.arm.interface import ArmError, Impedance
from kc_vla.arm.offsets import Offsets, offset_arm
from kc_vla.arm.servo_modes import Mode
from kc_vla.arm.set_points import RefusedSetPointError, SetPointGuard
from kc_vla.core.inertia import read_inertia
from kc_vla.core.robot import Vector, load_robot

RAISED = np.radians([10.0, 80.0, -60.0, 0.0, 20.0, 5.0])
LEVEL = np.radians([0.0, 110.0, -50.0, 0.0, 0.0, 0.0])
GAINS = PIPER.compliance
assert GAINS is not None
STAYS_M, SINKS_M_S, OUTSIDE_M = 0.003, 0.25, 0.08
"""How far a released arm moves, how fast one sinks with 0.5 kg too much, and how far it leaves its workspace."""
STOPS_RAD = 0.15
"""How far a joint goes on that was led at its full speed when the arm was stopped."""


def poses(margin: float = 0.03) -> st.SearchStrategy[Vector]:
    """Poses inside the workspace; some joints lie at an end of their range."""

    def drawn(seed: int) -> Vector:
        chance = np.random.default_rng(seed)
        while True:
            shares = chance.uniform(0.0, 1.0, 6)
            shares = np.where(chance.random(6) < 0.1, np.round(shares), shares)
            angles = LOWEST + shares * (HIGHEST - LOWEST)
            if (WORKSPACE.slack(angles) > margin).all():
                return np.asarray(angles)

    return st.integers(0, 2**32 - 1).map(drawn)


def flange(harness: SoftHarness) -> Vector:
    return np.asarray(KINEMATICS.flange(harness.arm.body.angles)[:3, 3])


def springs_are_set_points(harness: SoftHarness) -> None:
    """No spring was fixed further from the one before than a joint may be led, nor out of the limits."""
    springs = np.array(harness.arm.springs)
    entered = 4  # until the arm reports the mode, they are where it is measured
    assert np.abs(np.diff(springs[entered:], axis=0)).max() <= GAINS.speed.max() * SETTINGS.period + 1e-6
    assert ((springs >= LOWEST - 1e-6) & (springs <= HIGHEST + 1e-6)).all()


@tried(10, 200)
@given(angles=poses())
def test_released_anywhere_it_stays_there(angles: Vector) -> None:
    harness = SoftHarness(angles)
    harness.comply()
    begin = flange(harness)
    assert harness.run(0.5).mode is Mode.GUIDE
    assert np.linalg.norm(flange(harness) - begin) < STAYS_M
    assert harness.fastest < 0.05


@tried(8, 200)
@given(angles=poses(0.09), joint=st.integers(0, 5), share=st.floats(1.3, 2.5), sign=st.sampled_from([-1, 1]))
def test_it_follows_a_hand_and_stays_where_it_was_left(angles: Vector, joint: int, share: float, sign: int) -> None:
    harness = SoftHarness(angles)
    harness.comply()
    push = np.zeros(6)
    push[joint] = sign * (share * GAINS.hold[joint] + 0.6)
    before = harness.arm.body.angles.copy()
    harness.arm.push(push)
    harness.run(0.4)
    led = harness.arm.body.angles[joint] - before[joint]
    room = sign * ((HIGHEST if sign > 0 else LOWEST)[joint] - before[joint])
    assert sign * led > (0.5 * GAINS.give[joint] if room > GAINS.give[joint] else -1e-3)
    harness.arm.push(np.zeros(6))
    harness.run(0.5)
    left = harness.arm.body.angles.copy()
    harness.run(0.5)
    assert np.abs(harness.arm.body.angles - left).max() < 1e-3
    springs_are_set_points(harness)


@tried(6, 200)
@given(angles=poses(), known=st.booleans())
def test_a_payload_that_is_wrong_by_half_a_kilogram_is_survived(angles: Vector, known: bool) -> None:
    """Carried and not known it sinks; known and not carried it rises. Neither fast, and neither far out."""
    believed = replace(GAINS, payload=replace_mass(0.5 if known else 0.0))
    harness = SoftHarness(angles, robot=replace(PIPER, compliance=believed))
    harness.comply()
    harness.arm.carry(0.0 if known else 0.5)
    harness.run(1.5)
    speeds = np.abs(np.diff(harness.heights)) / SETTINGS.period
    assert speeds.max() < SINKS_M_S
    assert WORKSPACE.slack(harness.arm.body.angles).min() > -OUTSIDE_M
    assert harness.mode in (Mode.GUIDE, Mode.BLOCKED)
    assert harness.reports[-1].set_point is not None


def replace_mass(mass: float):
    return GAINS.payload._replace(mass=mass, center=(0.0, 0.0, 0.0))


@tried(8, 200)
@given(seconds=st.floats(0.0, 0.6), joint=st.integers(0, 2), how=st.sampled_from(["halt", "off", "fault", "stall"]))
def test_it_is_stopped_at_any_instant_where_it_is(seconds: float, joint: int, how: str) -> None:
    harness = SoftHarness(RAISED)
    harness.comply()
    push = np.zeros(6)
    push[joint] = 6.0
    harness.arm.push(push)
    harness.run(seconds)
    stopped = harness.arm.body.angles.copy()
    if how == "halt":
        harness.servo.halt("emergency stop")
    elif how == "off":
        harness.servo.stiffen("compliance was switched off")
    elif how == "stall":
        harness.now += 0.6
    else:
        harness.arm.faults = ("joint 2: too hot",)
    count = len(harness.arm.sent)
    harness.run(0.5)
    assert not harness.reports[-1].compliant
    assert harness.mode is (Mode.HOLD if how in ("halt", "off") else Mode.BLOCKED)
    first = harness.arm.sent[count]
    assert np.abs(first - stopped).max() < 0.01  # the first set-point is where the arm is
    assert np.abs(harness.arm.body.angles - stopped).max() < STOPS_RAD
    assert harness.arm.body.powered.all()


def test_an_arm_that_gets_no_more_commands_hangs_on_its_springs() -> None:
    """As when the process of the control loop is killed: nothing watches over the arm then but its own motors."""
    harness = SoftHarness(LEVEL)
    harness.comply()
    harness.arm.push(np.array([4.0, 0.0, 0.0, 0.0, 0.0, 0.0]))
    harness.run(0.5)
    harness.arm.push(np.zeros(6))
    for _ in range(50):
        harness.arm.pass_time(SETTINGS.period)
    left = flange(harness)
    for _ in range(400):
        harness.arm.pass_time(SETTINGS.period)
    assert np.linalg.norm(flange(harness) - left) < STAYS_M


def test_a_silent_arm_is_blocked_and_begins_again_where_it_is() -> None:
    harness = SoftHarness(LEVEL)
    harness.comply()
    harness.arm.age = 1.0
    harness.run(0.3)
    assert harness.mode is Mode.BLOCKED
    count = len(harness.arm.springs)
    harness.arm.push(np.array([9.0, 0.0, 0.0, 0.0, 0.0, 0.0]))
    harness.run(0.3)
    assert len(harness.arm.springs) == count  # what is sent to an arm that cannot be seen may be followed later
    assert harness.reports[-1].set_point is None
    harness.arm.age = 0.0
    harness.arm.push(np.zeros(6))
    harness.run(0.3)
    assert harness.mode is Mode.BLOCKED
    harness.servo.resume(harness.now)
    here, sent = harness.arm.body.angles.copy(), len(harness.arm.sent)
    harness.run(0.5)
    assert harness.mode is Mode.HOLD
    assert np.abs(harness.arm.sent[sent] - here).max() < 0.01
    assert not harness.arm.is_soft


@pytest.mark.parametrize("guides", [True, False])
def test_who_pushes_too_fast_gets_an_arm_that_holds_until_a_person_resumes_it(guides: bool) -> None:
    harness = SoftHarness(RAISED)
    harness.comply(guides)
    harness.arm.push(np.array([20.0, 0.0, 0.0, 0.0, 0.0, 0.0]))
    report = harness.run(1.5, lambda: not harness.reports[-1].compliant)
    assert (report.mode, report.compliant) == (Mode.BLOCKED, False)
    assert "compliance has ended: joint 1 turned at" in report.reason or "was pushed" in report.reason
    assert harness.fastest < 3.0
    springs_are_set_points(harness)
    harness.arm.push(np.zeros(6))
    harness.run(0.8)
    held = harness.arm.body.angles.copy()
    for _ in range(10):  # a policy that goes on: the hand is still at the arm
        harness.servo.set_target(RAISED, 0.02, harness.now, 0.1)
        harness.run(0.05)
    assert np.abs(harness.arm.body.angles - held).max() < 0.01
    harness.servo.resume(harness.now)
    harness.run(0.1)
    assert harness.mode is Mode.HOLD


@pytest.mark.parametrize("guides", [True, False])
def test_a_command_that_is_refused_ends_the_mode_for_good(guides: bool) -> None:
    harness = SoftHarness(RAISED)
    harness.comply(guides)
    harness.servo._gripper = np.nan
    assert harness.run(0.01).mode is Mode.BLOCKED
    assert not harness.reports[-1].compliant
    harness.servo.stiffen("compliance was switched off")  # which resumes nothing
    assert harness.run(0.05).mode is Mode.BLOCKED
    harness.servo.resume(harness.now)
    harness.run(0.2)
    assert (harness.mode, harness.reports[-1].compliant) == (Mode.HOLD, False)
    assert not harness.arm.is_soft


def test_an_arm_that_was_pushed_out_of_its_range_moves_on_a_persons_resume_alone() -> None:
    arm = SoftArm()
    top = RAISED[0] + 0.01  # a joint can go further than it may
    arm.limits = replace(arm.limits, highest=np.where(np.arange(6) == 0, top, arm.limits.highest))
    harness = SoftHarness(RAISED, arm)
    harness.comply()
    harness.arm.push(np.array([5.0, 0.0, 0.0, 0.0, 0.0, 0.0]))
    harness.run(1.0, lambda: harness.arm.body.angles[0] > top + 0.03)
    assert harness.mode is Mode.GUIDE
    harness.servo.halt("emergency stop")
    harness.arm.push(np.zeros(6))
    harness.run(0.3)
    harness.servo.set_target(RAISED, 0.02, harness.now, 1.0)
    report = harness.run(0.5)
    assert report.mode is Mode.BLOCKED
    assert "emergency stop; joint 1 is at" in report.reason
    assert harness.arm.body.angles[0] > top + 0.02
    harness.servo.resume(harness.now)
    harness.run(3.0, lambda: harness.mode is Mode.HOLD)
    assert harness.arm.body.angles[0] < top


def test_a_wall_stands_at_the_floor_and_gives_way_to_a_hand_that_leads_back() -> None:
    harness = SoftHarness(RAISED)
    harness.comply()
    harness.arm.push(np.array([0.0, 4.0, 0.0, 0.0, 0.0, 0.0]))
    harness.run(3.0)
    low = WORKSPACE.slack(harness.arm.body.angles).min()
    assert -0.05 < low < 0.01
    assert harness.mode is Mode.GUIDE
    harness.arm.push(np.array([0.0, -4.0, 0.0, 0.0, 0.0, 0.0]))
    harness.run(0.8)
    assert WORKSPACE.slack(harness.arm.body.angles).min() > low + 0.02


def test_it_is_not_led_to_where_its_motors_cannot_carry_it() -> None:
    """The torque of S-V1.8-3 to S-V1.8-7 does not carry a Piper that is stretched out."""
    bent = np.radians([0.0, 100.0, -90.0, 0.0, 0.0, 0.0])
    harness = SoftHarness(bent, SoftArm(most_torque=8.0))
    harness.comply()
    harness.arm.push(np.array([0.0, 4.0, 0.0, 0.0, 0.0, 0.0]))  # outwards
    harness.run(2.0)
    needed = ArmDynamics(KINEMATICS, read_inertia(PIPER)).gravity(harness.arm.springs[-1])
    assert 7.0 < np.abs(needed).max() <= 8.0 + 1e-6
    harness.arm.push(np.zeros(6))
    harness.run(1.0)
    assert harness.mode is Mode.GUIDE
    assert harness.arm.is_soft
    assert np.abs(harness.arm.body.speeds).max() < 1e-3


def test_an_arm_on_its_way_becomes_soft_without_a_jump() -> None:
    harness = SoftHarness(RAISED)
    harness.servo.set_target(RAISED + np.radians([40.0, 0.0, 0.0, 0.0, 0.0, 0.0]), 0.02, harness.now, 1.0)
    harness.run(0.6)
    assert harness.mode is Mode.FOLLOW
    harness.comply()
    at = harness.arm.body.angles.copy()
    harness.run(0.5)
    assert harness.mode is Mode.GUIDE
    assert np.abs(harness.arm.body.angles - at).max() < STOPS_RAD
    springs_are_set_points(harness)


def test_in_contact_it_follows_its_targets_and_presses_no_harder_than_it_may() -> None:
    harness = SoftHarness(RAISED)
    harness.comply(guides=False)
    assert harness.mode is Mode.HOLD
    to = RAISED + np.radians([15.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    harness.servo.set_target(to, 0.02, harness.now, 1.0)
    harness.run(1.5)
    assert harness.reports[-1].compliant
    np.testing.assert_allclose(harness.arm.body.angles, to, atol=0.02)
    harness.arm.body.stuck[0] = True  # an obstacle
    harness.servo.set_target(RAISED, 0.02, harness.now, 1.0)
    harness.run(1.0)
    commands = harness.arm.body.commands
    assert commands is not None
    pressed = commands.stiffness * (commands.angles - harness.arm.body.angles)
    assert abs(pressed[0]) == pytest.approx(GAINS.hold[0], abs=0.1)
    assert (np.abs(pressed) <= GAINS.hold + 1e-6).all()


def test_a_hand_that_leads_is_not_disturbed_by_targets_and_parking_ends_it() -> None:
    harness = SoftHarness(RAISED)
    harness.comply()
    harness.servo.set_target(LEVEL, 0.0, harness.now, 1.0)
    harness.run(1.0)
    assert harness.mode is Mode.GUIDE
    assert np.abs(harness.arm.body.angles - RAISED).max() < 0.02
    harness.servo.park(harness.now)
    harness.run(0.2)
    assert (harness.mode, harness.reports[-1].compliant) == (Mode.PARK, False)
    steps = np.abs(np.diff(np.array(harness.arm.sent[-20:]), axis=0))
    assert steps.max() <= SETTINGS.speed * SETTINGS.period + 1e-6


def test_it_does_not_begin_where_the_motors_cannot_carry_it_nor_while_blocked() -> None:
    harness = SoftHarness(LEVEL, SoftArm(most_torque=4.0))
    with pytest.raises(ArmError, match=r"joint 2 needs \d+\.\d N m to carry the arm here, and may have 4.0: bend"):
        harness.comply()
    assert harness.mode is Mode.HOLD
    harness.arm.faults = ("collision",)
    harness.run(0.1)
    with pytest.raises(ArmError, match="not compliant: the arm does this: blocked"):
        harness.servo.comply(harness.now, True)


def test_an_arm_that_does_not_enter_the_mode_holds_and_says_so() -> None:
    harness = SoftHarness(RAISED)
    harness.arm.set_impedance = lambda impedance: None  # type: ignore[method-assign]
    harness.servo.comply(harness.now, True)
    report = harness.run(1.2)
    assert (report.mode, report.compliant) == (Mode.BLOCKED, False)
    assert "does not enter its impedance mode" in report.reason


def test_a_calibrated_arm_is_compliant_in_true_angles() -> None:
    raw, off = SoftArm(), np.radians([1.0, -1.0, 0.5, 0.0, 0.0, 2.0])
    arm = offset_arm(raw, Offsets(off, PIPER.limits))
    raw.body.angles = RAISED - off
    servo = CompliantServo(arm, SETTINGS, WORKSPACE, PIPER)
    servo.resume(0.0)
    for k in range(20):
        servo.step(k * SETTINGS.period)
    servo.comply(0.1, True)
    servo.step(0.105)
    np.testing.assert_allclose(raw.springs[-1], RAISED - off, atol=1e-6)


@pytest.mark.parametrize(
    ("robot", "why"),
    [(load_robot("piper_h"), "no section 'compliance'"), (replace(load_robot("piper_h"), compliance=GAINS), "no mass")],
)
def test_an_arm_without_gains_or_inertias_has_no_such_mode(robot, why) -> None:
    with pytest.raises(ArmError, match=why):
        compliance_of(SoftArm(), robot, WORKSPACE, SETTINGS)
    harness = SoftHarness(RAISED, robot=robot)
    with pytest.raises(ArmError, match=f"not compliant: .*{why}"):
        harness.servo.comply(harness.now, True)
    assert harness.mode is Mode.HOLD


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"torques": np.full(6, 17.0)}, "17.0 N m for joint 1 is too much"),
        ({"torques": np.full(6, np.nan)}, "not usable"),
        ({"damping": np.full(6, -1.0)}, "not usable"),
        ({"angles": RAISED + 0.1}, "was not sent"),
        ({"angles": np.full(6, np.nan)}, "not usable"),
    ],
)
def test_garbage_is_not_sent(changed: dict[str, Vector], why: str) -> None:
    arm = SoftArm()
    arm.body.angles = RAISED.copy()
    guard = SetPointGuard(arm, np.ones(6), SETTINGS.period)
    guard.begin(RAISED)
    rows = {"angles": RAISED, "velocities": np.zeros(6), "stiffness": np.full(6, 50.0), "damping": np.ones(6)}
    with pytest.raises(RefusedSetPointError, match=why):
        guard.send_impedance(Impedance(**{**rows, "torques": np.zeros(6), "gripper": 0.0, **changed}))
    assert not arm.springs
