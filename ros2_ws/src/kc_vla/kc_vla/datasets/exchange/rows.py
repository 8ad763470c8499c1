"""An episode bag as the rows of a data set: one for each image of the first view."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kc_vla.bags.errors import BagError
from kc_vla.bags.lock import require_finished
from kc_vla.bags.reader import MessageRef
from kc_vla.core.alignment import nearest
from kc_vla.core.chunk import ActionType
from kc_vla.core.codec import TOOL_POSE_NAMES, Codec
from kc_vla.core.robot import robot_of
from kc_vla.core.topics import DRIVER, depth_topic
from kc_vla.datasets.exchange.actions import joint_targets, tool_deltas
from kc_vla.datasets.exchange.clock import Clock, clock_of
from kc_vla.datasets.exchange.errors import ExchangeError
from kc_vla.datasets.exchange.mixed_actions import Done, in_one_mode, mode_of
from kc_vla.datasets.exchange.samples import MeasuredState, read_felt
from kc_vla.datasets.lerobot.layout import (
    ACTION,
    INTERVENTION,
    JOINT_POSITIONS,
    JOINT_VELOCITIES,
    STATE,
    Column,
)
from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.episodes.episode_data import CommandMode, driven_by_person
from kc_vla.episodes.recording import Recording, require_one

TOOL_POSE = Column("observation.tool_pose", "float32", TOOL_POSE_NAMES)
"""Beside a state of joint positions: position (m) and turn of the tool in the robot's base frame."""
UNKNOWN_ROBOT = "unknown"
"""LeRobot's `robot_type` where no known robot has these joints."""
_NEAR_NS = 100_000_000
"""A state that is nearer in time is as good as one of the frame itself ..."""
_FELT_WITHIN_NS = 500_000_000
"""... and one that is further away than this is none: the robot was silent."""
_NS = 1_000_000_000


@dataclass(frozen=True, eq=False)
class EpisodeRows:
    """An episode, row by row; images stay in the bag until they are asked for.

    Attributes:
        bag: where it came from.
        episode: what the bag holds.
        clock: when the frames were.
        robot: LeRobot's `robot_type`.
        columns: each (T, D), in the order in which they are to be in the data set.
        sizes: width and height of the images of each view that there is, px, the first first.
        notes: what a person should know of what was made of it.
    """

    bag: Path
    episode: RecordedEpisode
    clock: Clock
    robot: str
    columns: Mapping[Column, NDArray[np.float64]]
    sizes: Mapping[str, tuple[int, int]]
    notes: tuple[str, ...]
    _pictures: Mapping[str, tuple[MessageRef, ...]]

    def __len__(self) -> int:
        return len(self.clock.stamps)

    def rows(self) -> Iterator[tuple[dict[str, NDArray[np.float64]], dict[str, NDArray[np.uint8]]]]:
        """Yield the numbers of each row by column key, and its images by view, (H, W, 3) RGB.

        Raises:
            BagError: an image cannot be read, or has another size than the first; the message names its frame.
        """
        for number in range(len(self)):
            pictures = {view: self._picture(view, number) for view in self._pictures}
            yield {column.key: values[number] for column, values in self.columns.items()}, pictures

    def _picture(self, view: str, number: int) -> NDArray[np.uint8]:
        told = f"{self.bag}, frame {number}, {view}"
        try:
            pixels = self.episode.image(self._pictures[view][number])
        except BagError as error:
            raise ExchangeError(f"{told}: {error}") from error
        pixels = _even(pixels)
        height, width = pixels.shape[:2]
        if (width, height) != self.sizes[view]:
            first = "x".join(map(str, self.sizes[view]))
            raise ExchangeError(f"{told}: {width}x{height} pixels, the first has {first}")
        return pixels


def tells_who_drives(bag: Path) -> bool:
    """Return whether a person could take over from the policy in that episode.

    Raises:
        BagError: the bag cannot be read.
    """
    return bool(Recording(bag, by_index=True).topic(DRIVER))


