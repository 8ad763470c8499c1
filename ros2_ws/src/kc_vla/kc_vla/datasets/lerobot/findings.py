"""Where a data set contradicts itself: one line for each kind of contradiction, with the episodes that have it."""

from __future__ import annotations

from pathlib import Path

_NAMED = 5
"""So many episodes are named by their numbers."""


class Findings:
    """Collects contradictions by kind, so that a thousand episodes with the same one make one line."""

    def __init__(self, folder: Path) -> None:
        """Begin without any; `folder` of the data set begins each line."""
        self._folder = folder
        self._found: dict[str, dict[int, str]] = {}

    def add(self, episode: int, what: str, detail: str = "") -> None:
        """Add one.

        Args:
            episode: index of the episode.
            what: the same words for all episodes that have it.
            detail: what differs from episode to episode; the line gives that of the first one.
        """
        self._found.setdefault(what, {}).setdefault(episode, detail)

    def lines(self) -> list[str]:
        """Return a line for each kind, in the order in which they were found."""
        return [self._line(what, found) for what, found in self._found.items()]

    def _line(self, what: str, found: dict[int, str]) -> str:
        episodes = sorted(found)
        detail = found[episodes[0]]
        if len(episodes) == 1:
            return f"{self._folder}, episode {episodes[0]}: {what}{f' ({detail})' if detail else ''}"
        named = ", ".join(map(str, episodes[:_NAMED]))
        more = f" and {len(episodes) - _NAMED} more" if len(episodes) > _NAMED else ""
        of_first = f" (episode {episodes[0]}: {detail})" if detail else ""
        return f"{self._folder}, episodes {named}{more}: {what}{of_first}"
