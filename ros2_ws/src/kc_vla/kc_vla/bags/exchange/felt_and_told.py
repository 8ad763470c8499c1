"""The numbers of a LeRobot data set, whoever made it, as what a robot felt and was told."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.bags.episode_data import CommandMode
from kc_vla.bags.exchange.rows import TOOL_POSE
from kc_vla.bags.lerobot.layout import ACTION, JOINT_POSITIONS, JOINT_VELOCITIES, STATE
from kc_vla.bags.lerobot.source import Source, SourceEpisode
from kc_vla.policy.chunk import TOOL_DELTA_NAMES

_POSE = len(TOOL_POSE.names)


class FeltAndTold:
    """The columns of an episode as what the robot felt and was told; None for what the data set does not hold.

    Attributes:
        positions: of the joints, (T, D), rad and m.
        joints: their names.
        velocities: (T, D), rad/s and m/s.
        pose: of the tool, (T, 7): x, y, z (m), quaternion x, y, z, w, in the robot's base frame.
        actions: (T, D), what `mode` says.
        mode: of the actions.
        action_names: of the numbers of an action.
        notes: what a person should know.
    """

    def __init__(self, source: Source, episode: SourceEpisode) -> None:
        """Args: an `episode` of `source`. Raises: DataSetError: its columns cannot be read."""
        columns = source.columns(episode)
        self.notes: list[str] = []
        self.pose = _matrix(columns.get(TOOL_POSE.key))
        state, names = _matrix(columns.get(STATE.key)), source.names(STATE.key)
        if state is not None and names is not None and names[:_POSE] == TOOL_POSE.names:
            self.pose = state[:, :_POSE]
            state, names = (state[:, _POSE:], names[_POSE:]) if len(names) > _POSE else (None, None)
        self.positions, self.joints = _matrix(columns.get(JOINT_POSITIONS.key)), source.names(JOINT_POSITIONS.key)
        self.velocities = _matrix(columns.get(JOINT_VELOCITIES.key))
        if self.positions is None:
            self.positions, self.joints, self.velocities = state, names, None
        if self.positions is not None and (self.joints is None or len(self.joints) != self.positions.shape[1]):
            self.joints = tuple(f"joint_{number}" for number in range(self.positions.shape[1]))
            self.notes.append(f"{source.folder} does not name its joints: they are called joint_0, joint_1, ...")
        self.actions = _matrix(columns.get(ACTION.key))
        self.mode: CommandMode | None = None
        self.action_names: tuple[str, ...] = ()
        if self.actions is not None:
            self._know_actions(source)

    @property
    def topics(self) -> list[str]:
        """Full names of the topics that they go to."""
        held = {"/joint_states": self.positions, "/tool_pose": self.pose, "/arm/command": self.actions}
        return [topic for topic, values in held.items() if values is not None]

    def _know_actions(self, source: Source) -> None:
        """Find out what the numbers of an action mean; where the data set leaves that open, there are none."""
        assert self.actions is not None
        names, width = source.names(ACTION.key), self.actions.shape[1]
        if names in (ACTION.names, TOOL_DELTA_NAMES):
            self.mode, self.action_names = CommandMode.TOOL_DELTA, TOOL_DELTA_NAMES
        elif (
            self.joints is not None and len(self.joints) == width and (names is None or set(names) == set(self.joints))
        ):
            self.mode, self.action_names = CommandMode.JOINT_POSITION, names or self.joints
        else:
            called = ", ".join(names) if names else f"{width} numbers without names"
            self.notes.append(
                f"{source.folder}: its actions ({called}) are neither tool deltas nor positions of its joints: "
                "they are left out"
            )
            self.actions = None


def _matrix(values: NDArray[Any] | None) -> NDArray[np.float64] | None:
    """A column as (T, D)."""
    if values is None:
        return None
    return np.asarray(values, np.float64).reshape(len(values), -1)
