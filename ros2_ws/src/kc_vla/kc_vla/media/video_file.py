"""A video file, read strictly: what is damaged in it is an error, and nothing is made up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import av
import numpy as np
from av.video.reformatter import VideoReformatter
from numpy.typing import NDArray


class VideoError(Exception):
    """It cannot be read (on); the text says why."""


@contextmanager
def opened_video(path: Path) -> Iterator[tuple[Any, Any, Callable[[Any], NDArray[np.uint8]]]]:
    """Container and stream of a video, and what makes (H, W, 3) RGB pixels of its frames; errors while it is open too.

    Raises:
        FileNotFoundError: it is missing.
        VideoError: it cannot be read.
    """
    reformatter = VideoReformatter()

    def pixels(frame: Any) -> NDArray[np.uint8]:
        return np.asarray(reformatter.reformat(frame, format="rgb24").to_ndarray(), np.uint8)

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