def read_rows(bag: Path, interventions: bool = False) -> EpisodeRows:
    """Read an episode bag; with `interventions` there is a column of them, also where nobody could take over.

    Raises:
        BagError: it cannot be read, is being recorded, holds no episode, or no rows can be made of it; the message
            names the bag.
    """
    require_finished(bag)
    episode = RecordedEpisode(bag)
    require_one(bag, episode.episode_ids, "export")
    try:
        return _rows(bag, episode, interventions)
    except ExchangeError as error:
        raise type(error)(f"{bag}: {error}") from error


def _rows(bag: Path, episode: RecordedEpisode, interventions: bool) -> EpisodeRows:
    first, *beyond = episode.views
    seen = dict(episode.pictures(first))
    felt = read_felt(episode.recording)
    notes = [*episode.damages, *felt.notes]
    if unfelt := _unfelt(list(seen), felt):
        notes.append(f"{len(unfelt)} frames at the ends left out: the bag tells nothing of the robot there")
        seen = {stamp: ref for stamp, ref in seen.items() if stamp not in unfelt}
    clock = clock_of(np.array(list(seen), np.int64), episode.status.start_ns, episode.status.frame_period_s)
    if clock.missing:
        notes.append(f"frames missing between others: {clock.missing}")
    pictures = {first: tuple(seen.values())}
    for view in beyond:
        if others := episode.pictures(view):
            pictures[view], told = _nearest(view, others, clock)
            notes += told
    if deep := [view for view in episode.views if episode.recording.topic(depth_topic(view))]:
        notes.append(f"the depth of {', '.join(deep)} stays in the bag: a LeRobot data set holds none")
    sizes = {view: _size(episode, view, refs[0], notes) for view, refs in pictures.items()}
    notes += _far_states(felt, clock)
    robot, columns = _columns(episode, felt, clock)
    person = driven_by_person(episode.changes, clock.steps)
    if interventions:
        columns[INTERVENTION] = person[:, None].astype(float)
    if person.any():
        notes.append(f"a person had taken over in {person.sum()} of {len(person)} frames")
    return EpisodeRows(bag, episode, clock, robot, columns, sizes, tuple(notes), pictures)


def _unfelt(stamps: Sequence[int], felt: MeasuredState) -> set[int]:
    """Return the frames before and after everything that the robot measured: a recorder may hear a camera first.

    None where hardly a frame is left: then the error lists what is missing.
    """
    known = [samples.stamps for samples in (felt.positions, felt.tool_pose) if samples is not None]
    first = max((int(times[0]) for times in known), default=0) - _NEAR_NS
    last = min((int(times[-1]) for times in known), default=2**63) + _NEAR_NS
    unfelt = {stamp for stamp in stamps if not first <= stamp <= last}
    return unfelt if len(unfelt) < len(stamps) // 2 else set()


