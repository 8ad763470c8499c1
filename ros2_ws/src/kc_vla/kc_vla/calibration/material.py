"""What calibration works on: images of a camera, a video or a folder, and recorded episodes with joint states."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from kc_vla.bags.errors import BagReadError
from kc_vla.calibration.board import Array, CalibrationBoard, Corners
from kc_vla.calibration.errors import PoorCalibrationError
from kc_vla.cameras.sources import SourceSpec, open_source
from kc_vla.core.stamps import nanoseconds
from kc_vla.episodes.recording import Recording

Picture = NDArray[np.uint8]
_MOVED_PX = 12.0
"""A view that differs less from the one before says nothing new; also one taken while the board moves is blurred."""
_STILL = 0.02
"""rad/s, of an arm that stands."""
_SETTLED_S = 0.3
_ARM_JOINTS = 6


@dataclass(frozen=True, eq=False)
class BoardView:
    """An image in which the board was found.

    Attributes:
        picture: (H, W, 3) uint8 RGB.
        corners: what was found.
        angles: angles of the joints at that stamp (6,), rad; None where they are not known.
    """

    picture: Picture
    corners: Corners
    angles: Array | None = None


@dataclass(frozen=True, eq=False)
class Joints:
    """Joint states of a recording: stamps (N,), s, and angles (N, 6), rad."""

    times: Array
    angles: Array

    @property
    def speeds(self) -> Array:
        """Return the speed of the fastest joint at each stamp (N,), rad/s."""
        return np.asarray(np.abs(np.gradient(self.angles, self.times, axis=0)).max(axis=1))


def board_views(source: SourceSpec, board: CalibrationBoard, most: int) -> list[BoardView]:
    """Return different views of the board from a device, a video or a folder of images.

    They are at most so many, or those until Ctrl-C.

    Raises:
        CameraError: the source cannot be read.
    """
    views: list[BoardView] = []
    pictures = open_source(source)
    bar = tqdm(total=most, desc="views of the board", unit="view")
    try:
        while len(views) < most and (frame := pictures.read()) is not None:
            corners = board.find(frame.pixels)
            if corners is not None and (not views or _differ(corners, views[-1].corners)):
                views.append(BoardView(frame.pixels, corners))
                bar.update()
    except KeyboardInterrupt:  # of a camera there is no other end before there are enough
        bar.write(f"Ctrl-C: goes on with the {len(views)} views that there are")
    finally:
        bar.close()
        pictures.close()
    return views


def standing_views(recording: Recording, view: str, board: CalibrationBoard) -> list[BoardView]:
    """Return one view for each place at which the arm stood still with the board in sight.

    Args:
        recording: of an episode.
        view: the camera's.
        board: what to look for.

    Raises:
        BagReadError: the bag cannot be read.
        PoorCalibrationError: it has no joint states.
    """
    joints = recorded_joints(recording)
    stands = joints.speeds < _STILL
    views: list[BoardView] = []
    for when, picture in tqdm(recorded_pictures(recording, view), desc="pictures", unit="picture"):
        near = np.abs(joints.times - when) < _SETTLED_S
        if not near.any() or not stands[near].all():
            continue
        angles = joints.angles[np.abs(joints.times - when).argmin()]
        if views and views[-1].angles is not None and np.abs(views[-1].angles - angles).max() < _STILL:
            continue  # still there
        if (corners := board.find(picture)) is not None:
            views.append(BoardView(picture, corners, angles))
    return views


def recorded_joints(recording: Recording) -> Joints:
    """Return the joint states of a recording.

    Raises:
        BagReadError: the bag cannot be read.
        PoorCalibrationError: it has none of an arm of six joints.
    """
    rows = [
        (nanoseconds(told.header.stamp) * 1e-9, *told.position[:_ARM_JOINTS])
        for _, told in recording.walk("joint_states")
        if len(told.position) >= _ARM_JOINTS
    ]
    if len(rows) < 2:
        raise PoorCalibrationError(f"{recording.bag} has no joint states: record with record:=true while the arm moves")
    table = np.array(sorted(rows), float)
    times, first = np.unique(table[:, 0], return_index=True)
    return Joints(times, table[first, 1:])


def recorded_pictures(recording: Recording, view: str) -> Iterator[tuple[float, Picture]]:
    """Stamp in s and image of each image of a camera.

    Raises:
        BagReadError: the bag cannot be read, or has no such view.
    """
    if view not in recording.views:
        raise BagReadError(f"{recording.bag} has no view '{view}': it has {', '.join(recording.views)}")
    return ((recording.stamp_ns(ref) * 1e-9, recording.image(ref)) for ref in recording.pictures(view))


def picture_speeds(recording: Recording, view: str) -> tuple[Array, Array]:
    """Return when (N,), s, and how much (N,) the images of a camera change from one to the next.

    Raises:
        BagReadError: the bag cannot be read.
        PoorCalibrationError: it has no images of this camera.
    """
    times, speeds = [], []
    before: tuple[float, Picture] | None = None
    for when, picture in tqdm(recorded_pictures(recording, view), desc="pictures", unit="picture"):
        if before is not None and when > before[0]:
            change = np.abs(picture.astype(np.int16) - before[1]).mean()
            times.append((when + before[0]) / 2)
            speeds.append(float(change) / (when - before[0]))
        before = when, picture
    if len(times) < 2:
        raise PoorCalibrationError(f"{recording.bag} has no images of the camera '{view}'")
    return np.array(times), np.array(speeds)


def _differ(corners: Corners, other: Corners) -> bool:
    """Return whether the board lies elsewhere in the image."""
    mine = {tuple(point): pixel for point, pixel in zip(corners.points.tolist(), corners.pixels, strict=True)}
    theirs = {tuple(point): pixel for point, pixel in zip(other.points.tolist(), other.pixels, strict=True)}
    both = mine.keys() & theirs.keys()
    return not both or float(np.median([np.linalg.norm(mine[p] - theirs[p]) for p in both])) > _MOVED_PX
