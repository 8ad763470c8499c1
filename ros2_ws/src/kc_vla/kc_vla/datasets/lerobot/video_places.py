"""Which image of a video belongs to which row of an episode, where the video has others beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.alignment import nearest
from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.datasets.lerobot.frames import VideoTimes

_SLACK = 0.55
"""Share of a frame's time by which an image may be early or late."""
_CLEAR = 0.25
"""Share of a frame's time; an episode that begins further from any image leaves open which image is meant."""
_NS = 1e9


@dataclass(frozen=True, eq=False)
class Places:
    """The images of an episode.

    Attributes:
        images: number of the image of each row, counted from 0 over the whole video, ascending.
        doubt: where the data set contradicts itself about them, the same words for all episodes; else empty.
        detail: of the doubt.
    """

    images: Sequence[int]
    doubt: str = ""
    detail: str = ""


def places_alone(times: VideoTimes, length: int, fps: float, stamps: NDArray[Any] | None) -> Places:
    """Return the images of an episode that has a video of its own.

    One image for each row is taken as it is. Of more images LeRobot shows those at the time stamps of the rows.

    Args:
        times: of the images of the video.
        length: rows of the episode.
        fps: frames per second that the data set declares.
        stamps: (T,) of the column `timestamp`, s; None where there is no such column.
    """
    if len(times) <= length:  # too few are told where they end
        return Places(range(length))
    detail = f"{len(times)} images, {length} rows"
    since = times.seconds - times.seconds[0]
    declared = np.arange(length) / fps
    known = stamps is not None and np.isfinite(stamps).all()
    told = [] if stamps is None or not known else [np.ravel(stamps), np.ravel(stamps) - np.ravel(stamps)[0]]
    for targets in (*told, declared):
        found = _nearest(since, targets)
        if (np.diff(found) > 0).all() and (np.abs(since[found] - targets) <= _SLACK / fps).all():
            wrong = "a video has more images than the episode has rows: those at the times of the rows are taken"
            return Places(found.tolist(), wrong, detail)
    wrong = "a video has more images than the episode has rows, at other times: the first ones are taken"
    return Places(range(length), wrong, detail)


def rhythm_doubt(times: VideoTimes, images: Sequence[int], rate: float, stamps: NDArray[Any] | None) -> tuple[str, str]:
    """Say where the images of an episode are shown at other times than its rows: what is wrong, and a detail.

    Args:
        times: of the images of the video.
        images: of the episode, as `Places.images`.
        rate: frames per second that count.
        stamps: (T,) of the column `timestamp`, s; None where there is no such column.
    """
    if not times.complete or not len(images) or images[-1] >= len(times):
        return "", ""
    shown = times.seconds[np.asarray(images)]
    since = shown - shown[0]
    told = [np.arange(len(images)) / rate, *([] if stamps is None else [np.ravel(stamps) - np.ravel(stamps)[0]])]
    away = min((np.abs(since - each) for each in told), key=lambda each: float(np.nan_to_num(each, nan=np.inf).max()))
    if not (away > _SLACK / rate).any():
        return "", ""
    frame = int(np.argmax(away > _SLACK / rate))
    wrong = "a video shows its images at other times than the rows of the episode: one image is taken for each row"
    return wrong, f"image {frame} {since[frame]:.3f} s after the first, row {frame} {told[-1][frame]:.3f} s"


def places_in_whole(times: VideoTimes, before: int, length: int, begin_s: float, fps: float) -> Places:
    """Return the images of an episode in a video that has just one image for each row of its episodes.

    Args:
        times: of the images of the video.
        before: rows of the episodes before it in the video.
        length: rows of the episode.
        begin_s: when it begins in the video, as `from_timestamp` says.
        fps: frames per second that the data set declares.
    """
    images = range(before, before + length)
    first_s = float(times.seconds[before])
    if abs(first_s - begin_s) <= _CLEAR / fps:
        return Places(images)
    wrong = "from_timestamp contradicts the lengths of the episodes: its images are taken by the lengths"
    return Places(images, wrong, f"{begin_s:.3f} s, its first image is at {first_s:.3f} s")


def places_by_time(times: VideoTimes, length: int, begin_s: float, fps: float, told: str, path: Path) -> Places:
    """Return the images of an episode in a video that has more or fewer images than its episodes have rows.

    Args:
        times: of the images of the video.
        length: rows of the episode.
        begin_s: when it begins in the video, as `from_timestamp` says.
        fps: frames per second that the data set declares.
        told: what an error calls the episode.
        path: of the video.

    Raises:
        DataSetError: a frame has no image there, or `from_timestamp` leaves open which image is the first.
    """
    targets = begin_s + np.arange(length) / fps
    if not len(times):
        return Places(range(length))  # it cannot be read, and reading says why
    found = _nearest(times.seconds, targets)
    away = np.abs(times.seconds[found] - targets)
    wrong = np.flatnonzero((away > _SLACK / fps) | (np.diff(found, prepend=-1) <= 0))
    if len(wrong):
        frame = int(wrong[0])
        raise DataSetError(f"{told}, frame {frame}: it is not in the video {path}, at {targets[frame]:.3f} s")
    if np.median(away) > _CLEAR / fps:
        raise DataSetError(
            f"{told}: from_timestamp is {begin_s:.3f} s, between two images of {path}, and the video has {len(times)} "
            "images, another number than its episodes have rows: correct from_timestamp in meta/episodes"
        )
    return Places(found.tolist())


def _nearest(seconds: NDArray[np.float64], targets: NDArray[np.float64]) -> NDArray[np.int64]:
    return nearest(*(np.rint(np.clip(each, 0, 1e9) * _NS).astype(np.int64) for each in (targets, seconds)))
