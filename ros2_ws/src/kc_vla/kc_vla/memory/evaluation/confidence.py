"""What the confidence of an answer is worth: each question is put to memories with and without what is meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.shares import Share
from kc_vla.memory.evaluation.questions import Question
from kc_vla.memory.recall.answer import RecallAnswer
from kc_vla.memory.recall.confidence import ConfidenceCalibration, fit
from kc_vla.memory.recall.described import Described
from kc_vla.memory.short_term.unit import ObjectState, Unit

_BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
Group = tuple[str, float, Share]
"""Group of answers: what they have in common, their mean confidence, and how many were right."""


@dataclass(frozen=True)
class Sureness:
    """What confidences are worth, of one embedding and half of the questions; see `with_and_without`.

    Attributes:
        embedding: name of the model.
        split: of the questions.
        calibration: fitted to the development questions.
        error: mean distance of a bin's confidence from the share of right answers in it, weighted by its answers.
        bins: answers that are as sure.
        described: answers whose first unit is described as well, of `Described`.
    """

    embedding: str
    split: str
    calibration: ConfidenceCalibration
    error: float
    bins: tuple[Group, ...]
    described: tuple[Group, ...]


def with_and_without(question: Question) -> list[Question]:
    """Return a question to its own memory, and to others with less in them:

    - one that has nothing of the type that is meant;
    - one that lacks what is meant alone, where there are others of its type, which differ in what is asked for;
    - two that have one unit of the type, of which something that is asked for is unknown. In one of them it is the one
      that is meant, in the other it is not; nobody can tell them from one another.
    """
    meant = next(unit for unit in question.units if unit.object_id == question.answer)
    others = tuple(unit for unit in question.units if unit.object_type != meant.object_type)
    found = [question, replace(question, units=others)]
    alike = [unit for unit in question.units if unit.object_type == meant.object_type and unit is not meant]
    if alike:
        found.append(replace(question, units=tuple(unit for unit in question.units if unit is not meant)))
        untold = question.asked[len(question.text) % len(question.asked)]  # by chance, the same each time
        found += [replace(question, units=(*others, _less(unit, untold))) for unit in (meant, alike[0])]
    return found


def sureness_of(embedding: str, asked: Sequence[Question], answers: Sequence[RecallAnswer]) -> list[Sureness]:
    """Fit to the answers to development questions, and of each half; none where there are no such questions."""
    split = np.array([each.split for each in asked])
    development = split == "development"
    if not development.any():
        return []
    score = np.array([answer.found[0].score for answer in answers])
    lead = score - np.array([answer.found[1].score for answer in answers])
    described = [answer.described for answer in answers]
    right = np.array(
        [answer.found[0].unit.object_id == each.answer for answer, each in zip(answers, asked, strict=True)]
    )
    which = np.flatnonzero(development)
    calibration = fit([described[at] for at in which], score[which], lead[which], right[which])
    sure = np.array([calibration.confidence(*each) for each in zip(described, score, lead, strict=True)])
    found = []
    for half in dict.fromkeys(each.split for each in asked):
        bins = {
            f"{low} to {high}": (split == half) & (low <= sure) & ((sure < high) | (high == _BINS[-1]))
            for low, high in pairwise(_BINS)
        }
        kinds = {each.value: (split == half) & np.array([one is each for one in described]) for each in Described}
        groups = _groups(sure, right, bins)
        error = sum(share.of * abs(mean - share.share) for _, mean, share in groups) / int((split == half).sum())
        found.append(Sureness(embedding, half, calibration, error, groups, _groups(sure, right, kinds)))
    return found


def _groups(
    sure: NDArray[np.float64], right: NDArray[np.bool_], groups: Mapping[str, NDArray[np.bool_]]
) -> tuple[Group, ...]:
    return tuple(
        (name, float(sure[chosen].mean()), Share(int(right[chosen].sum()), int(chosen.sum())))
        for name, chosen in groups.items()
        if chosen.any()
    )


def _less(unit: Unit, untold: str) -> Unit:
    if untold == "state":
        return replace(unit, state=ObjectState.NONE)
    return replace(unit, attributes={name: value for name, value in unit.attributes.items() if name != untold})
