"""What is wrong with an arm, by what it reports of itself, in words; empty where nothing is."""

from __future__ import annotations

import numpy as np

from kc_vla.arm.interface import ArmState
from kc_vla.arm.outside import unbelievable
from kc_vla.arm.servo_modes import ServoSettings
from kc_vla.core.robot import JointLimits, Vector

NOW_S = 0.2
"""Age of a state, s, above which it does not say where the arm is now: the arm may have moved on."""


class Checks:
    """The checks of one arm in each control period."""

    def __init__(self, settings: ServoSettings, limits: JointLimits) -> None:
        self._settings, self._limits = settings, limits
        self._astray_since: float | None = None

    def is_lost(self, state: ArmState) -> bool:
        """Return whether the arm is silent or does not obey, so that the servo must send nothing."""
        return (
            state.age > self._settings.stale_after
            or not state.in_command_mode
            or bool(state.own_stop)
            or bool(unbelievable(state.angles, self._limits))
        )

    def not_to_begin(self, state: ArmState) -> str:
        """Return why no motion may begin."""
        return self._unwell(state) or state.doubt

    def trouble(self, state: ArmState) -> str:
        """Return why an arm that should hold or move does neither safely."""
        if trouble := self._unwell(state) or "; ".join(state.gripper_faults):
            return trouble
        if not state.powered.all():
            joint = int(np.flatnonzero(~state.powered)[0]) + 1
            return f"joint {joint} has no power: support the arm, then look at its driver"
        deaf = "the arm does not obey the bus: release its teach button, or call arm/reset"
        return "" if state.in_command_mode else state.line or deaf

    def stalled(self, seconds: float) -> str:
        """Return why the loop counts as stalled; empty if it does not.

        A loop that stood still knows nothing of what happened meanwhile: what waited for it looks old.
        """
        return f"its control loop stood still for {seconds:.1f} s" if seconds > self._settings.stalled_after else ""

    def begin(self) -> None:
        """Forget where joints strayed: the arm begins anew."""
        self._astray_since = None

    def strayed(self, state: ArmState, sent: Vector, now: float, far: float) -> str:
        """Return which joint has been further than `far`, rad, from where it was `sent` (N,), rad, for too long."""
        apart = np.abs(state.angles - sent)
        if apart.max() <= far or state.age > NOW_S:
            self._astray_since = None
            return ""
        self._astray_since = now if self._astray_since is None else self._astray_since
        if now - self._astray_since < self._settings.astray_after:
            return ""
        joint = int(apart.argmax())
        return (
            f"joint {joint + 1} is {np.degrees(apart[joint]):.0f} degrees from where it was sent: "
            "is something in its way, or does another program command the arm?"
        )

    def _silence(self, state: ArmState) -> str:
        if state.age <= self._settings.stale_after:
            return ""
        why = state.line or "look at its cable, its power and the bus"
        return f"nothing has come from the arm for {state.age:.2f} s: {why}"

    def _unwell(self, state: ArmState) -> str:
        where = unbelievable(state.angles, self._limits)
        return self._silence(state) or state.own_stop or where or "; ".join(state.faults)
