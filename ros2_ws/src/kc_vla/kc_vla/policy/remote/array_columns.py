"""The parts that an array of state or of actions is put together from: how each is written by a server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.spatial.transform import Rotation

from kc_vla.core.robot import Robot
from kc_vla.policy.remote.rotations import FORMS, Numbers
from kc_vla.policy.remote.wire import WireError

Kind = Literal["position", "rotation", "joints", "gripper", "constant"]
How = Literal["absolute", "step", "start"]
KINDS: tuple[Kind, ...] = ("position", "rotation", "joints", "gripper", "constant")
CONSTANT: Kind = "constant"
_OVERSHOOT = 1.0
"""Share of the gripper's width by which a policy may go beyond open or closed; more means another unit."""
HOWS: tuple[How, ...] = ("absolute", "step", "start")


@dataclass(frozen=True)
class ArrayColumns:
    """Columns of an array.

    Attributes:
        kind: position: of the tool in the base frame; rotation: of the tool; joints: of the arm; gripper: how far it is
            open; constant: numbers that mean nothing here.
        how: absolute: where to be; step: relative to the action before, of the first to where the robot is; start:
            relative to where the robot is when it is asked.
        in_tool: steps are along and about the axes of the tool, not those of the base.
        unit: m or rad that one of the server's numbers is; negative where it counts the other way round.
        origin: (3,) of a position: where the robot's base is in the server's frame, m; its axes are the same.
        form: of a rotation, of `FORMS`.
        opened: what the server's numbers are when the gripper is open.
        closed: the same when it is closed.
        snap: the gripper is either open or closed, whichever is nearer.
        constant: the numbers.
    """

    kind: Kind
    how: How = "absolute"
    in_tool: bool = False
    unit: float = 1.0
    origin: tuple[float, ...] = (0.0, 0.0, 0.0)
    form: str = "axis_angle"
    opened: tuple[float, ...] = (1.0,)
    closed: tuple[float, ...] = (0.0,)
    snap: bool = False
    constant: tuple[float, ...] = (0.0,)

    @property
    def base(self) -> Numbers:
        """Return where the robot's base is: of joints nowhere."""
        return np.array(self.origin if self.kind == "position" else 0.0)

    def size(self, robot: Robot) -> int:
        """Return how many columns it has."""
        sizes = {
            "position": 3,
            "rotation": FORMS[self.form].size,
            "joints": len(robot.joints),
            "gripper": len(self.opened),
            "constant": len(self.constant),
        }
        return sizes[self.kind]

    def described(self) -> str:
        """Return what its numbers mean, in a line that is the same for the same meaning in every mapping."""
        if self.kind == CONSTANT:
            return f"{len(self.constant)} {CONSTANT}"
        words = [self.kind, "" if self.how == "absolute" else self.how, "tool" if self.in_tool else ""]
        if self.kind == "gripper":
            words.append(f"open {_listed(self.opened)} closed {_listed(self.closed)}")
        else:
            words += [self.form if self.kind == "rotation" else "", f"unit {self.unit:.6g}"]
        if self.kind == "position" and any(self.origin):
            words.append(f"origin {_listed(self.origin)}")
        return " ".join(word for word in words if word)

    def gripper_written(self, shares: Numbers) -> Numbers:
        """Return how far it is open (H,), 0..1, as the server's numbers (H, size)."""
        opened, closed = np.array(self.opened), np.array(self.closed)
        return np.asarray(closed + shares[:, None] * (opened - closed))

    def gripper_read(self, values: Numbers) -> Numbers:
        """Return the inverse of `gripper_written`, within 0..1.

        Raises:
            WireError: a number is so far beyond open and closed that it is in another unit.
        """
        opened, closed = np.array(self.opened), np.array(self.closed)
        tells = opened != closed
        each = (values[:, tells] - closed[tells]) / (opened - closed)[tells]
        if (beyond := np.argwhere(np.abs(each - 0.5) > 0.5 + _OVERSHOOT)).size:
            row, column = beyond[0]
            raise WireError(
                f"the gripper is {values[:, tells][row, column]:.4g}, the mapping has {_listed(self.closed)} closed "
                f"and {_listed(self.opened)} open: give it the server's own numbers for both"
            )
        shares = each.mean(axis=1)
        return np.round(shares.clip(0.0, 1.0)) if self.snap else np.asarray(shares.clip(0.0, 1.0))

    def turns_written(self, turns: Rotation) -> Numbers:
        """Return rotations (H,) as the server's numbers (H, size)."""
        return np.asarray(FORMS[self.form].written(turns) / self.unit)

    def turns_read(self, values: Numbers) -> Rotation:
        """Return the inverse of `turns_written`; WireError where they are no rotations."""
        return FORMS[self.form].read(values * self.unit)


def _listed(values: tuple[float, ...]) -> str:
    return "/".join(f"{value:.6g}" for value in values)
