"""The keyframes that a source makes of an episode, once it is over: those that a policy would have had on the robot."""

from __future__ import annotations

from collections.abc import Iterable

from kc_vla.core.episode import Episode
from kc_vla.keyframes.joining import Start
from kc_vla.keyframes.live import LiveSelector, Look
from kc_vla.keyframes.scoring import Sight, Source


class Watcher:
    """Watches one episode."""

    def __init__(self, source: Source, episode: Episode) -> None:
        """Args: `source` of the keyframes; `episode`, as it is told of it (ValueError: it does not know its task)."""
        self._live = LiveSelector(source)
        self._live.begin(episode)
        self._kept: dict[int, int] = {}

    def take(self, frame: int, sight: Sight) -> bool:
        """Take in the next frame; return whether it is a keyframe for now, which a later one may supersede."""
        found = self._live.take(Look(frame, sight, -1.0, Start()))
        events = found.events if found is not None else ()
        self._kept |= {event.phase: event.frame for event in events}
        return any(event.frame == frame for event in events)

    @property
    def keyframes(self) -> list[int]:
        """Their frames by now, ascending, with a candidate that is not settled: a policy has it."""
        return sorted(self._kept.values())


def keyframes_afterwards(source: Source, episode: Episode, sights: Iterable[Sight]) -> list[int]:
    """Frames of the keyframes of an episode, ascending, its first frame among them.

    Raises:
        ValueError: the source does not know the episode's task.
    """
    watcher = Watcher(source, episode)
    for frame, sight in enumerate(sights):
        watcher.take(frame, sight)
    return watcher.keyframes
