"""A gripper out of its box: it is noticed, and `kc-vla setup piper` sets its stroke once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from emulated_piper import enable, running_emulator, wait_for
from piper import PIPER, REST

from kc_vla.arm.claim import claim
from kc_vla.arm.emulator.arm import EmulatedArm
from kc_vla.arm.emulator.bus import INTERFACE
from kc_vla.arm.emulator.frames import Frame, FrameError, GripperTarget
from kc_vla.arm.emulator.setting_frames import read_setting
from kc_vla.arm.piper import PiperArm
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
        assert "stroke of the gripper: the stroke of the gripper is not set, so that it reports a width of 0" in told
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
