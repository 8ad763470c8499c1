"""What the numbers of a robot's state and action are: once for collecting, exporting, training and serving."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.chunk import DATA_DELTA_NAMES, TOOL_DELTA_NAMES, ActionType
from kc_vla.core.errors import StackError
from kc_vla.core.robot import Robot

Numbers = NDArray[np.float64]
TOOL_POSE_NAMES = ("x", "y", "z", "qx", "qy", "qz", "qw")
"""Place (m) and turn of the tool in the robot's base frame."""
TOOL_STATE_NAMES = (*TOOL_POSE_NAMES, "gripper")
"""Tool pose, and how far the gripper is open, 0 closed .. 1 open."""


class CodecError(StackError):
    """Numbers that are not this robot's; the text says what they are and what was expected."""


@dataclass(frozen=True)
class Codec:
    """State and action of a robot in the space in which it is commanded.

    Attributes:
        robot: the robot, of N joints and G of the gripper.
        action: TOOL_DELTA: the state is tool pose and gripper, (8,), an action moves and turns the tool, (7,).
            JOINT_POSITION: both are the positions of the joints and of the gripper's, (N + G,).
    """

    robot: Robot
    action: ActionType

    @property
    def state_names(self) -> tuple[str, ...]:
        """Return the names of the numbers of a state, in their order."""
        return TOOL_STATE_NAMES if self.action is ActionType.TOOL_DELTA else self.robot.names

    @property
    def action_names(self) -> tuple[str, ...]:
        """Return the names of the numbers of an action, in their order."""
        return TOOL_DELTA_NAMES if self.action is ActionType.TOOL_DELTA else self.robot.names

    def state(self, tool_pose: Numbers, names: Sequence[str], positions: Numbers) -> Numbers:
        """Return the state (..., S).

        Args:
            tool_pose: (..., 7), m and a quaternion x, y, z, w, in the robot's base frame.
            names: of the joints.
            positions: theirs (..., N + G), rad and m.

        Raises:
            CodecError: they are the joints of another robot.
        """
        if not self.robot.is_called(names):
            raise CodecError(
                f"these are the joints {', '.join(names)}, the robot '{self.robot.name}' has "
                f"{', '.join(self.robot.names)}: choose the robot file of this robot"
            )
        if self.action is ActionType.JOINT_POSITION:
            return np.asarray(positions, float)
        return np.concatenate([tool_pose, self.robot.gripper_share(positions)[..., None]], axis=-1)

    def actions(self, names: Sequence[str], values: Numbers) -> Numbers:
        """Return actions (..., A) in the order of `action_names`, out of those with columns called `names`.

        Raises:
            CodecError: they are actions of another kind, or of another robot.
        """
        for known in (self.action_names, *self._otherwise()):
            if len(names) == len(known) and set(names) == set(known):
                return np.asarray(values)[..., [list(names).index(name) for name in known]]
        raise CodecError(f"actions of {', '.join(names)}: expected {', '.join(self.action_names)}")

    def _otherwise(self) -> tuple[tuple[str, ...], ...]:
        return (DATA_DELTA_NAMES,) if self.action is ActionType.TOOL_DELTA else (self.robot.columns,)
