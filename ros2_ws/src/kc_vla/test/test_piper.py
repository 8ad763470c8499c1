"""The Piper's driver with the vendor's SDK, on the emulated arm."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import can
import numpy as np
import pytest
from emulated_piper import enable, running_emulator, wait_for
from piper import KINEMATICS, LIMITS, OLDER, PIPER, REST

from kc_vla.arm.emulator.bus import INTERFACE, BusServer, SocketBus
from kc_vla.arm.interface import ArmError
from kc_vla.arm.piper import PiperArm
from kc_vla.arm.piper_models import require_model
from kc_vla.arm.servo import Servo
from kc_vla.arm.servo_modes import ServoSettings
from kc_vla.arm.workspace import Workspace
from kc_vla.core.robot import load_robot

RAISED = np.radians([10.0, 60.0, -40.0, 0.0, 20.0, 5.0])


@pytest.fixture
def arm(emulator, bus_path) -> Iterator[PiperArm]:
    with connected(bus_path) as arm:
        yield arm


@contextmanager
def connected(bus_path) -> Iterator[PiperArm]:
    arm = PiperArm(PIPER, str(bus_path), INTERFACE, patience=10.0)
    arm.connect()
    try:
        yield arm
    finally:
        arm.close()


def at(arm: PiperArm, angles: np.ndarray) -> Callable[[], bool]:
    return lambda: bool((np.abs(arm.read_state().angles - angles) < 1e-3).all())


def test_connecting_moves_nothing_gives_no_power_and_learns_the_limits(arm, emulator):
    assert not emulator.arm.body.powered.any()
    np.testing.assert_allclose(emulator.arm.body.angles, REST, atol=1e-3)
    np.testing.assert_allclose(np.degrees(arm.limits.highest), [150, 180, 0, 100, 70, 120], atol=0.1)
    assert arm.read_state().age < 1.0
    assert arm.firmware == "S-V1.8-5"
    np.testing.assert_array_equal(arm.kinematics.links.origins, KINEMATICS.links.origins)


def test_an_older_firmware_has_another_zero_pose(bus_path):
    with running_emulator(bus_path, firmware="S-V1.6-2"), connected(bus_path) as arm:
        assert arm.firmware == "S-V1.6-2"
        np.testing.assert_array_equal(arm.kinematics.links.origins, OLDER.links.origins)


def test_the_narrower_limits_count(bus_path):
    own = replace(LIMITS, highest=np.radians([90.0, 180, 0, 100, 70, 180]))
    with running_emulator(bus_path, replace(PIPER, limits=own)), connected(bus_path) as arm:
        np.testing.assert_allclose(np.degrees(arm.limits.highest), [90, 180, 0, 100, 70, 120], atol=0.1)


@pytest.mark.parametrize("model", ["piper", "piper_h", "piper_l", "piper_x"])
def test_the_model_is_told_by_the_limits_of_the_wrist(bus_path, model):
    with running_emulator(bus_path, load_robot(model)), connected(bus_path) as arm:
        require_model(arm.told_limits, load_robot(model))
        for other in {"piper", "piper_h", "piper_l", "piper_x"} - {model}:
            with pytest.raises(ArmError, match=f"limits of a {model}, and the robot is {other}: say robot:={model}"):
                require_model(arm.told_limits, load_robot(other))


def test_limits_that_a_person_has_narrowed_are_no_other_model():
    require_model(replace(LIMITS, highest=LIMITS.highest - 0.1), PIPER)


def test_it_enables_in_place_goes_where_it_is_sent_and_lets_go(arm, emulator):
    enable(arm)
    np.testing.assert_allclose(emulator.arm.body.angles, REST, atol=1e-3)
    arm.set_target(RAISED, 0.05)
    wait_for(at(arm, RAISED))
    wait_for(lambda: abs(arm.read_state().gripper - 0.05) < 1e-3)
    arm.set_target(REST, 0.0)
    wait_for(at(arm, REST))
    arm.disable()
    wait_for(lambda: not arm.read_state().powered.any())
    assert not emulator.arm.body.powered.any()


def test_what_the_fingers_press_on_is_reported_as_torque(arm, emulator):
    enable(arm)
    arm.set_target(REST, 0.06)
    wait_for(lambda: arm.read_state().gripper > 0.055)
    assert arm.read_state().efforts[-1] == 0.0
    emulator.faults.ask("between 0.04")
    arm.set_target(REST, 0.0)
    wait_for(lambda: arm.read_state().efforts[-1] > 0.5)
    assert arm.read_state().gripper == pytest.approx(0.04, abs=1e-3)
    assert arm.read_state().efforts.shape == (7,)


@pytest.mark.parametrize(
    ("angles", "gripper"),
    [(RAISED * np.nan, 0.0), (RAISED[:5], 0.0), (RAISED + 10.0, 0.0), (RAISED, np.inf)],
    ids=["not finite", "five joints", "out of range", "gripper"],
)
def test_garbage_is_refused_and_nothing_is_sent(arm, emulator, angles, gripper):
    enable(arm)
    with pytest.raises(ValueError, match="target"):
        arm.set_target(angles, gripper)
    time.sleep(0.1)
    np.testing.assert_allclose(emulator.arm.body.targets, REST, atol=1e-3)


def test_after_an_emergency_stop_it_is_not_enabled_by_itself(arm, emulator, bus_path):
    enable(arm)
    with SocketBus(str(bus_path)) as other:
        other.send(can.Message(arbitration_id=0x150, data=bytes([1, *bytes(7)]), is_extended_id=False))
    wait_for(lambda: arm.read_state().faults == ("emergency stop",))
    servo = Servo(arm, ServoSettings(), Workspace(arm.kinematics))
    with pytest.raises(
        ArmError, match=r"not enabled: the arm.s own emergency stop is set \(by another program on the bus\)"
    ):
        servo.resume(0.0)


def test_silence_is_seen_in_the_age(arm, emulator):
    emulator.bus.cut()
    wait_for(lambda: arm.read_state().age > 0.4)


def test_an_absent_bus_and_a_silent_one_are_told(tmp_path, bus_path):
    with pytest.raises(ArmError, match=r"no CAN bus '.*nowhere'"):
        PiperArm(PIPER, str(tmp_path / "nowhere"), INTERFACE).connect()
    server = BusServer(bus_path)
    arm = PiperArm(PIPER, str(bus_path), INTERFACE, patience=0.3)
    for _ in range(2):  # and nothing is left of the first try
        with pytest.raises(ArmError, match="no arm answers"):
            arm.connect()
    server.close()


def test_a_bus_that_was_lost_is_opened_again_and_nothing_is_sent(arm, emulator):
    enable(arm)
    arm.set_target(RAISED, 0.0)
    wait_for(at(arm, RAISED))
    emulator.bus.cut()
    wait_for(lambda: arm.read_state().age > 0.3)

    def there() -> bool:
        arm.reconnect()
        return arm.read_state().age < 0.1

    wait_for(there)
    np.testing.assert_allclose(arm.read_state().angles, RAISED, atol=1e-3)
    np.testing.assert_allclose(emulator.arm.body.targets, RAISED, atol=1e-3)
    assert emulator.arm.body.powered.all()


def test_another_program_that_commands_the_arm_is_seen(arm, bus_path):
    enable(arm)
    assert arm.read_state().faults == ()
    with SocketBus(str(bus_path)) as other:
        other.send(can.Message(arbitration_id=0x155, data=bytes(8), is_extended_id=False))
    wait_for(lambda: arm.read_state().faults == ("another program commands the arm: end it",))