def _far_states(felt: MeasuredState, clock: Clock) -> list[str]:
    """Return a remark about the frames without a measured state: a busy machine may be silent for a while."""
    samples = felt.positions or felt.tool_pose
    if samples is None:
        return []
    stamps = samples.stamps[nearest(clock.stamps, samples.stamps)]
    return _told_if_far(stamps, clock, max(_NEAR_NS, 2 * _NS // clock.fps), "a robot state")


def _columns(
    episode: RecordedEpisode, felt: MeasuredState, clock: Clock
) -> tuple[str, dict[Column, NDArray[np.float64]]]:
    """Return the measured state and the action at each frame, in the space in which the arm was commanded.

    The joints of a known robot are called as its robot file has them in data sets.
    """
    within = max(_FELT_WITHIN_NS, 2 * _NS // clock.fps)
    commands, mode = episode.commands, mode_of(episode.commands, episode.changes)
    if felt.positions is None:
        action = [tool_deltas(commands, clock)] if mode == CommandMode.TOOL_DELTA else []
        action = action or _unexplained(felt, clock, within)
        return UNKNOWN_ROBOT, dict([*_tool_pose(felt, clock, within), *action])
    positions = felt.positions.at(clock.stamps, within)
    robot = robot_of(felt.positions.names)
    if robot is not None:
        tool = None if felt.tool_pose is None else felt.tool_pose.at(clock.stamps, within)
        commands = in_one_mode(commands, mode, clock, Done(robot, felt.positions.names, positions, tool))
    names = felt.positions.names if robot is None else robot.columns
    joints = [(Column(JOINT_POSITIONS.key, "float32", names), positions)]
    if felt.velocities is not None:
        joints.append((Column(JOINT_VELOCITIES.key, "float32", names), felt.velocities.at(clock.stamps, within)))
    if mode == CommandMode.JOINT_POSITION or felt.tool_pose is None or robot is None:
        state = [(Column(STATE.key, "float32", names), positions)]
        pose = _tool_pose(felt, clock, within)
    else:
        codec, tool_pose = Codec(robot, ActionType.TOOL_DELTA), felt.tool_pose.at(clock.stamps, within)
        state = [(STATE, codec.state(tool_pose, felt.positions.names, positions))]
        pose = []
    action = []
    if mode == CommandMode.TOOL_DELTA:
        action.append(tool_deltas(commands, clock))
    elif mode == CommandMode.JOINT_POSITION:
        column, rows = joint_targets(commands, clock, felt.positions.names, positions)
        action.append((Column(column.key, column.dtype, names), rows))
    return robot.robot_type if robot is not None else UNKNOWN_ROBOT, dict(
        [*state, *(action or _unexplained(felt, clock, within)), *joints, *pose]
    )


def _unexplained(felt: MeasuredState, clock: Clock, within: int) -> list[tuple[Column, NDArray[np.float64]]]:
    """Return actions that came with an imported data set, as they were there."""
    told = felt.unexplained
    return [] if told is None else [(Column(ACTION.key, "float32", told.names), told.at(clock.stamps, within))]


def _tool_pose(felt: MeasuredState, clock: Clock, within: int) -> list[tuple[Column, NDArray[np.float64]]]:
    return [] if felt.tool_pose is None else [(TOOL_POSE, felt.tool_pose.at(clock.stamps, within))]


def _nearest(
    view: str, pictures: list[tuple[int, MessageRef]], clock: Clock
) -> tuple[tuple[MessageRef, ...], list[str]]:
    """Return the image of another view that is nearest to each frame, and a remark about those that are far."""
    times = np.array([stamp for stamp, _ in pictures], np.int64)
    found = nearest(clock.stamps, times)
    told = _told_if_far(times[found], clock, _NS / clock.fps, f"a {view} picture")
    return tuple(pictures[at][1] for at in found.tolist()), told


def _told_if_far(stamps: NDArray[np.int64], clock: Clock, within_ns: float, what: str) -> list[str]:
    """Return a remark about the frames whose nearest, at the times `stamps` (T,), is further away than `within_ns`."""
    away = np.abs(stamps - clock.stamps)
    far = int((away > within_ns).sum())
    return [f"{far} frames have {what} from up to {away.max() / 1e6:.0f} ms away"] if far else []


def _size(episode: RecordedEpisode, view: str, ref: MessageRef, notes: list[str]) -> tuple[int, int]:
    """Return width and height of a camera's images in a video, by its first one.

    A remark goes into `notes` where they are smaller.

    Raises:
        ExchangeError: they are smaller than any video.
    """
    pixels = episode.image(ref)
    was = f"{pixels.shape[1]}x{pixels.shape[0]}"
    height, width = _even(pixels).shape[:2]
    if not height or not width:
        raise ExchangeError(
            f"the {view} images have {pixels.shape[1]}x{pixels.shape[0]} pixels: videos have 2x2 and more"
        )
    if pixels.shape[:2] != (height, width):
        was = f"{pixels.shape[1]}x{pixels.shape[0]}"
        notes.append(f"the {view} pictures of {was} pixels are cut to {width}x{height}: videos need even numbers")
    return width, height


def _even(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return an image without the last column or row where their number is odd, which no H.264 video can have."""
    height, width = pixels.shape[:2]
    return pixels[: height - height % 2, : width - width % 2]
