"""The way of the tool in an episode, and the chunk that it is about to execute, as points in the robot's base frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kc_vla.bags.errors import ReportError
from kc_vla.core.chunk import TOOL_DELTA_NAMES
from kc_vla.core.mounted_camera import Pose
from kc_vla.core.projection import project
from kc_vla.core.robot import Robot, robot_of
from kc_vla.core.topics import JOINT_STATES, ROBOT_DESCRIPTION, camera_info_topic
from kc_vla.core.urdf import DescriptionError, RobotTree
from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.episodes.episode_data import RecordedChunk, RecordedFrame
from kc_vla.episodes.transforms import RecordedTransforms

Points = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Lens:
    """What a bag says of a camera: the frame that it looks along, and how it projects (see `project`)."""

    frame: str
    matrix: NDArray[np.float64]
    model: str
    distortion: tuple[float, ...]


class ToolPath:
    """The path of the tool in an episode, and the chunk ahead of it, in the robot's base frame.

    Attributes:
        lenses: by view, of those cameras that the bag has a calibration of.
    """

    def __init__(self, episode: RecordedEpisode, robot: Robot) -> None:
        """Read the transforms, the lenses and the robot's description out of the bag of an episode.

        Raises:
            BagReadError: the bag cannot be read.
            ReportError: it does not tell where the tool was.
        """
        self._episode, self._robot = episode, robot
        self._transforms = RecordedTransforms(episode.recording)
        self._tools = {frame.index: self._pose(robot.tool_frame, frame.stamp_ns) for frame in episode.frames}
        self._tree = _described(episode)
        if not any(pose is not None for pose in self._tools.values()):
            raise ReportError(
                f"{episode.bag} does not tell where '{robot.tool_frame}' is in '{robot.base_frame}': record it with "
                "the node transforms (transforms:=auto), or name the robot that was recorded with --robot"
            )
        self.lenses = {view: lens for view in episode.views if (lens := lens_of(episode, view)) is not None}

    def done(self, frame: RecordedFrame) -> Points:
        """Return the positions of the tool from the beginning up to a frame (T, 3), m."""
        before = (self._tools[index] for index in sorted(self._tools) if index <= frame.index)
        return np.array([pose[:3, 3] for pose in before if pose is not None]).reshape(-1, 3)

    def planned(self, frame: RecordedFrame) -> Points:
        """Return where the chunk that runs at a frame would bring the tool from there (H, 3), m; (0, 3) for none."""
        nothing, tool = np.empty((0, 3)), self._tools[frame.index]
        running = [chunk for chunk in self._episode.chunks if chunk.observation_frame <= frame.index]
        if tool is None or not running:
            return nothing
        chunk = running[-1]
        actions = chunk.actions[frame.index - chunk.observation_frame :].astype(float)
        if chunk.names == TOOL_DELTA_NAMES:
            return np.asarray(tool[:3, 3] + np.cumsum(actions[:, :3], axis=0)).reshape(-1, 3)
        return self._of_joints(chunk, actions)

    def pixels(self, points: Points, view: str, frame: RecordedFrame) -> Points:
        """Return where points (N, 3) of the base frame are in a view's image of a frame (N, 2), px.

        They are NaN where they are not in it.

        A camera whose lens or place is not known shows none.
        """
        lens = self.lenses.get(view)
        camera = self._pose(lens.frame, frame.stamp_ns) if lens is not None else None
        if lens is None or camera is None:
            return np.full((len(points), 2), np.nan)
        return project(points, camera, lens.matrix, lens.model, lens.distortion)[0]

    def _pose(self, frame: str, stamp_ns: int) -> Pose | None:
        return self._transforms.pose(frame, self._robot.base_frame, stamp_ns)

    def _of_joints(self, chunk: RecordedChunk, actions: NDArray[np.float64]) -> Points:
        """Return the way of the tool for positions of the joints (H, D), as the recorded description has it."""
        if self._tree is None or self._robot.tool_frame not in self._tree.links:
            return np.empty((0, 3))
        rows = []
        for row in actions:
            positions = dict(zip(chunk.names, row.tolist(), strict=True))
            base, tool = (self._tree.pose(link, positions) for link in (self._robot.base_frame, self._robot.tool_frame))
            if base is not None and tool is not None:
                rows.append((np.linalg.inv(base) @ tool)[:3, 3])
        return np.array(rows).reshape(-1, 3)


def robot_of_bag(episode: RecordedEpisode) -> Robot:
    """Return the robot that was recorded, by the names of its joints.

    Raises:
        BagReadError: the bag cannot be read.
        ReportError: it is none that comes with the stack.
    """
    _, felt = next(episode.recording.messages(JOINT_STATES), ("", None))
    names = list(felt.name) if felt is not None else []
    if (robot := robot_of(names)) is None:
        told = ", ".join(names) or "none"
        raise ReportError(f"{episode.bag}: no robot file has the joints {told}: name the recorded robot with --robot")
    return robot


def spread(frames: Sequence[RecordedFrame], count: int) -> list[RecordedFrame]:
    """Return so many of the frames, at most, evenly over the episode and not at its ends."""
    at = {round((k + 0.5) / count * (len(frames) - 1)) for k in range(count)}
    return [frames[k] for k in sorted(at)]


def _described(episode: RecordedEpisode) -> RobotTree | None:
    """Return the robot as the bag describes it; None where it does not."""
    for _, message in episode.recording.messages(ROBOT_DESCRIPTION):
        try:
            return RobotTree(message.data)
        except DescriptionError as error:
            raise ReportError(f"{episode.bag}: the robot's description: {error}") from error
    return None


def lens_of(episode: RecordedEpisode, view: str) -> Lens | None:
    """Return the first calibration of a view in the bag; None for none.

    Raises:
        BagReadError: the bag cannot be read.
    """
    for _, told in episode.recording.messages(camera_info_topic(view)):
        matrix = np.array(told.k, float).reshape(3, 3)
        if matrix[0, 0] <= 0 or not np.isfinite(matrix).all():
            return None
        return Lens(told.header.frame_id, matrix, told.distortion_model or "plumb_bob", tuple(told.d))
    return None
