"""An arm whose role changes or whose supply is cut blocks, says why, and moves again at a person's word alone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from emulated_piper import wait_for
from piper import PIPER, REST, UNHURRIED

from kc_vla.arm.emulator.bus import INTERFACE
from kc_vla.arm.emulator.process import EmulatorProcess
from kc_vla.arm.interface import ArmError
from kc_vla.arm.piper import PiperArm
from kc_vla.arm.scheduling import control_periods
from kc_vla.arm.servo import Servo
from kc_vla.arm.servo_modes import Mode, Report
from kc_vla.arm.workspace import Workspace


@pytest.fixture
def arm(emulator: EmulatorProcess, bus_path: Path) -> Iterator[PiperArm]:
    arm = PiperArm(PIPER, str(bus_path), INTERFACE, patience=10.0)
    arm.connect()
    yield arm
    arm.close()


def stepped(servo: Servo, mode: Mode) -> Report:
    """Step a servo until it is in a mode."""
    for number, (now, _) in enumerate(control_periods(0.005)):
        report = servo.step(now)
        if report.mode is mode:
            return report
        assert number < 4000, report
    raise AssertionError


def held(arm: PiperArm) -> Servo:
    """Return the servo of an arm that a person has enabled, and that holds."""
    servo = Servo(arm, UNHURRIED, Workspace(arm.kinematics))
    servo.resume(time.monotonic())
    stepped(servo, Mode.HOLD)
    return servo


def test_a_role_that_is_changed_by_a_pendant_blocks_the_arm_and_is_named(
    arm: PiperArm, emulator: EmulatorProcess, bus_path: Path
) -> None:
    servo = held(arm)
    emulator.faults.ask("leader")
    report = stepped(servo, Mode.BLOCKED)
    assert report.set_point is None or "another program commands the arm" in report.reason
    wait_for(lambda: arm.read_state().age > UNHURRIED.stale_after)
    assert servo.step(time.monotonic()).set_point is None  # nothing more is sent to it
    with pytest.raises(ArmError, match="it is a leader, or only a leader is on this bus") as refused:
        servo.resume(time.monotonic())
    assert f"'kc-vla setup piper {bus_path} --role follower --do'" in str(refused.value)
    with pytest.raises(ArmError, match=r"no arm answers on .* it is a leader"):
        PiperArm(PIPER, str(bus_path), INTERFACE, patience=1.0).connect()


def test_a_power_cut_blocks_the_arm_and_nothing_is_sent_when_it_returns(
    arm: PiperArm, emulator: EmulatorProcess
) -> None:
    servo = held(arm)
    emulator.faults.ask("power_cut 60")
    report = stepped(servo, Mode.BLOCKED)
    assert report.reason.startswith("nothing has come from the arm for")
    assert report.set_point is None
    before = emulator.watch.commands
    emulator.faults.ask("power_cut 0")
    wait_for(lambda: arm.read_state().age < 0.1 and not arm.read_state().powered.any())
    for number, (now, _) in enumerate(control_periods(0.005)):
        assert servo.step(now).mode is Mode.BLOCKED
        if number > 20:
            break
    assert emulator.watch.commands == before
    assert not emulator.arm.body.powered.any()
    servo.resume(time.monotonic())
    stepped(servo, Mode.HOLD)
    assert emulator.arm.body.powered.all()
    np.testing.assert_allclose(
        emulator.arm.body.angles, np.clip(REST, PIPER.limits.lowest, PIPER.limits.highest), atol=0.05
    )
    assert emulator.watch.disabled_raised == 0


def test_collision_level_0_hides_a_collision_and_a_level_reports_it(arm: PiperArm, emulator: EmulatorProcess) -> None:
    emulator.faults.ask("unprotected")
    emulator.faults.ask("collision 2")
    held(arm)
    assert arm.read_state().faults == ()
    emulator.arm.levels = (5,) * 6
    wait_for(lambda: "collision" in arm.read_state().faults)
