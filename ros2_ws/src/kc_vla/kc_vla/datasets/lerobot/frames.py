"""The pictures of an episode: its video, frame by frame."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.media.video_file import VideoError, opened_video

_SLACK = 0.55
"""Of a frame's time, by which a picture may be early or late."""


def read_frames(
    path: Path, told: str, length: int, begin_s: float | None = None, fps: float = 0.0
) -> Iterator[NDArray[np.uint8]]:
    """Decode a video, or the part of it that is an episode: `length` pictures (H, W, 3), RGB.

    Args:
        path: of the video.
        told: what an error calls the episode.
        length: frames that it must have.
        begin_s: when the episode begins in a video of several; by default it is the whole video.
        fps: frames per second, for `begin_s`.

    Raises:
        DataSetError: it is missing, too short or too long, or a frame of it cannot be read; none is ever made up.
    """
    frame = 0
    try:
        with opened_video(path) as (container, stream, pixels):
            pictures = container.decode(stream) if begin_s is None else _from(container, stream, begin_s, fps)
            for picture in pictures:
                if begin_s is not None and frame == length:
                    return
                if begin_s is not None and abs(picture.time - begin_s - frame / fps) > _SLACK / fps:
                    raise DataSetError(f"{told}, frame {frame}: it is not in the video {path}, at {picture.time:.3f} s")
                if picture.is_corrupt:
                    raise DataSetError(f"{told}, frame {frame}: damaged in the video {path}")
                if frame == length:
                    raise DataSetError(f"{told}, frame {frame}: the video {path} goes on, the episode has ended")
                yield pixels(picture)
                frame += 1
    except FileNotFoundError:
        raise DataSetError(f"{told}, frame 0: the video {path} is missing") from None
    except VideoError as error:
        raise DataSetError(f"{told}, frame {frame}: the video {path} cannot be read: {error}") from error
    if frame < length:
        raise DataSetError(f"{told}, frame {frame}: the video {path} ends here, the episode has {length} frames")


def _from(container: Any, stream: Any, begin_s: float, fps: float) -> Iterator[Any]:
    """The pictures of a video from that time on."""
    container.seek(max(0, int(begin_s / stream.time_base)), stream=stream)
    for picture in container.decode(stream):
        if picture.time >= begin_s - 0.5 / fps:
            yield picture
