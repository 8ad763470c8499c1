"""An arm of any joints and limits, whose time passes only when the test says so, and what such arms are drawn from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from kc_vla.arm.interface import ArmState
from kc_vla.core.chain import Chain
from kc_vla.core.robot import JointLimits, Robot, Vector
from tests.support.piper import PIPER

_TOP = 3.0


class AnyArm:
    """A `MovableArm` that takes whatever it is sent and goes there, at most at 3 rad/s.

    Attributes:
        angles: where its joints are.
        sent: all angles that it was sent.
        powered, age, in_command_mode, faults: what it tells of itself.
        follows: it goes where it is sent.
    """

    def __init__(self, limits: JointLimits, rest: Vector, angles: Vector) -> None:
        self.limits, self.home_pose, self.angles = limits, rest, angles.copy()
        self.has_brakes = False
        self.sent: list[Vector] = []
        self.powered, self.age, self.in_command_mode, self.follows = False, 0.0, True, True
        self.faults: tuple[str, ...] = ()

    def enable(self) -> None:
        """In place."""
        self.powered = True

    def disable(self) -> None:
        """Let go."""
        self.powered = False

    def read_state(self) -> ArmState:
        """What it tells of itself."""
        count = len(self.angles)
        powered = np.full(count, self.powered)
        return ArmState(self.age, self.angles.copy(), np.zeros(count), 0.0, powered, self.in_command_mode, self.faults)

    def set_target(self, angles: Vector, gripper: float) -> None:
        """Be sent there."""
        self.sent.append(angles.copy())

    def pass_time(self, seconds: float) -> None:
        """Let time pass."""
        if self.sent and self.powered and self.follows:
            self.angles += np.clip(self.sent[-1] - self.angles, -_TOP * seconds, _TOP * seconds)


def drawn_robot(limits: JointLimits, links: Chain) -> Robot:
    """A robot of as many joints."""
    names = tuple(f"joint{k}" for k in range(1, len(links) + 1))
    middle = (limits.lowest + limits.highest) / 2
    return replace(PIPER, name="mine", joints=names, limits=limits, links=links, older=None, rest=middle)


_LIMIT = st.floats(-3.0, 3.0, width=32)
_SPEED = st.one_of(st.floats(0.002, 4.0), st.sampled_from([0.01, 3.0]))


def _limits(rows: list[tuple[float, float, float]]) -> JointLimits:
    lowest, highest, speed = np.array(rows, float).T
    return JointLimits(lowest, highest, speed)


@st.composite
def robots(draw: st.DrawFn) -> tuple[Robot, JointLimits, Vector]:
    """A robot, the limits that its arm reports, which may be broken, and where it is found, maybe outside of both."""
    count = draw(st.integers(1, 7))
    rows = []
    for _ in range(count):
        low = draw(_LIMIT)
        rows.append((low, low + draw(st.floats(0.1, 5.0)), draw(_SPEED)))
    hard = st.sampled_from([np.inf, 500.0, 8.0, 0.5])
    accelerations, jerks = (np.array([draw(hard) * times for _ in range(count)]) for times in (1.0, 10.0))
    file = replace(_limits(rows), acceleration=accelerations, jerk=jerks)
    broken = st.sampled_from([(-0.0017, -0.0017), (1.0, -1.0), (np.nan, 1.0), (0.0, np.inf), (-60.0, 60.0)])
    is_broken = draw(st.integers(0, 4)) == 0
    reported = []
    for low, high, _ in rows:
        share = draw(st.sampled_from([0.0, 0.0, -0.5, 0.3]))  # the same, wider, narrower
        pair, top = (low + share * (high - low), high - share * (high - low)), draw(_SPEED)
        if is_broken and draw(st.booleans()):
            pair = draw(st.one_of(broken, st.tuples(_LIMIT, _LIMIT)))
            top = draw(st.one_of(_SPEED, st.sampled_from([3.0, 3.0, 0.0, -1.0])))
        reported.append((*pair, top))
    table = np.array([[0.1, draw(st.sampled_from([0.0, np.pi / 2, -np.pi / 2])), 0.1, 0.0] for _ in range(count)])
    axes = np.array([draw(st.sampled_from([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0], [0.6, 0.0, 0.8]])) for _ in range(count)])
    links = replace(Chain.of_table(table), axes=axes)
    found = [
        draw(st.one_of(st.floats(-3.2, 3.2), st.sampled_from([low, high, high + 0.01, low - 1e-4, high + 1.0])))
        for low, high, _ in rows
    ]
    return drawn_robot(file, links), _limits(reported), np.array(found)
