"""How sure an answer is: a share of right ones, not a score.

Of the answers to the development questions whose score and lead are such, so many had the unit that was meant first;
for half of these questions there is none in the memory. Other memories and other people's words will differ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Calibration:
    """A logistic curve over the score of the first unit and its lead over the second.

    Attributes:
        constant: of the curve.
        score: its slope over the score.
        lead: its slope over the lead.
    """

    constant: float
    score: float
    lead: float

    def confidence(self, score: float, lead: float) -> float:
        """Share of answers with this score and lead whose first unit is what was meant."""
        return 1 / (1 + math.exp(-min(max(self.constant + self.score * score + self.lead * lead, -30.0), 30.0)))


def fit(score: NDArray[np.float64], lead: NDArray[np.float64], right: NDArray[np.bool_]) -> Calibration:
    """The likeliest curve, by Newton's method; slopes are held back a little: few answers cannot make a step."""
    x = np.column_stack([np.ones_like(score), score, lead])
    spread = np.array([1.0, max(float(score.std()), 1e-9), max(float(lead.std()), 1e-9)])
    x = x / spread
    weights, held = np.zeros(3), np.diag([1e-6, 1.0, 1.0])
    for _ in range(50):
        expected = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        slope = x.T @ (right - expected) - held @ weights
        curvature = (x * (expected * (1 - expected))[:, None]).T @ x + held
        weights = weights + np.linalg.solve(curvature, slope)
    return Calibration(*(float(each) for each in weights / spread))
