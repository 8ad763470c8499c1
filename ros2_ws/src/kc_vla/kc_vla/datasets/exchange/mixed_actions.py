"""Commands of an episode in which a policy commanded joints and a person who took over moved the tool, or the reverse.

A data set has one kind of action, that of the policy, which shall learn from it. In place of a person's command of the
other kind stands what the arm did from its frame to the next one; the gripper is as commanded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from kc_vla.core.chunk import TOOL_DELTA_NAMES
from kc_vla.core.robot import Robot, gripper_joints
from kc_vla.datasets.exchange.clock import Clock
from kc_vla.datasets.exchange.errors import ExchangeError
from kc_vla.episodes.episode_data import CommandMode, DriverChange, RecordedCommand, driven_by_person

_MIXED = "its commands are partly joint positions, partly tool deltas: they make no action column"


@dataclass(frozen=True, eq=False)
class Done:
    """What a robot did, at each frame.

    Attributes:
        robot: the robot.
        joints: names of the numbers of `positions`.
        positions: (T, N + G), rad and m.
        pose: pose of the tool in the base frame (T, 7): x, y, z (m), quaternion x, y, z, w; None if it is not known.
    """

    robot: Robot
    joints: tuple[str, ...]
    positions: NDArray[np.float64]
    pose: NDArray[np.float64] | None


def mode_of(commands: Sequence[RecordedCommand], changes: tuple[DriverChange, ...] = ()) -> CommandMode | None:
    """Return the mode of the policy's commands, or that of a person who controlled the whole episode; None for nothing.

    Raises:
        ExchangeError: both occur while nobody had taken over.
    """
    moving = [command for command in commands if command.mode is not CommandMode.HOLD]
    person = driven_by_person(changes, [command.step for command in moving])
    for driven in (~person, person):
        modes = Counter(command.mode for command, own in zip(moving, driven.tolist(), strict=True) if own)
        if len(modes) > 1 and not changes:
            raise ExchangeError(_MIXED)
        if modes:
            return modes.most_common(1)[0][0]  # the last command of a person comes a step after his word
    return None


def in_one_mode(
    commands: Sequence[RecordedCommand], mode: CommandMode | None, clock: Clock, done: Done
) -> tuple[RecordedCommand, ...]:
    """Return the commands with those of another mode by what was done; one whose next frame is missing is left out.

    Raises:
        ExchangeError: the bag does not tell where the tool was.
    """
    row_of = {step: row for row, step in enumerate(clock.steps.tolist())}
    found = []
    for command in commands:
        if command.mode in (mode, CommandMode.HOLD):
            found.append(command)
        elif (row := row_of.get(command.step)) is not None and row_of.get(command.step + 1) == row + 1:
            found.append(_as_done(command, row, done))
    return tuple(found)


def _as_done(command: RecordedCommand, row: int, done: Done) -> RecordedCommand:
    robot = done.robot
    if command.mode is CommandMode.TOOL_DELTA:
        values = done.positions[row + 1].copy()
        fingers = gripper_joints(done.joints)
        values[fingers] = command.values[-1] * robot.opening / max(len(fingers), 1)
        return replace(command, mode=CommandMode.JOINT_POSITION, names=done.joints, values=values.astype(np.float32))
    if done.pose is None:
        raise ExchangeError(f"{_MIXED}, and it does not tell where the tool was")
    before, after = done.pose[row : row + 2]
    turn = Rotation.from_quat(after[3:]) * Rotation.from_quat(before[3:]).inv()
    share = float(robot.gripper_share(np.asarray(command.values, float)))
    values = np.array([*(after[:3] - before[:3]), *turn.as_rotvec(), share], np.float32)
    return replace(command, mode=CommandMode.TOOL_DELTA, names=TOOL_DELTA_NAMES, values=values)
