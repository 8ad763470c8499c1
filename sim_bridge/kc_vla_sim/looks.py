"""The looks of a task: the same episode, other light, colors, camera and clutter."""

from __future__ import annotations

from kc_vla_sim.errors import BadLooksError

STANDARD_LOOKS = "standard"
VARIED_LOOKS = "varied"
LOOKS = {
    STANDARD_LOOKS: "one room for all episodes",
    VARIED_LOOKS: "every episode has its own light, colours, table texture, camera place and number of distractors",
}
"""Name and character of each; every task has all of them, in every variant."""


def check_looks(name: str) -> str:
    """Return `name`, or raise `BadLooksError` if there are no such looks."""
    if name not in LOOKS:
        raise BadLooksError(f"unknown visual randomization '{name}': choose one of {', '.join(LOOKS)}")
    return name
