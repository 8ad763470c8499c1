"""The images of an episode: its video, image by image."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kc_vla.datasets.lerobot.errors import DataSetError
from kc_vla.media.video_file import VideoError, opened_video


@dataclass(frozen=True, eq=False)
class VideoTimes:
    """When the images of a video are shown, as its container says without decoding any.

    Attributes:
        ticks: (N,) of each image, ascending; in units of the stream.
        seconds: (N,) the same in s, from the beginning of the video.
        complete: whether each image says its time, so that the video can be read from the middle.
    """

    ticks: NDArray[np.int64]
    seconds: NDArray[np.float64]
    complete: bool

    def __len__(self) -> int:
        return len(self.ticks)


def video_times(path: Path, fps: float) -> VideoTimes:
    """Return the times of a video's images, by `fps` if the video has none; empty if it cannot be read."""
    base, ticks = 1.0, list[int | None]()
    # Whoever reads the images meets the damage, and says where it is.
    with suppress(FileNotFoundError, VideoError), opened_video(path) as (container, stream, _):
        base = float(stream.time_base or 1)
        ticks.extend(packet.pts for packet in container.demux(stream) if packet.size and not packet.is_discard)
    known = sorted(tick for tick in ticks if tick is not None)
    complete = len(known) == len(ticks)
    times = np.array(known if complete else range(len(ticks)), np.int64)
    seconds = times * base if complete else times / fps
    return VideoTimes(times, seconds.astype(np.float64), complete)


def read_frames(
    path: Path, told: str, places: Sequence[int], times: VideoTimes | None = None
) -> Iterator[NDArray[np.uint8]]:
    """Decode the images of a video that are at `places`, each (H, W, 3), RGB.

    Args:
        path: of the video.
        told: what an error calls the episode.
        places: number of the image of each frame, counted from 0 over the whole video, ascending.
        times: of its images; with them reading begins near the first place, otherwise at the first image.

    Raises:
        DataSetError: it is missing or too short, or an image of it cannot be read; none is ever made up.
    """
    frame = at = 0
    seek = times is not None and times.complete and 0 < places[0] < len(times)
    try:
        with opened_video(path) as (container, stream, pixels):
            if seek and times is not None:
                container.seek(int(times.ticks[places[0]]), stream=stream)
            for number, picture in enumerate(container.decode(stream)):
                if number == 0 and seek and times is not None:
                    at = int(np.searchsorted(times.ticks, picture.pts))
                if at == places[frame]:
                    if picture.is_corrupt:
                        raise DataSetError(f"{told}, frame {frame}: damaged in the video {path}")
                    yield pixels(picture)
                    frame += 1
                    if frame == len(places):
                        return
                at += 1
    except FileNotFoundError:
        raise DataSetError(f"{told}, frame 0: the video {path} is missing") from None
    except VideoError as error:
        raise DataSetError(f"{told}, frame {frame}: the video {path} cannot be read: {error}") from error
    raise DataSetError(f"{told}, frame {frame}: the video {path} ends here, the episode has {len(places)} frames")
