"""How fast an expert moves its hand."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tempo:
    """How fast the hand moves; speeds in m per step.

    Attributes:
        travel: above everything.
        lower: down to a cube, or down with one.
        lift: up with a cube.
        settling: largest share of the way left that one step covers. Where actions arrive late, the first rows of a
            plan are never executed: a small error is only corrected if its correction outlasts them.
        funnel: go down to a cube as low as the distance, the turn and the fingers allow, in place of first coming
            above it and then going down: where it is a little off it does a little else, and never all at once.
    """

    travel: float = 0.03
    lower: float = 0.025
    lift: float = 0.03
    settling: float = 0.4
    funnel: bool = False


LEARNABLE = Tempo(travel=0.02, lower=0.012, lift=0.02, settling=0.2, funnel=True)
"""For those who learn from it: slow enough to correct on the way down what was off above, and without thresholds."""
