"""How sure an answer is: a share of right ones, not a score.

Of the answers to the development questions whose first unit is described as well, and whose score and lead are such, so
many had the unit that was meant first. Each question is put to memories with and without that unit; see
`evaluation.sureness`. Other memories and other people's words will differ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kc_vla.memory.recall.described import Described


class LogisticCurve(NamedTuple):
    """A logistic curve over the score of the first unit and its lead over the second.

    Attributes:
        constant: of the curve.
        score: its slope over the score.
        lead: its slope over the lead.
    """

    constant: float
    score: float
    lead: float

    def at(self, score: float, lead: float) -> float:
        """Return its height, 0..1."""
        return 1 / (1 + math.exp(-min(max(self.constant + self.score * score + self.lead * lead, -30.0), 30.0)))


@dataclass(frozen=True)
class ConfidenceCalibration:
    """A curve for each of `Described`, by its name."""

    so: LogisticCurve
    untold: LogisticCurve
    otherwise: LogisticCurve
    unnamed: LogisticCurve

    def confidence(self, described: Described, score: float, lead: float) -> float:
        """Return the share of answers with this description, score and lead whose first unit is right."""
        curve: LogisticCurve = getattr(self, described.value)
        return curve.at(score, lead)


def fit(
    described: Sequence[Described], score: NDArray[np.float64], lead: NDArray[np.float64], right: NDArray[np.bool_]
) -> ConfidenceCalibration:
    """Return the likeliest curves for answers (N,); one of which there are no answers is that of all."""
    curves = {}
    for each in Described:
        chosen = np.array([one is each for one in described])
        if not chosen.any():
            chosen[:] = True
        curves[each.value] = fit_curve(score[chosen], lead[chosen], right[chosen])
    return ConfidenceCalibration(**curves)


def fit_curve(score: NDArray[np.float64], lead: NDArray[np.float64], right: NDArray[np.bool_]) -> LogisticCurve:
    """Return the likeliest curve, by Newton's method; slopes are held back a little: few answers cannot make a step."""
    x = np.column_stack([np.ones_like(score), score, lead])
    spread = np.array([1.0, max(float(score.std()), 1e-9), max(float(lead.std()), 1e-9)])
    x = x / spread
    weights, held = np.zeros(3), np.diag([1e-6, 1.0, 1.0])
    for _ in range(50):
        expected = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        slope = x.T @ (right - expected) - held @ weights
        curvature = (x * (expected * (1 - expected))[:, None]).T @ x + held
        weights = weights + np.linalg.solve(curvature, slope)
    return LogisticCurve(*(round(float(each), 2) for each in weights / spread))
