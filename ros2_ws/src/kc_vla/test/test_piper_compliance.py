"""A compliant Piper on the emulated bus: its MIT frames by firmware, and the way into the mode and out of it."""

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from emulated_piper import enable, running_emulator, wait_for
from hypothesis import given
from hypothesis import strategies as st
from piper import PIPER
from piper_sdk import C_PiperInterface_V2

from kc_vla.arm.emulator.arm import EmulatedArm
from kc_vla.arm.emulator.bus import INTERFACE
from kc_vla.arm.emulator.frames import Frame, FrameError, ModeCommand, MotorPower, Move, Stop, StopCode, read_command
from kc_vla.arm.emulator.mit_frames import MitFrame, read_mit, taken_apart
from kc_vla.arm.emulator.process import EmulatorProcess
from kc_vla.arm.interface import ArmError, Impedance
from kc_vla.arm.piper import PiperArm
from kc_vla.arm.piper_mit import encoding_of
from kc_vla.core.robot import load_robot

RAISED = np.radians([10.0, 80.0, -60.0, 0.0, 20.0, 5.0])
MIT_MODE = bytes([1, 4, 0, 0xAD, 0, 0, 0, 0])
FIRMWARES = ["S-V1.8-3", "S-V1.8-7", "S-V1.8-8", "S-V1.8-10"]


def impedance(angles: np.ndarray = RAISED, torques: np.ndarray | float = 0.0, stiffness: float = 50.0) -> Impedance:
    ones = np.ones(6)
    return Impedance(angles, 0.0 * ones, stiffness * ones, 2.0 * ones, torques * ones, 0.02)


@pytest.mark.parametrize("firmware", FIRMWARES)
@given(
    angle=st.floats(-20, 20), speed=st.floats(-60, 60), kp=st.floats(-5, 600), kd=st.floats(-9, 9), t=st.floats(-30, 30)
)
def test_what_is_sent_is_what_the_firmware_reads_cut_to_its_range(firmware, angle, speed, kp, kd, t):
    rows = (np.full(6, value) for value in (angle, speed, kp, kd, t))
    encoding = encoding_of(firmware)
    frames = encoding.frames(Impedance(*rows, gripper=0.0))
    assert [number for number, _ in frames] == list(range(0x15A, 0x160))
    for motor, (_, data) in enumerate(frames, 1):
        told = taken_apart(MitFrame(motor, data), firmware)
        assert told.angle == pytest.approx(np.clip(angle, -12.5, 12.5), abs=2e-4)
        assert told.speed == pytest.approx(np.clip(speed, -45, 45), abs=0.012)
        assert told.stiffness == pytest.approx(np.clip(kp, 0, 500), abs=0.07)
        assert told.damping == pytest.approx(np.clip(kd, 0, 5), abs=2e-3)
        most = 16.0 if firmware in FIRMWARES[2:] else 8.0
        assert told.torque == pytest.approx(np.clip(t, -most, most), abs=most / 200)


@given(st.floats(-12, 12), st.floats(-40, 40), st.floats(0, 500), st.floats(0, 5), st.floats(-8, 8))
def test_frames_of_eight_bits_are_those_of_the_vendors_sdk_but_for_its_rounding(angle, speed, kp, kd, torque):
    sent: list[tuple[int, bytes]] = []
    sdk = C_PiperInterface_V2("none", judge_flag=False, can_auto_init=False)

    class Bus:
        class CAN_STATUS:  # noqa: N801 (the SDK's name)
            SEND_MESSAGE_SUCCESS = 0

        def SendCanMessage(self, number, data):  # noqa: N802
            sent.append((number, bytes(data)))
            return 0

    sdk._C_PiperInterface_V2__arm_can = Bus()
    sdk.JointMitCtrl(2, angle, speed, kp, kd, torque)
    values = (np.full(6, value) for value in (angle, speed, kp, kd, torque))
    ours = encoding_of("S-V1.8-5").frames(Impedance(*values, gripper=0.0))[1]
    theirs = sent[-1]
    assert ours[0] == theirs[0]
    one, other = (taken_apart(MitFrame(2, data), "S-V1.8-5") for _, data in (ours, theirs))  # checksums are right
    for field, unit in (("angle", 4e-4), ("speed", 0.022), ("stiffness", 0.13), ("damping", 2.5e-3), ("torque", 0.063)):
        assert abs(getattr(one, field) - getattr(other, field)) <= unit


@pytest.mark.parametrize("firmware", ["", "S-V1.5-2", "S-V1.8-2", "S-V1.9-1", "S-V2.0-0", "H-V1.2-1"])
def test_a_firmware_whose_torques_are_not_known_is_refused(firmware):
    with pytest.raises(ArmError, match=f"the firmware '{firmware}' of the arm has no compliance"):
        encoding_of(firmware)


def powered_emulator(firmware: str = "S-V1.8-5", robot=PIPER) -> EmulatedArm:
    arm = EmulatedArm(robot, firmware)
    arm.body.angles = RAISED.copy()
    arm.receive(MotorPower((1, 2, 3, 4, 5, 6), True))
    return arm


def test_a_wrong_checksum_and_a_wrong_mode_are_not_obeyed():
    arm = powered_emulator()
    arm.receive(read_command(Frame(0x151, MIT_MODE)))
    number, data = encoding_of("S-V1.8-5").frames(impedance(torques=3.0))[0]
    broken = read_mit(Frame(number, data[:7] + bytes([data[7] ^ 1])))
    with pytest.raises(FrameError, match="checksum"):
        arm.receive(broken)
    assert arm.body.commands.torques[0] == 0.0
    arm.receive(read_mit(Frame(number, data)))
    assert arm.body.commands.torques[0] == pytest.approx(3.0, abs=0.04)
    for move, mit in ((Move.MIT_LATER, True), (Move.MIT, False)):
        with pytest.raises(FrameError, match="not the MIT mode"):
            arm.receive(ModeCommand(1, move, 0, mit=mit))


