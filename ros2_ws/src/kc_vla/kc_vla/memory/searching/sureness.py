"""How sure a search by text is: a share of right answers, not a score.

Of the answers to the development phrases of `kc-vla eval search` with the same evidence, so many had first what was
meant. Each phrase is put to homes with and without what it means.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kc_vla.memory.recall.confidence import LogisticCurve
from kc_vla.memory.references.fits import Fit
from kc_vla.memory.searching.meaning import How


class Evidence(NamedTuple):
    """What speaks for an answer.

    Attributes:
        how: the text names types.
        fit: of the first thing.
        score: of the best type.
        lead: of the best type over the next one.
    """

    how: How
    fit: Fit
    score: float
    lead: float


CURVES: Mapping[tuple[How, Fit], LogisticCurve] = {
    (How.NAMED, Fit.YES): LogisticCurve(4.09, 0.0, 0.0),
    (How.NAMED, Fit.MAYBE): LogisticCurve(-0.37, 0.0, 0.0),
    (How.PURPOSE, Fit.YES): LogisticCurve(1.39, 0.0, 0.0),
    (How.PURPOSE, Fit.MAYBE): LogisticCurve(-0.37, 0.0, 0.0),
    (How.KIND, Fit.YES): LogisticCurve(-3.64, 4.08, -0.68),
    (How.KIND, Fit.MAYBE): LogisticCurve(-0.69, 0.0, 0.0),
    (How.GUESSED, Fit.YES): LogisticCurve(-4.95, 5.68, 7.72),
    (How.GUESSED, Fit.MAYBE): LogisticCurve(-0.69, 0.0, 0.0),
    (How.ANY, Fit.YES): LogisticCurve(4.09, 0.0, 0.0),
    (How.ANY, Fit.MAYBE): LogisticCurve(-0.69, 0.0, 0.0),
}
"""Evidence that no development phrase gave has the curve of the evidence that is most like it."""


def confidence_of(evidence: Evidence) -> float:
    """Return the share of answers with this evidence whose first thing is meant, 0..1."""
    return CURVES[evidence.how, evidence.fit].at(evidence.score, evidence.lead)
