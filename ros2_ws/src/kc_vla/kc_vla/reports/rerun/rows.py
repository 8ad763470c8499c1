"""What of an episode is drawn over time, as columns of numbers, each row with its stamp and its frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.mounted_camera import pose_matrix
from kc_vla.core.stamps import nanoseconds
from kc_vla.core.topics import JOINT_STATES, TOOL_POSE
from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.episodes.episode_data import RecordedChunk

Row = tuple[int, int, Sequence[float]]
"""Stamp, ns of ROS time; frame; values."""


@dataclass(frozen=True, eq=False)
class TimedColumns:
    """Rows of the same kind, by time.

    Attributes:
        path: what they are, with / between its parts.
        names: of the values.
        stamps: (N,) ns of ROS time.
        frames: (N,) frame of the episode at each.
        values: (N, D).
    """

    path: str
    names: tuple[str, ...]
    stamps: NDArray[np.int64]
    frames: NDArray[np.int64]
    values: NDArray[np.float64]

    @classmethod
    def of(cls, path: str, names: Sequence[str], rows: Iterable[Row]) -> TimedColumns | None:
        """Return columns of rows in any order; None of none.

        Rows with another number of values are left out.
        """
        fitting = sorted((row for row in rows if len(row[2]) == len(names)), key=lambda row: row[0])
        if not fitting:
            return None
        stamps, frames, values = zip(*fitting, strict=True)
        return cls(path, tuple(names), np.array(stamps, np.int64), np.array(frames, np.int64), np.array(values, float))


class EpisodeClock:
    """The stamps and the frames of an episode: where messages tell the one, they get the other."""

    def __init__(self, episode: RecordedEpisode) -> None:
        """Take the rhythm of an episode.

        Args:
            episode: whose frames count.
        """
        self._start_ns = episode.status.start_ns
        self._period_ns = max(1, round(episode.status.frame_period_s * 1e9))
        self._stamps = {frame.index: frame.stamp_ns for frame in episode.frames}

    def frame(self, stamp_ns: int) -> int:
        """Return the frame whose time a stamp is in; negative before the episode."""
        return (stamp_ns - self._start_ns) // self._period_ns

    def stamp_ns(self, frame: int) -> int:
        """Return when a frame was taken, or would have been."""
        return self._stamps.get(frame, self._start_ns + frame * self._period_ns)


def columns(episode: RecordedEpisode) -> Iterator[TimedColumns]:
    """Yield all of an episode: joints, tool, the selector's scores, commands and chunks.

    Raises:
        BagReadError: the bag cannot be read.
    """
    clock = EpisodeClock(episode)
    found = (*_joints(episode, clock), *_scores(episode, clock), *_actions(episode, clock))
    yield from (each for each in found if each is not None)


def tool_poses(episode: RecordedEpisode) -> list[tuple[int, NDArray[np.float64]]]:
    """Stamp and pose (4, 4) of the tool in the robot's base frame, by time; m.

    Raises:
        BagReadError: the bag cannot be read.
    """
    found = []
    for _, message in episode.recording.messages(TOOL_POSE):
        at, turn = message.pose.position, message.pose.orientation
        quaternion = [turn.x, turn.y, turn.z, turn.w]
        if np.isfinite([at.x, at.y, at.z]).all() and 0.99 < np.linalg.norm(quaternion) < 1.01:
            found.append((nanoseconds(message.header.stamp), pose_matrix([at.x, at.y, at.z], quaternion)))
    return sorted(found, key=lambda each: each[0])


def _joints(episode: RecordedEpisode, clock: EpisodeClock) -> Iterator[TimedColumns | None]:
    positions: list[Row] = []
    velocities: list[Row] = []
    names: list[str] = []
    for _, message in episode.recording.messages(JOINT_STATES):
        stamp = nanoseconds(message.header.stamp)
        names = names or list(message.name)
        positions.append((stamp, clock.frame(stamp), list(message.position)))
        velocities.append((stamp, clock.frame(stamp), list(message.velocity)))
    yield TimedColumns.of("joints/position", names, positions)
    yield TimedColumns.of("joints/velocity", names, velocities)
    places = [(stamp, clock.frame(stamp), pose[:3, 3].tolist()) for stamp, pose in tool_poses(episode)]
    yield TimedColumns.of("tool/position", ("x", "y", "z"), places)


def _scores(episode: RecordedEpisode, clock: EpisodeClock) -> Iterator[TimedColumns | None]:
    scores = episode.scores.values()
    rows = [(clock.stamp_ns(each.frame), each.frame, (each.score, each.threshold)) for each in scores]
    yield TimedColumns.of("selector/score", ("score", "threshold"), rows)
    phases = [(clock.stamp_ns(each.frame), each.frame, (each.phase,)) for each in scores]
    yield TimedColumns.of("selector/phase", ("phase",), phases)


def _actions(episode: RecordedEpisode, clock: EpisodeClock) -> Iterator[TimedColumns | None]:
    """Yield the columns of each number of the actions: what was executed, and the chunks in lanes without overlap."""
    executed: dict[str, list[Row]] = {}
    for command in episode.commands:
        for name, value in zip(command.names, command.values.tolist(), strict=False):
            executed.setdefault(name, []).append((command.stamp_ns, command.step, (value,)))
    for name, rows in executed.items():
        yield TimedColumns.of(f"actions/{name}/executed", ("executed",), rows)
    for number, lane in enumerate(_lanes(episode.chunks)):
        planned: dict[str, list[Row]] = {}
        for chunk in lane:
            for at, values in enumerate((*chunk.actions.tolist(), [float("nan")] * len(chunk.names))):
                frame = chunk.observation_frame + at
                for name, value in zip(chunk.names, values, strict=False):
                    planned.setdefault(name, []).append((clock.stamp_ns(frame), frame, (value,)))
        for name, rows in planned.items():
            yield TimedColumns.of(f"actions/{name}/chunks/{number}", ("chunk",), rows)


def _lanes(chunks: Sequence[RecordedChunk]) -> list[list[RecordedChunk]]:
    """Return the chunks in as few lanes as it takes so that none overlap; a step is left between two."""
    lanes: list[list[RecordedChunk]] = []
    for chunk in sorted(chunks, key=lambda each: each.observation_frame):
        for lane in lanes:
            if lane[-1].observation_frame + len(lane[-1].actions) < chunk.observation_frame:
                lane.append(chunk)
                break
        else:
            lanes.append([chunk])
    return lanes
