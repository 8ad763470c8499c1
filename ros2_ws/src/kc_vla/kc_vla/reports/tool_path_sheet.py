"""An image of the tool's way: frames of an episode, with where the tool was and where the chunk would bring it."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from kc_vla.bags.errors import ReportError
from kc_vla.core.robot import Robot
from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.episodes.episode_data import RecordedFrame
from kc_vla.media.canvas import AMBER, BLUE, GREEN, MUTED, Canvas, Colour, shortened
from kc_vla.reports.tool_path import Points, ToolPath, spread

FRAMES = 4
_VIEW, _GAP, _HEAD, _CAPTION = 420, 10, 44, 26
_FARTHEST_PX = 10_000.0
"""From the image: what is further out is drawn by no line."""


def write_tool_path(episode: RecordedEpisode, robot: Robot, path: Path, frame: int | None = None) -> None:
    """Write the image (.png) of an episode: of `FRAMES` frames, or of the one of that number.

    Raises:
        BagReadError: the bag cannot be read.
        ReportError: it has no such frame, does not tell where the tool was, or the file cannot be made.
        OSError: the file cannot be written.
    """
    way = ToolPath(episode, robot)
    if not way.lenses:
        raise ReportError(f"{episode.bag} has no calibration of any camera: there is nothing to draw the path into")
    frames = spread(episode.frames, FRAMES) if frame is None else [f for f in episode.frames if f.index == frame]
    if not frames:
        raise ReportError(f"{episode.bag} has no frame {frame}: it has {len(episode.frames)}")
    done, png = cv2.imencode(".png", cv2.cvtColor(_drawn(episode, way, frames).pixels, cv2.COLOR_RGB2BGR))
    if not done:
        raise ReportError(f"the tool's path of {episode.bag} cannot be encoded as PNG")
    path.write_bytes(png.tobytes())


def _drawn(episode: RecordedEpisode, way: ToolPath, frames: list[RecordedFrame]) -> Canvas:
    """Return a column for each frame, a row for each view with a known lens."""
    width = _GAP + len(frames) * (_VIEW + _GAP)
    canvas = Canvas(width, _HEAD + len(way.lenses) * (_VIEW + _GAP) + _CAPTION)
    x = _GAP + canvas.chip(_GAP, 10, "way of the tool", 15, BLUE) + 8
    x += canvas.chip(x, 10, "running chunk", 15, AMBER) + 8
    x += canvas.chip(x, 10, "tool", 15, GREEN) + 16
    canvas.text(x, 14, shortened(episode.status.title, 15, width - x), 15, MUTED)
    for column, frame in enumerate(frames):
        left = _GAP + column * (_VIEW + _GAP)
        for row, view in enumerate(way.lenses):
            _draw_view(canvas, left, _HEAD + row * (_VIEW + _GAP), episode, way, frame, view)
        seconds = episode.time_s(frame.stamp_ns)
        canvas.text(left, canvas.pixels.shape[0] - _CAPTION, f"frame {frame.index}  ·  {seconds:.2f} s", 15, MUTED)
    return canvas


def _draw_view(
    canvas: Canvas, left: int, top: int, episode: RecordedEpisode, way: ToolPath, frame: RecordedFrame, view: str
) -> None:
    ref = frame.pictures.get(view)
    if ref is None:
        return
    picture = episode.image(ref)
    height, width = picture.shape[:2]
    scale = _VIEW / max(height, width)
    tile = Canvas(_VIEW, _VIEW)
    tile.picture(0, 0, _VIEW, picture)
    margin = np.array([_VIEW - round(width * scale), _VIEW - round(height * scale)]) // 2

    def placed(points: Points) -> Points:
        # the middle of the first pixel is at (0, 0), also once the picture is larger
        return np.asarray((way.pixels(points, view, frame) + 0.5) * scale - 0.5 + margin)

    done, planned = way.done(frame), way.planned(frame)
    _draw_way(tile, placed(done), BLUE, 2)
    if len(planned):
        ahead = placed(np.concatenate([done[-1:], planned]))
        _draw_way(tile, ahead, AMBER, 2)
        for x, y in _inside(ahead[1:]):
            tile.diamond(x, y, 3.0, AMBER)
    for x, y in _inside(placed(done[-1:])):
        tile.diamond(x, y, 6.0, GREEN)
    canvas.pixels[top : top + _VIEW, left : left + _VIEW] = tile.pixels


def _draw_way(tile: Canvas, points: Points, colour: Colour, thickness: int) -> None:
    """Draw lines between neighbors that both are in front of the camera and near its image."""
    near = np.asarray((np.abs(np.nan_to_num(points, nan=np.inf)) < _FARTHEST_PX).all(axis=1))
    for k in np.flatnonzero(near[1:] & near[:-1]):
        tile.line(points[k : k + 2], colour, thickness)


def _inside(points: Points) -> list[tuple[float, float]]:
    inside = np.isfinite(points).all(axis=1) & ((points >= 0) & (points < _VIEW)).all(axis=1)
    return [(float(x), float(y)) for x, y in points[inside]]
