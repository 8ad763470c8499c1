"""Writes the video of a recorded episode."""

from __future__ import annotations

from pathlib import Path

import cv2

from kc_vla.bags.errors import ReportError
from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.media.mp4 import Mp4Writer
from kc_vla.reports.video_layout import HEIGHT, WIDTH, VideoLayout

_ENDING_S = 2.0


def write_video(episode: RecordedEpisode, path: Path, poster: Path | None = None) -> None:
    """Write the video of `episode`, which has at least one frame, to `path` (.mp4), at the speed of its ROS time.

    Args:
        episode: which.
        path: of the video.
        poster: of a small image of its end (.jpg), for pages; None for none.

    Raises:
        OSError: a file cannot be written; no part of the video is left then.
        ReportError: the poster cannot be encoded.
    """
    layout = VideoLayout(episode)
    with Mp4Writer(path, WIDTH, HEIGHT, episode.status.frame_period_s) as video:
        for frame in episode.frames:
            video.add(layout.compose(frame), frame.index)
        last = episode.frames[-1]
        end = layout.compose(last, ended=True)
        video.add_still(end, last.index + 1, _ENDING_S)
    if poster is not None:
        small = cv2.resize(end, (WIDTH // 2, HEIGHT // 2), interpolation=cv2.INTER_AREA)
        done, jpeg = cv2.imencode(".jpg", cv2.cvtColor(small, cv2.COLOR_RGB2BGR))
        if not done:
            raise ReportError(f"the poster of {episode.bag} cannot be encoded as JPEG")
        poster.write_bytes(jpeg.tobytes())
