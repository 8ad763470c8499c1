"""What the network of a policy sees of a robot's state, and in what units it says places and actions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from kc_vla.core.chunk import TOOL_DELTA_NAMES, ActionType
from kc_vla.core.robot import Robot

Numbers = NDArray[np.float32]
_CENTRE, _SPAN = np.array([0.55, 0.0, 0.15]), 0.25
"""m, roughly the middle of what the arm reaches, and how far it goes from there."""
_TURN = 1.5
"""rad, the unit of a joint's angle."""
_AHEAD = 30.0
"""Control steps, the unit of how far ahead a place is."""
_LEAST_SPREAD = 1e-3
"""m or rad: what hardly moves is not blown up."""


class Space(ABC):
    """The terms of a policy's numbers: state and places of a robot as inputs, and actions as output.

    Attributes:
        action: kind of the commands to the robot.
        names: of the numbers of an action of the robot.
        gaps: numbers of a state, the first ones, whose difference says where a place is; of an action as well.
        turns: numbers of an action after these that turn the tool.
        unit: of the gaps.
        far, near: the units of a place far away and close by.
        still: an action that moves less is none.
    """

    action: ActionType
    names: tuple[str, ...]
    gaps: int
    turns: int = 0
    unit: str
    far: float
    near: float
    still: float

    @property
    def moves(self) -> int:
        """Return numbers of an action, the first ones, that move the arm; the others are the gripper's."""
        return self.gaps + self.turns

    @property
    def deltas(self) -> int:
        """Return numbers of an action, the first ones, that add up from action to action."""
        return self.moves if self.action is ActionType.TOOL_DELTA else 0

    @abstractmethod
    def state_numbers(self, states: Numbers) -> Numbers:
        """Return states (N, S) as numbers about 1."""

    @abstractmethod
    def place_numbers(self, states: Numbers, places: Numbers, ahead: NDArray[np.int64]) -> Numbers:
        """Return places (N, S) relative to the states (N, S), and how far `ahead` (N,) they are, as numbers (N, P).

        `ahead` is in control steps.
        """

    @abstractmethod
    def learnt(self, actions: Numbers, states: Numbers) -> Numbers:
        """Return actions (N, H, A) of the robot as they are learned, in states (N, S); the gripper from 0 to 1."""

    @abstractmethod
    def actions(self, learnt: Numbers, states: Numbers) -> Numbers:
        """Return the inverse of `learnt`."""

    @abstractmethod
    def motion(self, actions: Numbers) -> Numbers:
        """Return how much each of (N, H, A) actions of the robot moves the arm (N, H), in m or rad."""

    @abstractmethod
    def rested(self, learnt: Numbers, first: int) -> Numbers:
        """Return a chunk (H, A), as it is learned, whose actions from `first` on leave the arm where it is.

        H is above 0.
        """

    def near_gap(self, numbers: Numbers) -> Numbers:
        """Return the way to the place in `place_numbers` (N, P), (N, G): exact where it is near, else cut."""
        near = np.clip(numbers[:, self.gaps : 2 * self.gaps], -0.98, 0.98)
        return np.asarray(np.arctanh(near) * self.near, np.float32)

    def gap(self, numbers: Numbers) -> Numbers:
        """Return the same way (N, G), however far it is; a little less exact."""
        return np.asarray(numbers[:, : self.gaps] * self.far, np.float32)

    def _gap_numbers(self, gap: Numbers) -> list[Numbers]:
        return [gap / self.far, np.tanh(gap / self.near)]


class ToolSpace(Space):
    """Tool pose and gripper (8,), moved by tool deltas (7,)."""

    action, names, unit = ActionType.TOOL_DELTA, TOOL_DELTA_NAMES, "m"
    gaps, turns = 3, 3
    far, near, still = 0.2, 0.04, 3e-3

    def state_numbers(self, states: Numbers) -> Numbers:
        """Convert states (N, 8) to position, two columns of the rotation, and gripper: (N, 10)."""
        turn = Rotation.from_quat(states[:, 3:7]).as_matrix()
        position = (states[:, :3] - _CENTRE) / _SPAN
        return np.concatenate([position, turn[:, :, 0], turn[:, :, 1], states[:, 7:8]], 1).astype(np.float32)

    def place_numbers(self, states: Numbers, places: Numbers, ahead: NDArray[np.int64]) -> Numbers:
        """Convert places to the way there, far (3) and near (3), the turn about the vertical, and the time: (N, 8).

        A parallel gripper turned by half a turn grips as well: the turn is that of the plan, and never far.
        """
        gap = places[:, :3] - states[:, :3]
        turn = (Rotation.from_quat(places[:, 3:7]) * Rotation.from_quat(states[:, 3:7]).inv()).as_rotvec()[:, 2:3]
        return np.concatenate([*self._gap_numbers(gap), turn, _time(ahead)], 1).astype(np.float32)

    def learnt(self, actions: Numbers, states: Numbers) -> Numbers:
        """Return the actions unchanged, as tool deltas are relative already."""
        return actions

    def actions(self, learnt: Numbers, states: Numbers) -> Numbers:
        """Return the network's actions unchanged, as tool deltas are relative already."""
        return learnt

    def motion(self, actions: Numbers) -> Numbers:
        """Return the largest number by which each action (N, H, A) moves the tool: (N, H), m or rad."""
        return np.asarray(np.abs(actions[..., : self.moves]).max(axis=-1))

    def rested(self, learnt: Numbers, first: int) -> Numbers:
        """Return a chunk (H, A) whose deltas are zero from `first` on."""
        still = learnt.copy()
        still[first:, : self.moves] = 0.0
        return still


