"""A gripper out of its box: it is noticed, and `kc-vla setup piper` sets its stroke once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from emulated_piper import enable, running_emulator, wait_for
from piper import PIPER, REST, UNHURRIED

from kc_vla.arm.claim import claim
from kc_vla.arm.emulator.arm import EmulatedArm
from kc_vla.arm.emulator.bus import INTERFACE
from kc_vla.arm.emulator.frames import Frame, FrameError, GripperTarget
from kc_vla.arm.emulator.process import EmulatorProcess
from kc_vla.arm.emulator.setting_frames import read_setting
from kc_vla.arm.piper import PiperArm
from kc_vla.arm.scheduling import control_periods
from kc_vla.arm.servo import Servo
from kc_vla.arm.servo_modes import Mode, Report
from kc_vla.arm.workspace import Workspace
from kc_vla.cli import main


@pytest.mark.parametrize("data", [[99, 70, 1], [100, 71, 1], [100, 70, 0], [100, 70, 11]])
def test_the_emulator_refuses_a_setting_that_there_is_not(data: list[int]) -> None:
    with pytest.raises(FrameError, match="one of 0, 70 and 100"):
        read_setting(Frame(0x47D, bytes([*data, 0, 0, 0, 0, 0])))


def test_a_gripper_without_a_stroke_does_not_move() -> None:
    arm = EmulatedArm(PIPER)
    arm.gripper.setting = type(arm.gripper.setting)(100, 0, 1)
    arm.receive(GripperTarget(50_000, 1_000, 1, False))
    for _ in range(200):
        arm.step(0.005)
    assert arm.gripper.width == 0.0


def test_a_new_gripper_is_noticed_set_up_once_and_then_moves(
    bus_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def connected() -> PiperArm:
        arm = PiperArm(PIPER, str(bus_path), INTERFACE, patience=10.0)
        arm.connect()
        return arm

    with running_emulator(bus_path) as emulator:
        emulator.faults.ask("new_gripper")
        arm = connected()
        arm.close()
        (warning,) = arm.warnings
        assert warning.startswith("the stroke of the gripper is not set, so that it reports a width of 0")
        assert f"'kc-vla setup piper {bus_path} --do'" in warning

        assert main(["setup", "piper", str(bus_path)]) == 0
        told = capsys.readouterr().out
        assert "the stroke of the gripper is not set, so that it reports a width of 0 and does not move\n" in told
        assert "to be sent: frame 0x47D, a stroke of 70 mm; the arm keeps it, and nothing moves" in told
        assert "nothing was done: --do does it, after asking" in told
        assert emulator.arm.gripper.setting.stroke == 0

        assert main(["setup", "piper", str(bus_path), "--yes"]) == 0
        assert "done: the arm reports a stroke of 70 mm" in capsys.readouterr().out
        assert main(["setup", "piper", str(bus_path), "--do"]) == 0  # nothing to do: it does not ask
        assert "stroke of the gripper: 70 mm" in capsys.readouterr().out

        arm = connected()
        assert arm.warnings == ()
        enable(arm)
        arm.set_target(np.clip(REST, arm.limits.lowest, arm.limits.highest), 0.05)
        wait_for(lambda: arm.read_state().gripper > 0.045)
        arm.close()
        assert emulator.misunderstood == []


def test_an_arm_that_a_controller_has_is_left_alone(bus_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = claim(str(bus_path))
    try:
        assert main(["setup", "piper", str(bus_path), "--yes"]) == 1
    finally:
        name.close()
    assert "another controller has the arm" in capsys.readouterr().err


def test_without_an_arm_one_line_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["setup", "piper", "/no/such/bus"]) == 1
    assert "no CAN bus '/no/such/bus'" in capsys.readouterr().err


@pytest.fixture
def arm(emulator: EmulatorProcess, bus_path: Path) -> Iterator[PiperArm]:
    arm = PiperArm(PIPER, str(bus_path), INTERFACE, patience=10.0, load="half", mount="upright", gripper_effort=0.4)
    arm.connect()
    yield arm
    arm.close()


def closed_on(arm: PiperArm, emulator: EmulatorProcess, width: float) -> None:
    """Enable the arm, and close the fingers on a thing of that width, m."""
    enable(arm)
    arm.set_target(REST, 0.06)
    wait_for(lambda: arm.read_state().gripper > 0.055)
    emulator.faults.ask(f"between {width}")
    arm.set_target(REST, 0.0)
    wait_for(lambda: emulator.arm.gripper.gripping)


def test_the_effort_the_load_and_the_mount_of_the_robot_file_are_sent(arm: PiperArm, emulator: EmulatorProcess) -> None:
    closed_on(arm, emulator, 0.04)
    assert (emulator.arm.gripper.gripping, emulator.arm.load, emulator.arm.mount) == (400, 1, 1)
    assert arm.diagnostics()["gripper"] == "on"
    emulator.faults.ask("between 0.0")  # it slips out: the fingers close, below the width of the thing
    wait_for(lambda: arm.read_state().gripper < 0.002)
    assert emulator.misunderstood == []


def test_an_error_of_the_gripper_blocks_the_arm_and_is_cleared_once_when_a_person_resumes(
    arm: PiperArm, emulator: EmulatorProcess
) -> None:
    closed_on(arm, emulator, 0.04)
    servo = Servo(arm, UNHURRIED, Workspace(arm.kinematics))
    stepped(servo, Mode.HOLD)
    emulator.faults.ask("gripper_current")
    report = stepped(servo, Mode.BLOCKED)
    assert report.reason == "the gripper took too much current: look what its fingers press on"
    assert emulator.arm.body.powered.all()
    report = stepped(servo, Mode.HOLD)
    assert report.state.gripper_faults == ()
    assert emulator.arm.gripper.width == pytest.approx(0.04, abs=1e-3)  # nothing was released
    assert emulator.arm.gripper.clears == 1


def test_a_gripper_that_is_lost_blocks_the_arm_once_and_does_not_keep_it_from_being_parked(
    arm: PiperArm, emulator: EmulatorProcess
) -> None:
    enable(arm)
    servo = Servo(arm, UNHURRIED, Workspace(arm.kinematics))
    stepped(servo, Mode.HOLD)
    emulator.faults.ask("gripper_lost")
    report = stepped(servo, Mode.BLOCKED)
    assert report.reason.startswith("nothing comes from the gripper any more: look at its cable")
    assert arm.diagnostics()["gripper"] == "does not answer"
    stepped(servo, Mode.HOLD)
    emulator.faults.ask("none")
    wait_for(lambda: arm.diagnostics()["gripper"] != "does not answer")
    emulator.faults.ask("gripper_lost")
    stepped(servo, Mode.BLOCKED)


def test_what_a_gripper_and_the_collision_levels_lack_is_said_at_start(bus_path: Path) -> None:
    with running_emulator(bus_path) as emulator:
        emulator.faults.ask("gripper_unhomed")
        emulator.faults.ask("unprotected")
        arm = PiperArm(PIPER, str(bus_path), INTERFACE, patience=10.0)
        arm.connect()
        arm.close()
    unhomed, blind = arm.warnings
    assert unhomed.startswith("the gripper does not know its zero, so that its widths may be wrong: end this, and run")
    assert blind.startswith("the collision level of all joints is 0: the arm detects no collision: a person in its way")


def stepped(servo: Servo, mode: Mode) -> Report:
    """Step a servo until it is in a mode; a person resumes it where it is blocked and another mode is wanted."""
    for number, (now, _) in enumerate(control_periods(0.005)):
        report = servo.step(now)
        if report.mode is mode:
            return report
        if report.mode is Mode.BLOCKED:
            servo.resume(now)
        assert number < 4000, report
    raise AssertionError
