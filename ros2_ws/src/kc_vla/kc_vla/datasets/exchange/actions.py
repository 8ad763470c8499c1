"""The commands to the arm in an episode, at its frames."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kc_vla.datasets.exchange.clock import Clock
from kc_vla.datasets.exchange.errors import ExchangeError
from kc_vla.datasets.lerobot.layout import ACTION, Column
from kc_vla.episodes.episode_data import CommandMode, RecordedCommand

_OPEN = 1.0


def tool_deltas(commands: tuple[RecordedCommand, ...], clock: Clock) -> tuple[Column, NDArray[np.float64]]:
    """Return the action column of tool deltas and its rows (T, 7): m, rad and the gripper, 0 closed .. 1 open.

    A step without a command, or with a hold, is no motion, with the gripper as it was (open at first).

    Raises:
        ExchangeError: the camera does not make a frame for each control step, or a command is not as it should be.
    """
    if not clock.in_step:
        raise ExchangeError(
            f"the camera made {clock.fps} frames a second, the arm was moved by tool deltas at another rate: "
            "a delta holds for one control step only; record with a camera at the control rate"
        )
    told = _by_step(commands, len(ACTION.names))
    rows = np.zeros((len(clock.steps), len(ACTION.names)))
    gripper, heard = _OPEN, iter(sorted(told.items()))
    following = next(heard, None)
    for row, step in zip(rows, clock.steps.tolist(), strict=True):
        while following is not None and following[0] <= step:
            gripper, following = float(following[1][-1]), next(heard, None)
        if step in told:
            row[:] = told[step]
        row[-1] = gripper
    return ACTION, rows


def joint_targets(
    commands: tuple[RecordedCommand, ...], clock: Clock, joints: tuple[str, ...], positions: NDArray[np.float64]
) -> tuple[Column, NDArray[np.float64]]:
    """Return the action column of joint positions and its rows (T, D), rad and m: the last target at each frame.

    Before the first one the arm is where it is.

    Args:
        commands: in order.
        clock: of the frames.
        joints: names of the robot's joints.
        positions: of these at the frames, (T, D).

    Raises:
        ExchangeError: the commands are for other joints, or not finite.
    """
    for names in {command.names for command in commands if command.mode == CommandMode.JOINT_POSITION}:
        if names and (set(names) != set(joints) or len(names) != len(joints)):
            raise ExchangeError(f"commands for {', '.join(names)}, but the joints are {', '.join(joints)}")
    told = _by_step(commands, len(joints), joints)
    rows = positions.copy()
    if told:
        steps = np.array(sorted(told))
        last = np.searchsorted(steps, clock.steps, side="right") - 1
        for row, at in zip(rows, last.tolist(), strict=True):
            if at >= 0:
                row[:] = told[int(steps[at])]
    return Column(ACTION.key, "float32", joints), rows


def _by_step(
    commands: tuple[RecordedCommand, ...], size: int, order: tuple[str, ...] = ()
) -> dict[int, NDArray[np.float64]]:
    """Return the numbers of each step's command, in that `order` of their names; the last one given counts."""
    told = {}
    for command in commands:
        if command.mode == CommandMode.HOLD:
            continue
        values = np.asarray(command.values, np.float64)
        if values.shape != (size,) or not np.isfinite(values).all():
            raise ExchangeError(f"the command of step {command.step} is not {size} finite numbers")
        if order and command.names:  # each by its own: several may tell, or one in another order than before
            values = values[[command.names.index(name) for name in order]]
        told[command.step] = values
    return told
