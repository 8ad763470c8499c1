"""The Piper's driver with the vendor's SDK, on the emulated arm."""

import time
from collections.abc import Callable, Iterator

import can
import numpy as np
import pytest
from emulated_piper import wait_for

from kc_vla.arm.emulator.bus import INTERFACE, BusServer, SocketBus
from kc_vla.arm.emulator.frames import MotorPower
from kc_vla.arm.interface import ArmError
from kc_vla.arm.piper import PiperArm
from kc_vla.arm.piper_limits import REST

RAISED = np.radians([10.0, 60.0, -40.0, 0.0, 20.0, 5.0])


@pytest.fixture
def arm(emulator, bus_path) -> Iterator[PiperArm]:
    arm = PiperArm(str(bus_path), INTERFACE, patience=10.0)
    arm.connect()
    yield arm
    arm.disconnect()


def at(arm: PiperArm, angles: np.ndarray) -> Callable[[], bool]:
    return lambda: bool((np.abs(arm.read().angles - angles) < 1e-3).all())


def test_connecting_moves_nothing_gives_no_power_and_learns_the_limits(arm, emulator):
    assert not emulator.arm.body.powered.any()
    np.testing.assert_allclose(emulator.arm.body.angles, REST, atol=1e-3)
    np.testing.assert_allclose(np.degrees(arm.limits.highest), [150, 180, 0, 100, 70, 120], atol=0.1)
    assert arm.read().age < 1.0
    assert (arm.firmware, arm.dh_is_offset) == ("S-V1.8-5", 1)


def test_an_older_firmware_has_another_zero_pose(emulator, bus_path, monkeypatch):
    monkeypatch.setattr("kc_vla.arm.emulator.arm.FIRMWARE", "S-V1.6-2")
    arm = PiperArm(str(bus_path), INTERFACE, patience=10.0)
    arm.connect()
    assert (arm.firmware, arm.dh_is_offset) == ("S-V1.6-2", 0)
    arm.disconnect()


def test_the_narrower_limits_count(emulator, bus_path, monkeypatch):
    monkeypatch.setattr("kc_vla.arm.emulator.arm.HIGHEST", np.radians([90.0, 180, 0, 100, 70, 180]))
    arm = PiperArm(str(bus_path), INTERFACE, patience=10.0)
    arm.connect()
    np.testing.assert_allclose(np.degrees(arm.limits.highest), [90, 180, 0, 100, 70, 120], atol=0.1)
    arm.disconnect()


def test_it_enables_in_place_goes_where_it_is_sent_parks_and_lets_go(arm, emulator):
    disabled_at = []
    power = emulator.arm._power

    def watch_power(command: MotorPower) -> None:
        power(command)
        if not command.on:
            disabled_at.append(emulator.arm.body.angles.copy())

    emulator.arm._power = watch_power
    arm.enable()
    np.testing.assert_allclose(emulator.arm.body.angles, REST, atol=1e-3)
    arm.command(RAISED, 0.05)
    wait_for(at(arm, RAISED))
    wait_for(lambda: abs(arm.read().gripper - 0.05) < 1e-3)
    arm.park()
    assert not emulator.arm.body.powered.any()
    np.testing.assert_allclose(disabled_at[0], REST, atol=0.05)


@pytest.mark.parametrize(
    ("angles", "gripper"),
    [(RAISED * np.nan, 0.0), (RAISED[:5], 0.0), (RAISED + 10.0, 0.0), (RAISED, np.inf)],
    ids=["not finite", "five joints", "out of range", "gripper"],
)
def test_garbage_is_refused_and_nothing_is_sent(arm, emulator, angles, gripper):
    arm.enable()
    with pytest.raises(ValueError, match="target"):
        arm.command(angles, gripper)
    time.sleep(0.1)
    np.testing.assert_allclose(emulator.arm.body.targets, REST, atol=1e-3)


def test_an_arm_that_does_not_reach_its_rest_keeps_its_power(arm, emulator):
    arm.enable()
    arm.command(RAISED, 0.0)
    wait_for(at(arm, RAISED))
    emulator.arm.body.stuck[1] = True
    arm._patience = 0.5
    with pytest.raises(ArmError, match="did not reach its rest pose and keeps its power"):
        arm.park()
    assert emulator.arm.body.powered.all()


def test_after_an_emergency_stop_it_is_not_enabled_by_itself(arm, emulator):
    arm.enable()
    arm.stop()
    wait_for(lambda: arm.read().faults == ("emergency stop",))
    with pytest.raises(ArmError, match="not enabled: emergency stop"):
        arm.enable()


def test_silence_is_seen_in_the_age_and_nothing_is_held_by_guess(arm, emulator):
    emulator.bus.cut()
    arm._patience = 0.3
    wait_for(lambda: arm.read().age > 0.4)
    with pytest.raises(ArmError, match="nothing has come from the arm"):
        arm.hold()


def test_an_absent_bus_and_a_silent_one_are_told(tmp_path, bus_path):
    with pytest.raises(ArmError, match=r"no CAN bus '.*nowhere'"):
        PiperArm(str(tmp_path / "nowhere"), INTERFACE).connect()
    server = BusServer(bus_path)
    arm = PiperArm(str(bus_path), INTERFACE, patience=0.3)
    for _ in range(2):  # and nothing is left of the first try
        with pytest.raises(ArmError, match="no arm answers"):
            arm.connect()
    server.close()


def test_a_bus_that_was_lost_is_opened_again_and_nothing_is_sent(arm, emulator):
    arm.enable()
    arm.command(RAISED, 0.0)
    wait_for(at(arm, RAISED))
    emulator.bus.cut()
    wait_for(lambda: arm.read().age > 0.3)
    wait_for(arm.reconnect)
    np.testing.assert_allclose(arm.read().angles, RAISED, atol=1e-3)
    np.testing.assert_allclose(emulator.arm.body.targets, RAISED, atol=1e-3)
    assert emulator.arm.body.powered.all()


def test_a_second_controller_of_the_same_arm_is_refused(arm, bus_path):
    with pytest.raises(ArmError, match="another controller has the arm"):
        PiperArm(str(bus_path), INTERFACE).connect()


def test_another_program_that_commands_the_arm_is_seen(arm, bus_path):
    arm.enable()
    assert arm.read().faults == ()
    with SocketBus(str(bus_path)) as other:
        other.send(can.Message(arbitration_id=0x155, data=bytes(8), is_extended_id=False))
    wait_for(lambda: arm.read().faults == ("another program commands the arm: end it",))
