"""Keyframes of a table with cubes on it."""

from __future__ import annotations

from kc_vla.memory.episodic.linked import LinkedKeyframe
from kc_vla.memory.things import ObservedThing

SECOND = 1_000_000_000


def cube(name: str, x: float = 0.5, y: float = 0.0) -> ObservedThing:
    """Return a red cube on the table, at a place in m."""
    return ObservedThing("cube", name, (x, y, 0.02), (0.04,) * 3, "", {"colour": "red"}, "", "", "", True)


def keyframe(frame: int, *seen: ObservedThing, episode: str = "ep") -> LinkedKeyframe:
    """Return a keyframe of an episode of one frame a second that shows these things."""
    return LinkedKeyframe(episode, frame, (frame + 1) * SECOND, frame, f"phase {frame}", "oracle", "base", 0.0, seen)
