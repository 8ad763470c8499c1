"""What a server calls our views, the parts of our state and the columns of our actions, and in which form it has them.

One mapping for each robot and model serves both ways: to ask a third-party server, and to answer their clients.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from kc_vla.core.chunk import ActionType
from kc_vla.core.errors import StackError
from kc_vla.core.robot import Robot
from kc_vla.core.views import Views
from kc_vla.policy.remote import wire
from kc_vla.policy.remote.array_columns import ArrayColumns, Kind
from kc_vla.policy.remote.image_format import ImageFormat
from kc_vla.policy.remote.path import Path, RobotPose, path_of
from kc_vla.policy.remote.rotations import Numbers, chained, unchained
from kc_vla.policy.remote.wire import WireError

Key = tuple[str, ...]
"""Where an array is: a name, or the names of maps within maps."""
Arrays = dict[Key, NDArray[Any]]
MOST_ACTIONS = 512
"""Most actions that are taken of a chunk."""


class MappingError(StackError):
    """A mapping that is not there, is not understood, or does not fit robot or server; the text says why."""


@dataclass(frozen=True)
class PolicyMapping:
    """The names and forms that a server has for the robot's views, state and actions.

    `kc_vla.policy.remote.mapping_file` describes the file.

    Attributes:
        name: of the file.
        robot: the robot.
        speaks: openpi or groot.
        pictures: how each is sent.
        state: the parts of each array, in order.
        actions: the same of the actions.
        instruction: key of the instruction; empty: as the server calls it.
        text: what that is; `{instruction}` in it stands for the instruction.
        rate: actions per second of the server.
        history: moments that are sent, the present one included; 0: as many as the server wants.
    """

    name: str
    robot: Robot
    speaks: str
    pictures: Mapping[Key, ImageFormat]
    state: Mapping[Key, tuple[ArrayColumns, ...]]
    actions: Mapping[Key, tuple[ArrayColumns, ...]]
    instruction: str
    text: str
    rate: float
    history: int

    @property
    def action_type(self) -> ActionType:
        """Return the type of the robot's commands."""
        joints = any(part.kind == "joints" for parts in self.actions.values() for part in parts)
        return ActionType.JOINT_POSITION if joints else ActionType.TOOL_DELTA

    def told(self, instruction: str) -> str:
        """Return the text for the policy."""
        return self.text.replace("{instruction}", instruction)

    def size(self, parts: Sequence[ArrayColumns]) -> int:
        """Return columns of an array of these parts."""
        return sum(part.size(self.robot) for part in parts)

    # -- as a client --------------------------------------------------------------------------------------------

    def sent(self, views: Views, body: RobotPose) -> Arrays:
        """Return the images, uint8, and the arrays of the state, (S,) float32, of one moment."""
        arrays: Arrays = {key: look.sent(views[look.view]) for key, look in self.pictures.items()}
        for key, parts in self.state.items():
            columns = [_state_written(part, body) for part in parts]
            arrays[key] = np.concatenate(columns).astype(np.float32)
        return arrays

    def taken(self, arrays: Mapping[Key, Any], body: RobotPose) -> NDArray[np.float32]:
        """Return arrays (H, D) of a server as actions of the stack (H, A), of a robot that is where `body` says.

        Raises:
            WireError: one is missing, is not of that shape or not finite, or is no motion.
        """
        values = self._columns(arrays)
        count = len(next(iter(values.values())))
        found = _read(values, body, count)
        return found.at_rate(self.rate, self.robot.control_rate, body).actions(self.robot, body).astype(np.float32)

    # -- as a server --------------------------------------------------------------------------------------------

    def seen(self, arrays: Mapping[Key, Any]) -> tuple[dict[str, NDArray[np.uint8]], RobotPose]:
        """Return the inverse of `sent`; what no part says of the robot is None.

        Raises:
            WireError: an array is missing or not as it should be.
        """
        views: dict[str, NDArray[np.uint8]] = {}
        for key, look in self.pictures.items():
            views[look.view] = look.seen(_there(arrays, key), _named(key))
        pose, joints, share = np.full(7, np.nan), None, None
        for key, parts in self.state.items():
            row = wire.numbers(_there(arrays, key), _named(key), 1)
            if len(row) != self.size(parts):
                raise WireError(f"{_named(key)} has {len(row)} numbers: expected are {self.size(parts)}")
            for part, values in self._cut(parts, row[None]):
                if part.kind == "position":
                    pose[:3] = values[0] * part.unit - part.base
                elif part.kind == "rotation":
                    pose[3:] = part.turns_read(values).as_quat()[0]
                elif part.kind == "joints":
                    joints = values[0] * part.unit
                elif part.kind == "gripper":
                    share = float(part.gripper_read(values)[0])
        return views, RobotPose(None if np.isnan(pose).any() else pose, joints, share)

    def given(self, actions: Numbers, body: RobotPose) -> Arrays:
        """Return actions of the stack (H, A) as a server would give them: arrays (H, D) float32.

        It is the inverse of `taken`.
        """
        path = path_of(actions, self.action_type, self.robot, body)
        path = path.at_rate(self.robot.control_rate, self.rate, body)
        return {
            key: np.concatenate([_written(part, path, body) for part in parts], axis=1).astype(np.float32)
            for key, parts in self.actions.items()
        }

    def _columns(self, arrays: Mapping[Key, Any]) -> dict[Kind, tuple[ArrayColumns, Numbers]]:
        """Return each kind of part in the actions, with the part and its columns (H, size)."""
        found: dict[Kind, tuple[ArrayColumns, Numbers]] = {}
        counts = set()
        for key, parts in self.actions.items():
            rows = wire.numbers(_there(arrays, key), _named(key), 2)
            counts.add(len(rows))
            if rows.shape[1] != self.size(parts):
                raise WireError(f"{_named(key)} has {rows.shape[1]} columns: the mapping has {self.size(parts)}")
            found |= {part.kind: (part, values) for part, values in self._cut(parts, rows)}
        if len(counts) != 1 or max(counts) > MOST_ACTIONS:
            raise WireError(f"there are {' and '.join(map(str, sorted(counts)))} actions: {MOST_ACTIONS} are the most")
        return found

    def _cut(self, parts: Sequence[ArrayColumns], rows: Numbers) -> list[tuple[ArrayColumns, Numbers]]:
        ends = np.cumsum([part.size(self.robot) for part in parts])
        return list(zip(parts, np.split(rows, ends[:-1], axis=1), strict=True))


