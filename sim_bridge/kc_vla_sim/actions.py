"""Commands in physical units, and the one place that turns them into ManiSkill's normalized actions.

A tool delta is dx, dy, dz (m), a rotation vector (rad), both in the robot's base frame and per control step of 50 ms,
and the gripper opening, 0 closed to 1 open. A joint command is the seven arm joints (rad) and the two fingers (m).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from kc_vla_sim.errors import BadActionError
from kc_vla_sim.robot import ROBOT

MOVE_LIMIT = 0.1
"""Largest move of the tool per axis and control step, m."""
TURN_LIMIT = 0.1
"""Largest turn of the tool per control step, rad."""
TOOL_DELTA_SIZE = 7
JOINT_COUNT = 9
_FINGER_RANGE = (-0.01, ROBOT.opening / 2)
"""Finger positions (m) that ManiSkill's gripper commands -1 and 1 stand for; below 0 presses on what is held."""


def normalise_tool_delta(action: ArrayLike) -> NDArray[np.float32]:
    """Turn a tool delta (7,) into the action (7,) of ManiSkill's `pd_ee_delta_pose`.

    What is beyond the limits of a step is cut to them, as the arm would.

    Raises:
        BadActionError: not seven finite numbers.
    """
    values = checked_tool_delta(action)
    move = np.clip(values[:3] / MOVE_LIMIT, -1, 1)
    turn = values[3:6]
    angle = np.linalg.norm(turn)
    if angle > TURN_LIMIT:
        turn = turn * (TURN_LIMIT / angle)
    # ManiSkill reads the turn as intrinsic x-y-z angles and scales it by its *lower* limit: the sign is reversed.
    angles = Rotation.from_rotvec(turn).as_euler("XYZ") / -TURN_LIMIT
    gripper = 2 * np.clip(values[6], 0, 1) - 1
    return np.concatenate([move, angles, [gripper]]).astype(np.float32)


def normalise_joint_positions(positions: ArrayLike) -> NDArray[np.float32]:
    """Turn joint positions (9,) into the action (8,) of ManiSkill's `pd_joint_pos`.

    The fingers move as one, to the mean of their two positions.

    Raises:
        BadActionError: not nine finite numbers.
    """
    values = checked_joint_positions(positions)
    low, high = _FINGER_RANGE
    finger = np.clip((values[7:].mean() - low) / (high - low), 0, 1)
    return np.concatenate([values[:7], [2 * finger - 1]]).astype(np.float32)


def checked_tool_delta(action: ArrayLike) -> NDArray[np.float64]:
    """Return a tool delta as (7,) finite numbers, or raise `BadActionError`."""
    return _finite(action, TOOL_DELTA_SIZE, "a tool delta has 7 numbers (dx, dy, dz, rx, ry, rz, gripper)")


def checked_joint_positions(positions: ArrayLike) -> NDArray[np.float64]:
    """Return a joint command as (9,) finite numbers, or raise `BadActionError`."""
    return _finite(positions, JOINT_COUNT, "a joint command has 9 numbers (7 arm joints, 2 fingers)")


def _finite(values: ArrayLike, size: int, rule: str) -> NDArray[np.float64]:
    """Return `values` as an array of `size` finite numbers, or a `BadActionError` that quotes `rule`."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadActionError(f"bad command: {rule}; got something that is not numbers") from error
    if array.shape != (size,):
        raise BadActionError(f"bad command: {rule}; got shape {array.shape}")
    if not np.isfinite(array).all():
        raise BadActionError(f"bad command: every number must be finite; got {array.tolist()}")
    return array
