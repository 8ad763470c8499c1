"""Faults that are asked of the emulated Piper reach the driver as those of a real one would."""

import numpy as np
import pytest
from emulated_piper import enable, wait_for
from nightly import at_night
from piper import PIPER

from kc_vla.arm.can_health import BusState
from kc_vla.arm.emulator.arm import EmulatedArm
from kc_vla.arm.emulator.bus import INTERFACE
from kc_vla.arm.emulator.faults import FaultError, Faults
from kc_vla.arm.emulator.frames import JointTarget, MotorPower
from kc_vla.arm.emulator.watch import Watch
from kc_vla.arm.piper import PiperArm


@pytest.fixture
def arm(emulator, bus_path):
    arm = PiperArm(PIPER, str(bus_path), INTERFACE, patience=10.0)
    arm.connect()
    enable(arm)
    yield arm
    arm.close()


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        ("collision 2", lambda state: "collision" in state.faults),
        ("hot 4", lambda state: "joint 4: motor overheating" in state.faults),
        ("unpowered 5", lambda state: state.powered.tolist() == [True, True, True, True, False, True]),
        ("teach", lambda state: not state.in_command_mode),
        ("silence", lambda state: state.age > 0.2),
        *at_night(("unplugged 30", lambda state: state.age > 0.2 and "is gone: put the adapter back" in state.line)),
        ("bus_off 30", lambda state: state.age > 0.2 and "the bus is off after too many errors" in state.line),
    ],
)
def test_the_driver_sees_it(arm, emulator, fault, seen):
    assert not seen(arm.read_state())
    emulator.faults.ask(fault)
    wait_for(lambda: seen(arm.read_state()))


@pytest.mark.parametrize("fault", ["unplugged 2", "bus_off 2"])
def test_a_bus_that_comes_back_is_joined_again_and_the_errors_are_counted(arm, emulator, fault):
    emulator.faults.ask(fault)
    wait_for(lambda: arm.read_state().age > 0.2 and arm.health.state in (BusState.GONE, BusState.OFF))

    def there() -> bool:
        arm.reconnect()
        return arm.read_state().age < 0.1

    wait_for(there)
    assert arm.read_state().powered.all()
    assert arm.read_state().line == ""
    assert arm.health.state is BusState.ACTIVE
    assert arm.health.error_frames == (4 if "bus_off" in fault else 0)


def test_a_fifth_of_the_frames_lost_is_not_silence(arm, emulator):
    emulator.faults.ask("loss 0.2")
    ages = []
    wait_for(lambda: ages.append(arm.read_state().age) or len(ages) > 50)
    assert sorted(ages)[len(ages) // 2] < 0.1  # the longest is how long this process had to wait for a processor


def test_late_frames_come_late_and_in_order():
    faults = Faults(EmulatedArm(PIPER))
    faults.ask("delay 0.1")
    frames = list(EmulatedArm(PIPER).fast_feedback())
    assert faults.pass_on(frames) == []
    came = []
    wait_for(lambda: came.extend(faults.pass_on([])) or came)
    assert came == frames


def test_all_is_well_again_after_none():
    arm = EmulatedArm(PIPER)
    faults = Faults(arm)
    for fault in ("loss 1", "bus_off 30", "stuck 1", "unpowered 2", "collision 3", "hot 2", "teach", "silence"):
        faults.ask(fault)
    faults.ask("none")
    while faults.pass_on([]):
        pass  # what the bus still tells of itself
    assert not (arm.body.stuck | arm.dead | arm.collision).any()
    assert arm.heat.max() < 50
    assert arm.teach == 0
    assert len(faults.pass_on(arm.fast_feedback())) == len(list(arm.fast_feedback()))


@pytest.mark.parametrize(
    "text", ["", "fire", "loss", "loss 2", "stuck 7", "stuck 1.5", "delay x", "bus_off nan", "teach 3"]
)
def test_a_fault_that_does_not_exist_is_told(text):
    with pytest.raises(FaultError, match=r"must follow|no fault|joints are|nothing follows"):
        Faults(EmulatedArm(PIPER)).ask(text)


def test_the_watch_counts_what_a_real_arm_would_not_forgive():
    arm = EmulatedArm(PIPER)
    watch = Watch(arm)
    watch.command(MotorPower((1, 2, 3, 4, 5, 6), on=True))
    arm.receive(MotorPower((1, 2, 3, 4, 5, 6), on=True))
    watch.command(JointTarget(0, (1000, 2000)))
    watch.command(JointTarget(0, (1000, 200_000)))
    assert (watch.commands, watch.out_of_limits) == (2, 1)
    assert watch.largest_step == pytest.approx(np.radians(198.0))
    watch.command(MotorPower((1, 2, 3, 4, 5, 6), on=False))
    assert watch.disabled_raised == 0
    arm.body.angles[1] = 1.0
    watch.command(MotorPower((1, 2, 3, 4, 5, 6), on=False))
    assert watch.disabled_raised == 1
    assert "1 times disabled while raised" in str(watch)
