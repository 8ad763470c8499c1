"""Videos, one of each view, with a table of joints into an episode bag."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from kc_vla.datasets.exchange.bag_output import JPEG_QUALITY, START_NS, Announcement, BagOutput, picture_topic
from kc_vla.datasets.exchange.errors import ExchangeError
from kc_vla.datasets.exchange.imported import Imported, task_and_instruction
from kc_vla.datasets.exchange.joints_csv import JointTable, read_joints
from kc_vla.media.video_file import VideoError, opened_video

_JOINTS = "joints"
"""In place of a view, which is never called so."""
_LONGER = 3.0
"""A table of joints that goes on for so many times the video is in another unit of time."""


@dataclass(frozen=True)
class Videos:
    """What is to be imported as one episode.

    Attributes:
        views: a video of each, begun at the same time; the images of the first are the frames.
        joints: CSV of joints, see `joints_csv`, its time 0 the videos' beginning; or None.
        task: name of the task.
        instruction: in words; by default the task's.
        name: of the episode; by default that of the first video.
        quality: of the images, JPEG, of 100; `RAW`: as they are.
    """

    views: Mapping[str, Path]
    joints: Path | None = None
    task: str | None = None
    instruction: str = ""
    name: str | None = None
    quality: int = JPEG_QUALITY


def import_videos(videos: Videos, output: Path) -> Imported:
    """Write the bag `output`/<name>/bag.

    Raises:
        BagError: a file cannot be read, or the bag cannot be written; the message names the file and its frame.
    """
    first, film = next(iter(videos.views.items()))
    task, instruction = task_and_instruction(videos.task, videos.instruction, str(film))
    joints = read_joints(videos.joints) if videos.joints is not None else None
    period_s, length = _rhythm(film)
    name = videos.name or film.stem
    topics = [*(picture_topic(view, videos.quality) for view in videos.views), *(["/joint_states"] if joints else [])]
    counts, last_s = dict.fromkeys(videos.views, 0), 0.0
    with BagOutput(output, Announcement(name, task, instruction, START_NS, period_s), topics) as bag:
        with tqdm(total=length, desc=f"import {name}", unit="frame") as bar:
            # Only the times are compared: pictures of a pair may have the same.
            for time_s, _, view, content in heapq.merge(*_streams(videos.views, joints), key=lambda item: item[:2]):
                stamp = START_NS + round(time_s * 1e9)
                if view == _JOINTS:
                    bag.joints(joints.names if joints else (), content.tolist(), (), stamp)
                    continue
                bag.picture(view, content, stamp, videos.quality)
                counts[view] += 1
                if view == first:
                    last_s = time_s
                    bar.update()
        if not counts[first]:
            raise ExchangeError(f"{film}, frame 0: the video has no images")
        if joints is not None and joints.times_s[-1] > _LONGER * (last_s + period_s):
            raise ExchangeError(
                f"{videos.joints} goes to {joints.times_s[-1]:g} s, the video to {last_s:g} s: times are in s"
            )
        bag.finish(START_NS + round(last_s * 1e9))
    notes = _notes(joints, videos, last_s, period_s)
    notes += [
        f"{film} has {counts[first]} pictures, {videos.views[view]} {count}"
        for view, count in counts.items()
        if count != counts[first]
    ]
    return Imported((output / name,), counts[first], tuple(notes))


def _streams(files: Mapping[str, Path], joints: JointTable | None) -> list[Iterator[tuple[float, int, str, Any]]]:
    """Return streams of time, rank, view and content, each by time; at one time joints come last."""
    streams = [_labelled(path, rank, view) for rank, (view, path) in enumerate(files.items())]
    if joints is not None:
        kept = joints.times_s >= 0
        rows = zip(joints.times_s[kept].tolist(), joints.positions[kept], strict=True)
        streams.append((time, len(files), _JOINTS, row) for time, row in rows)
    return streams


def _labelled(path: Path, rank: int, view: str) -> Iterator[tuple[float, int, str, Any]]:
    for time_s, pixels in video_pictures(path):
        yield time_s, rank, view, pixels


def video_pictures(path: Path) -> Iterator[tuple[float, NDArray[np.uint8]]]:
    """Yield the time in s since the first, and pixels (H, W, 3), RGB, of each image of a video.

    Raises:
        ExchangeError: it cannot be read; the message names the frame.
    """
    frame, begin = 0, 0.0
    try:
        with opened_video(path) as (container, stream, pixels):
            for picture in container.decode(stream):
                if picture.is_corrupt or picture.time is None:
                    raise ExchangeError(f"{path}, frame {frame}: damaged, or without a time")
                begin = picture.time if frame == 0 else begin
                yield float(picture.time - begin), pixels(picture)
                frame += 1
    except FileNotFoundError:
        raise ExchangeError(f"there is no video {path}") from None
    except VideoError as error:
        raise ExchangeError(f"{path}, frame {frame}: the video cannot be read: {error}") from error


def _rhythm(path: Path) -> tuple[float, int | None]:
    """Return the time between two images of a video in s, and how many there are, as far as the video says."""
    try:
        with av.open(str(path)) as container:
            stream = container.streams.video[0]
            rate = stream.average_rate
            length = stream.frames or None
    except FileNotFoundError:
        raise ExchangeError(f"there is no video {path}") from None
    except (av.FFmpegError, IndexError) as error:
        raise ExchangeError(f"{path} is no video that can be read: {error}") from error
    if not rate:
        raise ExchangeError(f"{path} does not state its frame rate")
    return float(1 / rate), length


def _notes(joints: JointTable | None, videos: Videos, last_s: float, period_s: float) -> list[str]:
    if joints is None:
        return ["no joints: the bag can be annotated, a data set of it has no state"]
    begin, end = float(joints.times_s[0]), float(joints.times_s[-1])
    if begin > period_s or end < last_s - period_s:
        return [f"{videos.joints} tells of {begin:g} to {end:g} s, the video goes from 0 to {last_s:g} s"]
    return []
