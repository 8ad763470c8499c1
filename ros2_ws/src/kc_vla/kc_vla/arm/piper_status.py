"""What the status of a Piper and of its motor drivers means, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kc_vla.arm.interface import COLLISION, JOINT_ERROR

STOPPED, TAUGHT = 1, (11, 12, 13)
"""What the arm's status says of its own stop, and of teach mode."""
_FOREIGN_S = 1.0
"""So long a command of another program is a fault, s."""
_STATUS_WORDS = {
    1: "emergency stop",
    2: "no solution for the target",
    3: "singularity",
    4: "target out of range",
    5: "a joint does not answer",
    6: "a brake is not released",
    7: COLLISION,
    8: "too fast while being led",
    9: JOINT_ERROR,
    **dict.fromkeys(TAUGHT, "teaching: release the teach button"),
    14: "the controller is too hot",
    15: "the brake resistor is too hot",
}
_DRIVER_FAULTS = ("voltage_too_low", "motor_overheating", "driver_overcurrent", "driver_overheating", "stall_status")


def status_words(status: int) -> str:
    """Return what a status of the arm means; empty if it is normal."""
    return _STATUS_WORDS.get(status, f"status {status}") if status else ""


def driver_faults(drivers: Sequence[Any]) -> tuple[str, ...]:
    """Return what is wrong with the motors, by the status that the SDK has of each."""
    return tuple(
        f"joint {number}: {kind.replace('_', ' ')}"
        for number, driver in enumerate(drivers, 1)
        for kind in _DRIVER_FAULTS
        if getattr(driver, kind)
    )


def faults_of(status: int, drivers: Sequence[Any], foreign: float) -> tuple[str, ...]:
    """Return all that is wrong with an arm.

    Args:
        status: status of the arm.
        drivers: status that the SDK has of each motor.
        foreign: time since a command of another program, s.
    """
    words = [status_words(status)] if status else []
    if foreign < _FOREIGN_S:
        words.append("another program commands the arm: end it")
    return (*words, *driver_faults(drivers))
