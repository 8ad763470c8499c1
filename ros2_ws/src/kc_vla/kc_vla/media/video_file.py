"""A video file, read strictly: what is damaged in it is an error, and nothing is made up.

Telephones store their videos as the sensor lies, with a matrix that says how players are to turn them; that is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import av
import numpy as np
from av.sidedata.sidedata import Type as SideData
from av.video.reformatter import VideoReformatter
from numpy.typing import NDArray

_MATRIX_NUMBERS = 9


class VideoError(Exception):
    """It cannot be read (on); the text says why."""


@contextmanager
def opened_video(path: Path) -> Iterator[tuple[Any, Any, Callable[[Any], NDArray[np.uint8]]]]:
    """Open a video: yield its container, its stream, and what makes (H, W, 3) RGB pixels of its frames.

    Errors may come while it is open, too.

    The pixels are turned and mirrored as the file says, see `upright`.

    Raises:
        FileNotFoundError: it is missing.
        VideoError: it cannot be read.
    """
    reformatter = VideoReformatter()

    def pixels(frame: Any) -> NDArray[np.uint8]:
        stored = np.asarray(reformatter.reformat(frame, format="rgb24").to_ndarray(), np.uint8)
        return upright(stored, _matrix(frame))

    try:
        # A decoder left to itself paints over what it cannot read.
        with av.open(str(path), options={"err_detect": "explode"}) as container:
            stream = container.streams.video[0]
            stream.codec_context.options = {"err_detect": "explode"}
            yield container, stream, pixels
    except FileNotFoundError:
        raise
    except (av.FFmpegError, IndexError) as error:
        raise VideoError(error.strerror if isinstance(error, av.FFmpegError) else "it holds no video") from error


Matrix = tuple[int, int, int, int]
"""How a stored image lies when it is shown, as in an MP4 file: a, b, c, d of x' = a x + c y, y' = b x + d y."""
AS_STORED: Matrix = (1, 0, 0, 1)


def display_matrix(path: Path) -> Matrix:
    """Return the turn of a video's images by its metadata; `AS_STORED` without these or if the file is unreadable."""
    try:
        with av.open(str(path)) as container:
            return _matrix(next(container.decode(video=0)))
    except (av.FFmpegError, IndexError, StopIteration):
        return AS_STORED


def upright(pixels: NDArray[np.uint8], matrix: Matrix) -> NDArray[np.uint8]:
    """Turn a stored image (H, W, ...) by quarters, and mirror it, as `matrix` says; what lies between is rounded."""
    a, b, c, d = matrix
    if abs(a) + abs(d) >= abs(b) + abs(c):
        across, down = a, d
    else:
        pixels, across, down = pixels.swapaxes(0, 1), c, b
    turned = pixels[:: -1 if down < 0 else 1, :: -1 if across < 0 else 1]
    return np.ascontiguousarray(turned)


def _matrix(frame: Any) -> Matrix:
    told = frame.side_data.get(SideData.DISPLAYMATRIX)
    if told is None:
        return AS_STORED
    numbers = np.frombuffer(bytes(told), np.int32)
    if len(numbers) != _MATRIX_NUMBERS:
        return AS_STORED
    a, b, _, c, d, *_ = map(int, numbers)
    return a, b, c, d
