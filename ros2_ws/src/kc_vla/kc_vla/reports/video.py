"""Writes the video of a recorded episode."""

from __future__ import annotations

from pathlib import Path

from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.media.mp4 import Mp4Writer
from kc_vla.reports.video_layout import HEIGHT, WIDTH, VideoLayout

_ENDING_S = 2.0


def write_video(episode: RecordedEpisode, path: Path) -> None:
    """Write the video of `episode`, which has at least one frame, to `path` (.mp4), at the speed of its ROS time.

    Raises:
        OSError: the file cannot be written; none is left then.
    """
    layout = VideoLayout(episode)
    with Mp4Writer(path, WIDTH, HEIGHT, episode.status.frame_period_s) as video:
        for frame in episode.frames:
            video.add(layout.compose(frame), frame.index)
        last = episode.frames[-1]
        video.add_still(layout.compose(last, ended=True), last.index + 1, _ENDING_S)