def test_frames_of_the_other_encoding_are_read_as_another_torque():
    """What the vendor warns of: this is why the firmware is looked at before a torque is sent."""
    (_, data), *_ = encoding_of("S-V1.8-5").frames(impedance(torques=1.0))
    assert abs(taken_apart(MitFrame(1, data), "S-V1.8-8").torque - 1.0) > 0.1
    assert taken_apart(MitFrame(1, data), "S-V1.8-2").torque == pytest.approx(4.0, abs=0.2)


def test_an_arm_out_of_its_range_does_not_enter_the_mode():
    arm = powered_emulator()
    arm.body.angles[1] = -0.05
    arm.receive(read_command(Frame(0x151, MIT_MODE)))
    assert arm.body.commands is None


def test_an_emulated_arm_without_inertias_has_no_such_mode():
    with pytest.raises(FrameError, match="MIT mode is not emulated"):
        powered_emulator(robot=load_robot("piper_h")).receive(ModeCommand(1, Move.MIT, 0, mit=True))


def test_in_the_mode_without_a_command_it_falls_and_a_stop_brakes_that() -> None:
    arm = powered_emulator()
    arm.receive(ModeCommand(1, Move.MIT, 0, mit=True))
    for _ in range(60):
        arm.step(0.005)
    fallen = np.abs(arm.body.angles - RAISED).max()
    assert fallen > 0.1
    arm.receive(Stop(StopCode.STOP, 0))
    assert arm.body.commands is None
    before = arm.body.angles.copy()
    for _ in range(60):
        arm.step(0.005)
    assert np.abs(arm.body.angles - before).max() < fallen


@contextmanager
def raised(path: Path, firmware: str = "S-V1.8-5") -> Iterator[tuple[PiperArm, EmulatorProcess]]:
    """A Piper that holds with power at `RAISED`."""
    with running_emulator(path, firmware=firmware) as emulator:
        emulator.faults.ask("supported")
        emulator.arm.body.angles = RAISED.copy()
        arm = PiperArm(PIPER, str(path), INTERFACE, patience=10.0)
        arm.connect()
        try:
            enable(arm)
            emulator.faults.ask("none")
            yield arm, emulator
        finally:
            arm.close()


def until(condition: Callable[[], bool], do: Callable[[], None]) -> None:
    def done() -> bool:
        do()
        return condition()

    wait_for(done)


@pytest.mark.parametrize("firmware", ["S-V1.8-5", "S-V1.8-8"])
def test_it_enters_the_mode_is_held_by_springs_and_leaves_it_where_it_is(bus_path, firmware):
    with raised(bus_path, firmware) as (arm, emulator):
        assert arm.torque_limits()[0] == (8.0 if firmware == "S-V1.8-5" else 16.0)
        assert not arm.read_state().impedance
        until(lambda: arm.read_state().impedance, lambda: arm.set_impedance(impedance(stiffness=400.0)))
        assert not emulator.misunderstood
        until(
            lambda: abs(emulator.arm.body.commands.torques[1] - 2.5) < 0.05,
            lambda: arm.set_impedance(impedance(torques=2.5, stiffness=400.0)),
        )
        np.testing.assert_allclose(emulator.arm.body.angles, RAISED, atol=0.05)
        at = arm.read_state().angles
        until(lambda: not arm.read_state().impedance, lambda: arm.set_target(at, 0.02))
        assert emulator.arm.body.commands is None
        np.testing.assert_allclose(emulator.arm.body.angles, at, atol=0.02)
        assert arm.read_state().in_command_mode
        assert emulator.watch.disabled_raised == 0


def test_a_third_of_all_frames_lost_does_not_leave_it_in_between(bus_path):
    with raised(bus_path) as (arm, emulator):
        emulator.faults.ask("loss 0.3")
        until(lambda: arm.read_state().impedance, lambda: arm.set_impedance(impedance(stiffness=400.0)))
        at = arm.read_state().angles
        until(lambda: emulator.arm.body.commands is None, lambda: arm.set_target(at, 0.02))
        np.testing.assert_allclose(emulator.arm.body.angles, at, atol=0.05)


def test_an_arm_that_a_killed_process_left_in_the_mode_follows_angles_again(bus_path):
    with raised(bus_path) as (arm, _):
        until(lambda: arm.read_state().impedance, lambda: arm.set_impedance(impedance(stiffness=400.0)))
        next_one = PiperArm(PIPER, str(bus_path), INTERFACE, patience=10.0)
        next_one.connect()
        try:
            at = next_one.read_state().angles
            until(lambda: not next_one.read_state().impedance, lambda: next_one.set_target(at, 0.02))
        finally:
            next_one.close()


def test_garbage_and_angles_out_of_range_are_not_sent(bus_path):
    with raised(bus_path) as (arm, emulator):
        for angles, torques in ((RAISED + 10.0, 0.0), (np.full(6, np.nan), 0.0), (RAISED, np.nan)):
            with pytest.raises(ValueError, match=r"angles and an opening|out of its range|not finite"):
                arm.set_impedance(impedance(angles, torques))
        assert emulator.arm.body.commands is None


def test_another_program_that_sends_torques_is_a_fault(bus_path):
    import can

    from kc_vla.arm.emulator.bus import SocketBus

    with raised(bus_path) as (arm, _), SocketBus(str(bus_path)) as other:
        data = struct.pack(">Q", 0)
        until(
            lambda: any("another program" in fault for fault in arm.read_state().faults),
            lambda: other.send(can.Message(arbitration_id=0x15B, data=data, is_extended_id=False)),
        )
