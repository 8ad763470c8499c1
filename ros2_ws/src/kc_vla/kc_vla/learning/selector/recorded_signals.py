"""What rules and events look at, out of the columns and the images of a recorded episode."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.robot import Robot, gripper_joints, shipped_robots
from kc_vla.datasets.exchange.rows import TOOL_POSE
from kc_vla.datasets.lerobot.layout import INFO, JOINT_POSITIONS, STATE, read_json
from kc_vla.datasets.lerobot.source import open_source
from kc_vla.keyframes.rules import Signals
from kc_vla.keyframes.scoring import ScorerInput
from kc_vla.learning.common.errors import DataError
from kc_vla.learning.selector.recordings import LabeledEpisode

Numbers = NDArray[np.float64]
_PLACE = STATE.names[:3]


def recorded_signals(recording: LabeledEpisode, needs: Collection[str]) -> list[Signals]:
    """Return what the rules look at in each frame of an episode.

    The fields of `Signals` in `needs` have values, the others NaN.

    Raises:
        BagError: columns or images cannot be read.
        DataError: the data set does not hold what is needed; the message names it.
    """
    unknown = np.full(recording.length, np.nan)
    found = dict.fromkeys(("brightness", "gripper", "height", "speed"), unknown)
    if "brightness" in needs:
        found["brightness"] = np.array([pixels.mean() for pixels in recording.data_set.frames(recording.episode)])
    if missing := [name for name in found if name in needs and name != "brightness"]:
        columns = _Columns(recording, "the rules of its task need")
        if "gripper" in missing:
            found["gripper"] = columns.opening()
        if "height" in missing or "speed" in missing:
            place = columns.place()
            moved = np.linalg.norm(np.diff(place, axis=0, prepend=place[:1]), axis=1)
            found |= {"height": place[:, 2], "speed": moved * recording.data_set.fps}
    rows = np.column_stack([found[name] for name in ("brightness", "gripper", "height", "speed")])
    return [Signals(*row) for row in rows.tolist()]


def recorded_sights(recording: LabeledEpisode) -> Iterator[ScorerInput]:
    """Yield what a selector that needs the measured state looks at in each frame of an episode; errors as above."""
    columns = _Columns(recording, "events need")
    openings, places = columns.opening().tolist(), columns.place()
    data_set, names = recording.data_set, [camera.view for camera in recording.cameras]
    films = [data_set.frames(recording.episode, camera.view, camera.named) for camera in recording.cameras]
    for frame, pictures in enumerate(zip(*films, strict=True)):
        views = dict(zip(names, pictures, strict=True))
        yield ScorerInput(round(frame * 1e9 / data_set.fps), views, openings[frame], places[frame])


class _Columns:
    """The numbers of an episode, told apart by their names."""

    def __init__(self, recording: LabeledEpisode, why: str) -> None:
        """Take the columns of a recording.

        Args:
            recording: whose columns these are.
            why: something is needed, for the line that says that it is missing.
        """
        self._why = why
        folder = recording.data_set.folder
        source, columns = open_source(folder), recording.data_set.columns(recording.episode)
        self._told = recording.name
        robot_type = str(read_json(folder / INFO).get("robot_type"))
        self._robot: Robot | None = next((robot for robot in shipped_robots() if robot.robot_type == robot_type), None)
        self._named: dict[str, tuple[tuple[str, ...], Numbers]] = {}
        for key in (JOINT_POSITIONS.key, STATE.key, TOOL_POSE.key):
            if key in columns:
                values = np.asarray(columns[key], np.float64).reshape(recording.length, -1)
                self._named[key] = source.names(key) or (), values

    def opening(self) -> Numbers:
        """Return the gripper width (T,), m: the sum of the joints called finger or gripper, as at run time."""
        for key in (JOINT_POSITIONS.key, STATE.key):
            names, values = self._numbers(key)
            fingers = gripper_joints(names)
            if fingers and names[:3] != _PLACE:
                return np.asarray(values[:, fingers].sum(axis=1))
        names, values = self._numbers(STATE.key)
        if names == STATE.names and self._robot is not None:  # a share of the widest
            return np.asarray(values[:, -1] * self._robot.opening)
        raise self._missing("the gripper's opening", f"{JOINT_POSITIONS.key} names a finger or gripper joint")

    def place(self) -> Numbers:
        """Return the position of the tool (T, 3), m, in the robot's base frame."""
        for key in (TOOL_POSE.key, STATE.key):
            names, values = self._numbers(key)
            if names[:3] == _PLACE:
                return values[:, :3]
        raise self._missing("the tool's place", f"{STATE.key} or {TOOL_POSE.key} begins with numbers named x, y, z")

    def _numbers(self, key: str) -> tuple[tuple[str, ...], Numbers]:
        return self._named.get(key, ((), np.empty((0, 0))))

    def _missing(self, what: str, wanted: str) -> DataError:
        return DataError(
            f"{self._told}: {self._why} {what}, which is known where {wanted}: "
            "mark these keyframes by hand (kc-vla annotate page)"
        )
