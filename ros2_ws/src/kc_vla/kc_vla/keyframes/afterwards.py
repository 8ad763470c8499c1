"""The keyframes that a source makes of an episode, once it is over: those that a policy would have had on the robot."""

from __future__ import annotations

from collections.abc import Iterable

from kc_vla.core.episode import Episode
from kc_vla.keyframes.joining import Start
from kc_vla.keyframes.live import FrameToScore, LiveSelector
from kc_vla.keyframes.scoring import ScorerInput, SelectorBackend


class Watcher:
    """Watches one episode."""

    def __init__(self, source: SelectorBackend, episode: Episode) -> None:
        """Begin to watch an episode.

        Args:
            source: the selector of the keyframes.
            episode: as the selector gets it.

        Raises:
            ValueError: the selector does not know its task.
        """
        self._live = LiveSelector(source)
        self._live.begin(episode)
        self._kept: dict[int, int] = {}

    def take(self, frame: int, sight: ScorerInput) -> bool:
        """Take in the next frame; return whether it is a keyframe for now, which a later one may supersede."""
        found = self._live.take(FrameToScore(frame, sight, -1.0, Start()))
        events = found.events if found is not None else ()
        self._kept |= {event.phase: event.frame for event in events}
        return any(event.frame == frame for event in events)

    @property
    def keyframes(self) -> list[int]:
        """Return their frames by now, ascending, with a candidate that is not settled: a policy has it."""
        return sorted(self._kept.values())


def keyframes_afterwards(source: SelectorBackend, episode: Episode, sights: Iterable[ScorerInput]) -> list[int]:
    """Return frames of the keyframes of an episode, ascending, its first frame among them.

    Raises:
        ValueError: the source does not know the episode's task.
    """
    watcher = Watcher(source, episode)
    for frame, sight in enumerate(sights):
        watcher.take(frame, sight)
    return watcher.keyframes
