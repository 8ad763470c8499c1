"""What a person marked in an episode that is replayed."""

from __future__ import annotations

from kc_vla.episodes.annotation_log import confirmed_track
from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.replay.differences import Annotated


def annotated(episode: RecordedEpisode) -> Annotated | None:
    """Return the newest confirmed annotation of an episode's bag; None where there is none.

    Raises:
        AnnotationError: it is not as it should be.
        OSError: it cannot be read.
    """
    track = confirmed_track(episode.bag)
    if track is None:
        return None
    numbers = {frame.stamp_ns: frame.index for frame in episode.frames}
    marked = {mark.phase: numbers[mark.stamp_ns] for mark in track.marks if mark.stamp_ns in numbers}
    return Annotated(track.author, marked)
