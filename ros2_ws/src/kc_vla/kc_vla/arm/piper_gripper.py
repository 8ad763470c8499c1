"""What the gripper of a Piper reports of itself, in words that an operator understands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kc_vla.arm.piper_link import PiperLink

FRAME = 0x2A8
ANSWERS_S = 1.0
"""How long a gripper may take to answer a question, s."""
LOST_S = 0.5
"""Without a frame of the gripper for so long, s, it counts as lost; 200 come in a second."""
_ONE_ENABLING_S = 0.5
"""Calls to enable the arm that are no further apart than this belong together, s."""
NOT_HOMED = "the gripper does not know its zero, so that its widths may be wrong"
_FAULTS = {
    "driver_overcurrent": "took too much current: look what its fingers press on",
    "motor_overheating": "motor is too hot: let it cool down",
    "driver_overheating": "driver is too hot: let it cool down",
    "voltage_too_low": "supply voltage is too low: look at the arm's supply",
    "sensor_status": "sensor fails: switch the arm off and on",
    "driver_error_status": "driver reports an error: look at its cable",
}
"""What a bit of its status means, by the SDK's name, behind "the gripper" or "the gripper's"; the first counts."""


@dataclass(frozen=True)
class GripperReport:
    """What a gripper reports.

    Attributes:
        age: time since its latest frame, s; infinite if none came.
        width: between its fingers, m.
        effort: N m.
        enabled: whether it has power.
        homed: whether it knows its zero.
        errors: names of its errors, as the SDK has them.
    """

    age: float
    width: float
    effort: float
    enabled: bool
    homed: bool
    errors: tuple[str, ...]

    def in_words(self) -> str:
        """Return how it is, for the diagnostics."""
        if not self.there:
            return "does not answer"
        if self.errors:
            return _in_words(self.errors[0])
        return f"{'on' if self.enabled else 'off'}{'' if self.homed else ', does not know its zero'}"

    @property
    def there(self) -> bool:
        """Return whether it answers."""
        return self.age < LOST_S


def gripper_of(link: PiperLink) -> GripperReport:
    """Return the latest report of the gripper on a line."""
    state = link.GetArmGripperMsgs().gripper_state
    status = state.foc_status
    return GripperReport(
        age=link.since(FRAME),
        width=state.grippers_angle * 1e-6,
        effort=state.grippers_effort * 1e-3,
        enabled=bool(status.driver_enable_status),
        homed=bool(status.homing_status),
        errors=tuple(name for name in _FAULTS if getattr(status, name)),
    )


class GripperWatch:
    """What is wrong with a gripper, from one enabling of the arm to the next.

    A gripper that never answered is none. One that is lost blocks the arm once: a person who enables the arm then knows
    of it, and the arm can be parked without it.
    """

    def __init__(self) -> None:
        self._missed = True  # it was there since the arm was enabled last, or it need not be
        self._asked_at = -np.inf

    def begin(self, report: GripperReport, now: float) -> bool:
        """Take note that the arm is asked to enable, as often as it is; return whether an error is to be cleared now.

        Args:
            report: latest report of the gripper.
            now: steady time, s.
        """
        begins = now - self._asked_at > _ONE_ENABLING_S
        self._asked_at = now
        if not report.there:
            self._missed = False
        return begins and bool(report.errors) and report.there

    def faults(self, report: GripperReport, age: float) -> tuple[str, ...]:
        """Return what is wrong, in words; empty if nothing is.

        Args:
            report: latest report of the gripper.
            age: time since the state of the arm itself, s: where nothing comes at all, the gripper is not to blame.
        """
        if report.there:
            self._missed = True
            return tuple(_in_words(name) for name in report.errors[:1])
        if not self._missed or not np.isfinite(report.age) or report.age - age < LOST_S:
            return ()
        return ("nothing comes from the gripper any more: look at its cable; what it held may have fallen",)


def _in_words(name: str) -> str:
    words = _FAULTS[name]
    return f"the gripper {words}" if words.startswith("took") else f"the gripper's {words}"