class JointSpace(Space):
    """Positions of N joints and of a gripper, moved by such: they are learned relative to where the joints are."""

    action, unit = ActionType.JOINT_POSITION, "rad"
    far, near, still = 0.5, 0.1, 2e-3

    def __init__(self, robot: Robot) -> None:
        self.names, self.gaps = robot.names, len(robot.joints)
        self._fingers = robot.opening / len(robot.gripper)  # m, each when the gripper is wide open

    def state_numbers(self, states: Numbers) -> Numbers:
        """Convert states to joint angles and gripper as numbers about 1: (N, S)."""
        n = self.gaps
        return np.concatenate([states[:, :n] / _TURN, states[:, n:] / self._fingers], 1).astype(np.float32)

    def place_numbers(self, states: Numbers, places: Numbers, ahead: NDArray[np.int64]) -> Numbers:
        """Convert places to the joints' ways there, far (N) and near (N), and the time."""
        gap = places[:, : self.gaps] - states[:, : self.gaps]
        return np.concatenate([*self._gap_numbers(gap), _time(ahead)], 1).astype(np.float32)

    def learnt(self, actions: Numbers, states: Numbers) -> Numbers:
        """Convert joint positions to differences from the state, and the gripper to 0..1."""
        n = self.gaps
        return np.concatenate([actions[..., :n] - states[:, None, :n], actions[..., n:] / self._fingers], -1)

    def actions(self, learnt: Numbers, states: Numbers) -> Numbers:
        """Convert the network's differences from the state back to joint positions, and the gripper to m."""
        n = self.gaps
        return np.concatenate([learnt[..., :n] + states[:, None, :n], learnt[..., n:] * self._fingers], -1)

    def motion(self, actions: Numbers) -> Numbers:
        """Return how far each action's joint targets differ from those before it: (N, H), rad.

        An arm that gets the same target again is not moved, even if it hangs a little below it.
        """
        steps = np.diff(actions[..., : self.moves], axis=-2, prepend=actions[..., :1, : self.moves])
        return np.asarray(np.abs(steps).max(axis=-1))

    def rested(self, learnt: Numbers, first: int) -> Numbers:
        """Return a chunk (H, A) that repeats the joint targets before `first` from there on.

        With the measured positions as targets an arm would sink bit by bit.
        """
        still = learnt.copy()
        still[first:, : self.moves] = learnt[max(first - 1, 0), : self.moves]
        return still


def space_of(robot: Robot, action: ActionType) -> Space:
    """Return the space in which a robot is moved by such actions."""
    return ToolSpace() if action is ActionType.TOOL_DELTA else JointSpace(robot)


def _time(ahead: NDArray[np.int64]) -> Numbers:
    return np.asarray(np.minimum(ahead, 2 * _AHEAD)[:, None] / _AHEAD, np.float32)


@dataclass(frozen=True)
class ActionScale:
    """Actions in units about 1: what they spread, and the gripper from -1 closed to 1 open.

    Attributes:
        mean: (A,), in the actions' own units.
        spread: (A,).
        lowest: (A,), of what was learned from: nothing below it is ever asked for, whatever the noise.
        highest: (A,), the same above.
    """

    mean: tuple[float, ...]
    spread: tuple[float, ...]
    lowest: tuple[float, ...]
    highest: tuple[float, ...]

    @classmethod
    def of(cls, plans: Numbers) -> ActionScale:
        """Compute the scale of action targets (N, H, A) as the network learns them.

        The last number of an action is the gripper's.
        """
        spread = np.maximum(plans.reshape(-1, plans.shape[-1]).std(axis=0), _LEAST_SPREAD)
        spread[-1] = 0.5
        mean = np.zeros(len(spread))
        mean[-1] = 0.5
        rows = plans.reshape(-1, plans.shape[-1])
        bounds = rows.min(axis=0), rows.max(axis=0)
        return cls(*(tuple(each.tolist()) for each in (mean, spread, *bounds)))

    def scaled(self, plans: Numbers) -> Numbers:
        """Return actions (..., A) in these units."""
        return np.asarray((plans - np.array(self.mean)) / np.array(self.spread), np.float32)

    def actions(self, scaled: Numbers) -> Numbers:
        """Return the inverse of `scaled`, within the bounds."""
        return np.asarray(
            np.clip(scaled * np.array(self.spread) + np.array(self.mean), self.lowest, self.highest), np.float32
        )
