"""How an episode ended, in a word and a color."""

from __future__ import annotations

from kc_vla.episodes.episode import RecordedEpisode
from kc_vla.media.canvas import AMBER, GREEN, RED, Colour


def success_of(episode: RecordedEpisode) -> bool | None:
    """Return whether what was asked for was done.

    A planner says that of its instructions, where nobody else judges the episode; None where nobody does.
    """
    result = episode.result
    if result is None:
        return None
    if result.judged or not episode.instructions:
        return result.success if result.judged else None
    return all(each.success for each in episode.instructions)


def verdict(episode: RecordedEpisode) -> tuple[str, Colour]:
    """Return what is written on the report of an episode."""
    if episode.result is None:
        return "NO RESULT", AMBER
    success = success_of(episode)
    if success is None:
        return "NOT JUDGED", AMBER
    return ("SUCCESS", GREEN) if success else ("FAILED", RED)
