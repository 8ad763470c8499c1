"""The measured states and the commands of a robot, from the numbers of any LeRobot data set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.chunk import DATA_DELTA_NAMES, TOOL_DELTA_NAMES
from kc_vla.core.robot import unit_of
from kc_vla.datasets.exchange.bag_output import DRIVER_TOPIC
from kc_vla.datasets.exchange.delta_units import METERS_AND_RADIANS, DeltaUnits
from kc_vla.datasets.exchange.joints_csv import too_far
from kc_vla.datasets.exchange.meanings import distinct_names, names_of, pose_of
from kc_vla.datasets.exchange.rows import TOOL_POSE
from kc_vla.datasets.exchange.samples import UNEXPLAINED
from kc_vla.datasets.lerobot.columns import Columns
from kc_vla.datasets.lerobot.layout import ACTION, INTERVENTION, JOINT_POSITIONS, JOINT_VELOCITIES, STATE
from kc_vla.datasets.lerobot.source import Source, SourceEpisode
from kc_vla.episodes.episode_data import CommandMode

_POSE = len(TOOL_POSE.names)
_USED = [column.key for column in (TOOL_POSE, STATE, JOINT_POSITIONS, JOINT_VELOCITIES, INTERVENTION, ACTION)]


class FeltAndTold:
    """The columns of an episode as measured states and commands; None for what the data set does not hold.

    Attributes:
        positions: of the joints, (T, D), rad and m.
        joints: their names.
        velocities: (T, D), rad/s and m/s.
        pose: of the tool, (T, 7): x, y, z (m), quaternion x, y, z, w, in the robot's base frame.
        actions: (T, D), what `mode` says.
        mode: of the actions; None where the data set leaves open what they mean.
        action_names: of the numbers of an action.
        person: (T,), whether a person drove who had taken over from a policy.
        notes: what a person should know.
    """

    def __init__(
        self,
        source: Source,
        episode: SourceEpisode,
        state: Sequence[str] = (),
        action: Sequence[str] = (),
        degrees: bool = False,
        units: DeltaUnits = METERS_AND_RADIANS,
    ) -> None:
        """Read an episode.

        Args:
            source: the data set.
            episode: of it.
            state: names of the numbers of its state, where it does not name them well.
            action: the same of its action.
            degrees: whether its joints are in degrees, but for the gripper.
            units: of its tool deltas.

        Raises:
            DataSetError: its columns cannot be read.
            ExchangeError: they do not fit the names.
        """
        columns = source.columns(episode, [key for key in _USED if key in source.features])
        self.notes = [
            f"{source.folder}: meta/info.json names {key}, and the table has no numbers of it: it is not imported"
            for key in _USED
            if key in source.features and key not in columns
        ]
        self.pose = _matrix(columns.get(TOOL_POSE.key))
        felt, names = _matrix(columns.get(STATE.key)), None
        if felt is not None:
            names, note = names_of(source, STATE.key, felt.shape[1], state)
            self.notes += [note] if note else []
        if felt is not None and names is not None:
            if names[:_POSE] == TOOL_POSE.names and not state and not note:  # as it says itself
                found: Any = felt[:, :_POSE], list(range(_POSE, len(names)))
            else:
                found = pose_of(felt, names, f"{source.told(episode)}, {STATE.key}")
            if found is not None:
                self.pose, left = found
                names = tuple(names[k] for k in left)
                felt = felt[:, left] if left else None
        self.positions = _matrix(columns.get(JOINT_POSITIONS.key))
        self.joints, doubt = distinct_names(source, JOINT_POSITIONS.key)
        self.velocities = self._velocities(source, columns)
        self.notes += [doubt] if doubt and self.positions is not None else []
        if self.positions is None:
            self.positions, self.joints, self.velocities = felt, names, None
        if self.positions is not None and (self.joints is None or len(self.joints) != self.positions.shape[1]):
            self.joints = tuple(f"joint_{number}" for number in range(self.positions.shape[1]))
            self.notes.append(
                f"{source.folder} does not name its joints: they are called joint_0, joint_1, ...; --state names them, "
                "or says that they are a tool pose, as x,y,z,qx,qy,qz,qw,gripper"
            )
        took_over = columns.get(INTERVENTION.key)
        self.person = None if took_over is None else np.ravel(took_over) > 0
        self.actions = _matrix(columns.get(ACTION.key))
        self.mode: CommandMode | None = None
        self.action_names: tuple[str, ...] = ()
        if self.actions is not None:
            self._know_actions(source, self.actions, action, units)
        if degrees:
            self._turn_to_radians()
        elif self.positions is not None and self.joints is not None:
            self._doubt_radians(source, self.positions, self.joints)
        if self.positions is not None and self.joints is not None:
            self._doubt_metres(source, self.positions, self.joints)

    @property
    def topics(self) -> list[str]:
        """Return the full names of the topics that they go to."""
        told = f"/{UNEXPLAINED}" if self.mode is None else "/arm/command"
        held = {"/joint_states": self.positions, "/tool_pose": self.pose, told: self.actions, DRIVER_TOPIC: self.person}
        return [topic for topic, values in held.items() if values is not None]

    def _velocities(self, source: Source, columns: Columns) -> NDArray[np.float64] | None:
        """Return the joints' velocities; None, with a note, where some are missing: a robot's state does without."""
        if JOINT_VELOCITIES.key not in columns:
            return None
        found = _matrix(columns.unchecked(JOINT_VELOCITIES.key))
        if found is None or np.isfinite(found).all():
            return found
        self.notes.append(f"{source.folder}: velocities are missing in some episodes, and are left out there")
        return None

    def _turn_to_radians(self) -> None:
        """Take the joints' measured positions and commands as degrees."""
        told = self.actions if self.mode is CommandMode.JOINT_POSITION else None
        for values, names in (
            (self.positions, self.joints),
            (self.velocities, self.joints),
            (told, self.action_names),
        ):
            if values is not None and names is not None:
                angles = _angles(names)
                values[:, angles] = np.radians(values[:, angles])

    def _doubt_radians(self, source: Source, positions: NDArray[np.float64], joints: Sequence[str]) -> None:
        """Warn of angles that no arm turns to: they are left as they are, for nothing says what they are instead."""
        angles = _angles(joints)
        if too_far([joints[k] for k in angles], positions[:, angles]):
            self.notes.append(  # the same words in each episode, so that they are said once
                f"{source.folder}: its joints are taken for radians, and go too far for that: import it with "
                "--degrees into another folder if they are degrees; what is none of both is good for annotating, "
                "and for no robot"
            )

    def _doubt_metres(self, source: Source, positions: NDArray[np.float64], joints: Sequence[str]) -> None:
        """Report grippers that open further than any; they are left as they are."""
        fingers = [k for k in range(len(joints)) if k not in _angles(joints)]
        far = [joints[k] for k in fingers if too_far([joints[k]], positions[:, [k]])]
        if far:
            self.notes.append(
                f"{source.folder}: {', '.join(far)} is taken for meters, and goes too far for that: what is percent or "
                "millimeters is good for annotating, and for no robot"
            )

    def _know_actions(
        self, source: Source, actions: NDArray[np.float64], said: Sequence[str], units: DeltaUnits
    ) -> None:
        """Find out what the numbers of an action mean."""
        width = actions.shape[1]
        names, note = names_of(source, ACTION.key, width, said)
        self.notes += [note] if note else []
        own = source.names(ACTION.key)
        unclear = names is None and own is not None and len(set(own)) < len(own) and own != source.names(STATE.key)
        for known in (DATA_DELTA_NAMES, TOOL_DELTA_NAMES):
            if names is not None and set(names) == set(known):
                self.mode, self.action_names = CommandMode.TOOL_DELTA, TOOL_DELTA_NAMES
                self.actions = units.converted(actions[:, [names.index(name) for name in known]])
                return
        if (
            not unclear
            and self.joints is not None
            and len(self.joints) == width
            and (names is None or set(names) == set(self.joints))
        ):
            self.mode, self.action_names = CommandMode.JOINT_POSITION, names or self.joints
            if names is None:
                self.notes.append(
                    f"{source.folder} does not name the numbers of its actions: they are taken for positions of its "
                    f"joints, in their order; --action says otherwise, as {','.join(ACTION.names)}"
                )
            return
        called = ", ".join(names) if names else f"{width} numbers without names"
        self.action_names = names or tuple(f"action_{number}" for number in range(width))
        self.notes.append(
            f"{source.folder}: its actions ({called}) are neither tool deltas nor positions of its joints: they are "
            f"kept on {UNEXPLAINED}, to which no node listens; --action says what they are, as {','.join(ACTION.names)}"
        )


def _angles(joints: Sequence[str]) -> list[int]:
    return [k for k, name in enumerate(joints) if unit_of(name) == "rad"]


def _matrix(values: NDArray[Any] | None) -> NDArray[np.float64] | None:
    """Return a column as (T, D)."""
    if values is None:
        return None
    return np.array(values, np.float64).reshape(len(values), -1)  # a copy: what is read may not be written to
