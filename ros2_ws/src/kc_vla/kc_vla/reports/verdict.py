"""How an episode ended, in a word and a color."""

from __future__ import annotations

from kc_vla.episodes.episode_data import RecordedResult
from kc_vla.media.canvas import AMBER, GREEN, RED, Colour


def verdict(result: RecordedResult | None) -> tuple[str, Colour]:
    """Return what is written on the report of an episode."""
    if result is None:
        return "NO RESULT", AMBER
    if not result.judged:
        return "NOT JUDGED", AMBER
    return ("SUCCESS", GREEN) if result.success else ("FAILED", RED)
