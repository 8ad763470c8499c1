"""Joints outside of their limits: which, in which words, and where they are led back to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kc_vla.arm.servo_modes import NOT_ENABLED
from kc_vla.core.robot import JointLimits, Vector

AT_LIMIT = np.radians(1.0)
"""A joint that is no further than this beyond a limit, rad, is at it: arms lie against the ends of their range."""
NOISE = np.radians(0.02)
"""By so much a joint at its limit is read beyond it though it is not, rad."""
FURTHEST = 2 * np.pi
"""A joint cannot be further than this beyond a limit, rad: where one is reported there, units or limits are wrong."""
_INSIDE = np.radians(0.5)
"""So far inside its limits a joint is led back, rad, if its range allows."""


def beyond(angles: Vector, limits: JointLimits) -> Vector:
    """Return how far each joint (N,) is outside of its limits, rad; 0 inside."""
    return np.asarray(np.maximum(0.0, np.maximum(limits.lowest - angles, angles - limits.highest)))


def unbelievable(angles: Vector, limits: JointLimits, names: Sequence[str] = ()) -> str:
    """Return which joint is reported where no joint can be, in words; empty if none is.

    Args:
        angles: of the joints (N,), rad.
        limits: of them.
        names: of the joints; their numbers if there are none.
    """
    wrong = ~(beyond(angles, limits) <= FURTHEST)  # also what is no number
    if not wrong.any():
        return ""
    joint = int(np.flatnonzero(wrong)[0])
    at, low, high = np.degrees([angles[joint], limits.lowest[joint], limits.highest[joint]])
    return (
        f"joint {_name(joint, names)} is reported at {at:.0f} degrees, more than a full turn outside of its "
        f"{low:.0f} to {high:.0f}: correct units and limits in the robot file"
    )


def outside(angles: Vector, limits: JointLimits, names: Sequence[str] = ()) -> str:
    """Return which joints are outside of their limits, in words with their angles; empty if none is.

    Args:
        angles: of the joints (N,), rad.
        limits: of them.
        names: of the joints; their numbers if there are none.
    """
    told = []
    for joint in np.flatnonzero(beyond(angles, limits) > AT_LIMIT).tolist():
        at, low, high = np.degrees([angles[joint], limits.lowest[joint], limits.highest[joint]])
        told.append(f"joint {_name(joint, names)} is at {at:.1f} degrees, outside of its {low:.1f} to {high:.1f}")
    return "; ".join(told)


def beginning(angles: Vector, limits: JointLimits, step: Vector) -> Vector:
    """Return where the set-points of an arm that was measured at `angles` (N,), rad, begin.

    They begin there, but for noise at a limit.

    Args:
        angles: as measured.
        limits: of the joints.
        step: that a set-point may have (N,), rad.
    """
    noise = beyond(angles, limits) <= np.minimum(NOISE, step)
    return np.where(noise, np.clip(angles, limits.lowest, limits.highest), angles)


def way_back(angles: Vector, limits: JointLimits) -> Vector:
    """Return where joints at `angles` (N,), rad, are led back to: a little inside of their limits.

    Joints inside of them stay where they are.
    """
    inside = np.minimum(_INSIDE, (limits.highest - limits.lowest) / 4)
    led = np.clip(angles, limits.lowest + inside, limits.highest - inside)
    return np.where(beyond(angles, limits) > 0.0, led, angles)


def _name(joint: int, names: Sequence[str]) -> str:
    return f"'{names[joint]}'" if names else str(joint + 1)


class OutsideWatch:
    """Keeps in words which joints are outside of their limits: the same words while some are, though angles change.

    Attributes:
        text: the words; empty while no joint is outside.
    """

    def __init__(self, limits: JointLimits) -> None:
        self.limits, self.text = limits, ""

    @property
    def advice(self) -> str:
        """Return the words, and what a person does about it; empty while no joint is outside."""
        return self.text and f"{self.text}: look at the arm; arm/resume leads it back inside slowly"

    def look(self, angles: Vector) -> bool:
        """Look at the joints (N,), rad; return whether one is outside of its limits."""
        found = outside(angles, self.limits)
        self.text = (self.text or found) if found else ""
        return bool(found)

    def said(self, angles: Vector, reason: str) -> str:
        """Look at the joints (N,), rad, of an arm that is blocked for a `reason`; return the reason from now on."""
        before = self.advice
        self.look(angles)
        return (self.advice or NOT_ENABLED) if reason in (NOT_ENABLED, before) else reason
