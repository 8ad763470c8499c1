"""Tells when a policy stands still where it should act."""

from __future__ import annotations

from collections import deque

import numpy as np

from kc_vla_sim.experts.tool import Vector

_WITHIN = 0.012
"""All the way the hand has been, from where it was first, m ..."""
_FRAMES = 60
"""... in so many frames, in none of which the expert would wait."""


class Standstill:
    """Where a hand has been of late. No grip, release or push holds it in one place for as long."""

    def __init__(self) -> None:
        self._trail: deque[Vector] = deque(maxlen=_FRAMES)

    def told(self, position: Vector, waits: bool) -> bool:
        """Take in the next frame; return whether the hand stands still by now.

        Args:
            position: (3,), of the tool, m.
            waits: whether the expert would stay there, too.
        """
        if waits:
            self._trail.clear()
            return False
        self._trail.append(np.asarray(position, float))
        way = np.linalg.norm(np.array(self._trail) - self._trail[0], axis=1)
        return len(self._trail) == _FRAMES and bool(way.max() < _WITHIN)