def _named(key: Key) -> str:
    return "/".join(key)


def _there(arrays: Mapping[Key, Any], key: Key) -> Any:
    if key not in arrays:
        raise WireError(f"there is no {_named(key)}")
    return arrays[key]


def _state_written(part: ArrayColumns, body: RobotPose) -> Numbers:
    """Return a part of the state (size,)."""
    if part.kind == "constant":
        return np.array(part.constant)
    if part.kind == "gripper":
        assert body.share is not None
        return np.asarray(part.gripper_written(np.array([body.share]))[0])
    if part.kind == "joints":
        assert body.joints is not None
        return body.joints / part.unit
    assert body.pose is not None
    if part.kind == "rotation":
        return np.asarray(part.turns_written(Rotation.from_quat(body.pose[None, 3:]))[0])
    return np.asarray((body.pose[:3] + part.base) / part.unit)


def _read(values: Mapping[Kind, tuple[ArrayColumns, Numbers]], body: RobotPose, count: int) -> Path:
    """Return the columns as a path; a gripper or a turn without a command stays as it is."""
    shares = np.full(count, body.share)
    if "gripper" in values:
        part, columns = values["gripper"]
        shares = part.gripper_read(columns)
    if "joints" in values:
        assert body.joints is not None
        part, columns = values["joints"]
        return Path(_reached(part, columns * part.unit, body.joints), None, shares)
    assert body.pose is not None
    first = Rotation.from_quat(body.pose[3:])
    turns = Rotation.concatenate([first] * count)
    if "rotation" in values:
        part, columns = values["rotation"]
        turns = part.turns_read(columns)
        if part.how == "step":
            turns = chained(first, turns, part.in_tool)
        elif part.how == "start":
            turns = first * turns if part.in_tool else turns * first
    part, columns = values["position"]
    moves = columns * part.unit
    if part.in_tool and part.how != "absolute":
        moves = _axes(part, first, turns).apply(moves)
    return Path(_reached(part, moves, body.pose[:3]), turns, shares)


def _written(part: ArrayColumns, path: Path, body: RobotPose) -> Numbers:
    """Return the columns (H, size) of a part; the inverse of `_read`."""
    if part.kind == "constant":
        return np.tile(np.array(part.constant), (len(path.places), 1))
    if part.kind == "gripper":
        return part.gripper_written(path.shares)
    if part.kind == "joints":
        assert body.joints is not None
        return _told(part, path.places, body.joints) / part.unit
    assert body.pose is not None
    assert path.turns is not None
    first, turns = Rotation.from_quat(body.pose[3:]), path.turns
    if part.kind == "rotation":
        if part.how == "step":
            turns = unchained(first, turns, part.in_tool)
        elif part.how == "start":
            turns = first.inv() * turns if part.in_tool else turns * first.inv()
        return part.turns_written(turns)
    moves = _told(part, path.places, body.pose[:3])
    if part.in_tool and part.how != "absolute":
        moves = _axes(part, first, turns).inv().apply(moves)
    return np.asarray(moves / part.unit)


def _axes(part: ArrayColumns, first: Rotation, turns: Rotation) -> Rotation:
    """Return how the tool is turned where each move of a part begins (H,)."""
    if part.how == "start" or len(turns) == 1:
        return Rotation.concatenate([first] * len(turns))
    return Rotation.concatenate([first, turns[:-1]])


def _reached(part: ArrayColumns, values: Numbers, first: Numbers) -> Numbers:
    if part.how == "step":
        return np.asarray(first + np.cumsum(values, axis=0))
    return first + values if part.how == "start" else values - part.base


def _told(part: ArrayColumns, places: Numbers, first: Numbers) -> Numbers:
    if part.how == "step":
        return np.diff(places, axis=0, prepend=first[None])
    return places - first if part.how == "start" else places + part.base
