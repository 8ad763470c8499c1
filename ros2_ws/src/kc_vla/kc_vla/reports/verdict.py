"""How an episode ended, in a word and a colour."""

from __future__ import annotations

from kc_vla.episodes.episode_data import Result
from kc_vla.media.canvas import AMBER, GREEN, RED, Colour


def verdict(result: Result | None) -> tuple[str, Colour]:
    """What is written on the report of an episode."""
    if result is None:
        return "NO RESULT", AMBER
    if not result.judged:
        return "NOT JUDGED", AMBER
    return ("SUCCESS", GREEN) if result.success else ("FAILED", RED)
