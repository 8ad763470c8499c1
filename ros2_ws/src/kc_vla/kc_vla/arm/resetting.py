"""Frees an arm from its own stop: which arm may be reset, and what a person has to know before."""

from __future__ import annotations

from kc_vla.arm.interface import ArmDriver, ArmError
from kc_vla.arm.servo import Servo


def reset(arm: ArmDriver, servo: Servo, supported: bool, stale_after: float) -> None:
    """Send the arm its reset, which cuts the power of its motors; `ArmDriver.read_state` tells what comes of it.

    Args:
        arm: that is connected.
        servo: that moves it; it sends nothing more until a person resumes.
        supported: a person says that the arm cannot fall.
        stale_after: age of the arm's state from which on it does not say where the arm is, s.

    Raises:
        ArmError: it is not reset; the text says why, what would happen, and what to do.
    """
    state = arm.read_state()
    if state.age > stale_after:
        raise ArmError(f"not reset: {state.line or 'nothing comes from the arm: look at its cable and its power'}")
    if not (state.own_stop or state.faults or not state.in_command_mode):
        raise ArmError("not reset: the arm reports no stop and no error of its own: call arm/resume")
    if servo.falls() and not supported:
        height = servo.height(state.angles)
        raise ArmError(
            f"not reset: the reset cuts the motors' power, and the arm FALLS from where it is (flange at {height:.2f} "
            "m). Have people support it, then call arm/reset with {supported: true}"
        )
    servo.go_mute()
    arm.reset()
