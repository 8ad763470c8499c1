"""Recall: the units of a memory that an instruction is about (KARMA, 3.5: the top K by cosine), and beyond.

Similarity alone does not know that a plate is dirty, nor that one can cut with a knife. So what is known of its type is
compared as well, words count beside vectors, and states, attributes and what is excluded are compared as what they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.untrusted import has_half_letters
from kc_vla.memory.embedding.interface import Embedder, Vectors
from kc_vla.memory.recall.answer import EVERYTHING, Filters, RecallAnswer, RecalledUnit, line_of, tokens_of
from kc_vla.memory.recall.confidence import ConfidenceCalibration, LogisticCurve
from kc_vla.memory.recall.described import Described, described
from kc_vla.memory.recall.index import STATES, UnitIndex
from kc_vla.memory.recall.instruction import Instruction, understand
from kc_vla.memory.recall.related import CALLED_SO, NO_VIEWPOINT, PLAUSIBLE, RELATED, in_relation, relation_in
from kc_vla.memory.recall.unit_images import UnitImages
from kc_vla.memory.recall.words import words
from kc_vla.memory.references.spatial import Viewpoint
from kc_vla.memory.references.spatial_phrases import SpatialPhrase
from kc_vla.memory.short_term.memory import ShortTermMemory
from kc_vla.memory.short_term.unit import ObjectState, Unit, UnitError

MOST_INSTRUCTION, MOST_FOUND = 2000, 100
"""Letters of an instruction, and units of an answer."""
_IMAGES_AT_ONCE = 16
"""Images that a question waits for at most; the others are embedded by `prepare`, or at later questions."""
_RANKED = 10
"""Units that the second ranking gets, at most."""
_AS_WELL = 0.02
"""A unit of the same name whose score is no more behind is called so as well as the first one."""


@dataclass(frozen=True)
class Weights:
    """How much what is compared counts. Chosen on the development questions.

    Attributes:
        own: cosine with what the unit is.
        known: cosine with what is known of its type, in the meaning nearest to the instruction.
        own_words: share of the instruction's words that the unit has.
        known_words: share of them in what is known of its type.
        state: it has a state that is asked for; as much less with another one, half of that where none is known. At 0
            states are said in words that are embedded, instead.
        attributes: an attribute is as asked for; as much less where it is not.
        excluded: less where it has a state, or is something, that is excluded.
        image: cosine with its image, less the mean of all images; only where a model of images is configured. It is
            not chosen on questions: a difference of .05, which is much for CLIP, counts as much as a state.
    """

    own: float = 1.0
    known: float = 1.0
    own_words: float = 0.1
    known_words: float = 0.3
    state: float = 0.15
    attributes: float = 0.1
    excluded: float = 1.0
    image: float = 3.0


SIMILARITY = Weights(1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
"""The paper's: cosine alone."""
CALIBRATIONS = {
    "all-MiniLM-L6-v2": ConfidenceCalibration(
        so=LogisticCurve(constant=-7.13, score=8.02, lead=-1.43),
        untold=LogisticCurve(constant=-0.5, score=0.18, lead=0.18),
        otherwise=LogisticCurve(constant=-2.04, score=-1.59, lead=-2.2),
        unnamed=LogisticCurve(constant=-4.03, score=2.12, lead=2.99),
    )
}
"""By the name of the embedder, for the whole of `Weights`: `kc-vla eval recall` fits and prints them."""
_WITH_IMAGES = "how sure this is was measured without images"
_NOT_YET = "some images are not compared yet"
_UNKNOWN = "how sure this is was measured with another embedding: kc-vla eval recall measures it with this one"


class Ranker(Protocol):
    """Puts the first few units in a better order."""

    def rank(self, instruction: str, units: Sequence[Unit]) -> tuple[Sequence[int], str]:
        """Return numbers of `units`, the likeliest first, and what went wrong, in words, empty if nothing did."""
        ...


class Recall:
    """Answers from one memory. Use it from the thread that changes the memory."""

    def __init__(
        self,
        memory: ShortTermMemory,
        embedder: Embedder,
        weights: Weights = Weights(),  # it cannot be changed
        calibration: ConfidenceCalibration | None = None,
        ranker: Ranker | None = None,
        sure: float = 0.9,
        images: UnitImages | None = None,
    ) -> None:
        """Follow a memory.

        Args:
            memory: that is asked.
            embedder: makes vectors of sentences; have it cached (`Cached`).
            weights: of what is compared.
            calibration: of this embedder and these weights; by default one of `CALIBRATIONS`, and if that is of another
                embedder, the answers say so.
            ranker: asked where an answer is less sure ...
            sure: ... than this.
            images: of the units, where a model of images is configured; without, words alone are compared.
        """
        self._embedder, self._weights = embedder, weights
        known = calibration or CALIBRATIONS.get(embedder.name)
        self._notes: tuple[str, ...] = () if known else (_UNKNOWN,)
        self._calibration = known or next(iter(CALIBRATIONS.values()))
        self._ranker, self._sure = ranker, sure
        knowledge = weights.known > 0 or weights.known_words > 0
        self._index = UnitIndex(memory, embedder, knowledge, states_in_words=not weights.state)
        self._images = images
        if images is not None:
            images.follow(memory)
            self._notes += (_WITH_IMAGES,)

    def prepare(self, most: int | None = None) -> bool:
        """Embed what is new in the memory, so that the next question need not wait for it; EmbeddingError likewise.

        Args:
            most: units that are embedded now; None: all.

        Returns:
            Whether nothing is left to be embedded.
        """
        done = self._index.update(most)
        return (self._images is None or self._images.update(most)) and done

    def ask(
        self,
        text: str,
        most: int = 3,
        filters: Filters = EVERYTHING,
        most_tokens: int | None = None,
        viewpoint: Viewpoint | None = None,
    ) -> RecallAnswer:
        """Return the units that an instruction is about.

        Args:
            text: the instruction.
            most: units of the answer, K.
            filters: what they have to be.
            most_tokens: of the answer's text; the first units that fit are taken.
            viewpoint: where one looks from, for "left of" and the like.

        Raises:
            UnitError: the instruction is empty or too long, or one of the numbers makes no sense.
            EmbeddingError: something cannot be embedded.
        """
        if not text.strip() or len(text) > MOST_INSTRUCTION:
            raise UnitError(f"an instruction of {len(text)} letters: give it 1 to {MOST_INSTRUCTION}")
        if has_half_letters(text):
            raise UnitError("the instruction has half a letter, which no text in UTF-8 can")
        if not 1 <= most <= MOST_FOUND or (most_tokens is not None and most_tokens < 1):
            fitting = "" if most_tokens is None else f" in {most_tokens} tokens"
            raise UnitError(f"{most} units{fitting}: ask for 1 to {MOST_FOUND} units, in 1 token or more")
        self._index.update()
        behind = self._images is not None and not self._images.update(_IMAGES_AT_ONCE)
        candidates = self._candidates(filters)
        if not candidates.size:
            return RecallAnswer(text, (), 0.0)
        phrase = relation_in(text)
        answer = None if phrase is None else self._related(text, phrase, candidates, viewpoint)
        if answer is None:
            answer = self._alike(text, candidates, most)
        if behind:
            answer = replace(answer, notes=(*answer.notes, _NOT_YET))
        if self._ranker is not None and answer.confidence < self._sure:
            answer = _ranked(answer, self._ranker)
        return _fitting(replace(answer, found=answer.found[:most]), most_tokens)

    def _alike(self, text: str, candidates: NDArray[np.intp], most: int) -> RecallAnswer:
        """Return the units that are most like an instruction."""
        instruction = understand(text)
        scores = self._scores(instruction)[candidates]
        found = self._likeliest(candidates, scores, max(most, _RANKED, 2))
        lead = found[0].score - found[1].score if len(found) > 1 else found[0].score
        how = described(instruction, found[0].unit, self._index.values_asked_for(words(instruction.meaning)))
        confidence = self._calibration.confidence(how, found[0].score, lead)
        return RecallAnswer(text, tuple(found), confidence, notes=self._notes, described=how)

    def _related(
        self, text: str, phrase: SpatialPhrase, candidates: NDArray[np.intp], viewpoint: Viewpoint | None
    ) -> RecallAnswer | None:
        """Return the units that stand in a relation to others; None where the others are not known."""
        others, sure = list[Unit](), 1.0
        for each in phrase.others:
            known = self._called(each)
            if known is None:
                return None
            others += [found.unit for found in known.found]
            sure *= known.confidence
        if phrase.viewpoint not in ("", "robot") and (seen_from := self._called(phrase.viewpoint)) is not None:
            viewpoint = Viewpoint(seen_from.found[0].unit.position[:3])
        given = {each.object_id for each in others}
        left = [at for at in candidates if self._unit(at).object_id not in given]
        if not left:
            return RecallAnswer(text, (), 0.0, notes=self._notes)
        alike = self._alike(phrase.thing, np.array(left, np.intp), len(left))
        likely, sure = alike.found, sure * RELATED
        if words(phrase.thing):
            sure *= alike.confidence
        else:  # "the thing": any will do
            likely = tuple(replace(each, score=likely[0].score) for each in likely)
        chosen = {each.unit.object_id: each for each in likely if each.score >= likely[0].score - PLAUSIBLE}
        found, note = in_relation([each.unit for each in chosen.values()], phrase, others, viewpoint)
        sure *= NO_VIEWPOINT if note else 1.0
        notes = (*self._notes, note) if note else self._notes
        return RecallAnswer(
            text,
            tuple(chosen[each.object_id] for each in found),
            sure if found else 0.0,
            notes=notes,
            described=Described.SO,
        )

    def _called(self, text: str) -> RecallAnswer | None:
        """Return the units that are called so, as well as the first of them; None where none is."""
        answer = self._alike(text, np.flatnonzero(self._index.there), MOST_FOUND)
        if answer.described not in CALLED_SO:
            return None
        first = answer.found[0]
        alike = (
            each for each in answer.found if each.unit.name == first.unit.name and each.score >= first.score - _AS_WELL
        )
        return replace(answer, found=tuple(alike))

    def _unit(self, number: int) -> Unit:
        unit = self._index.units[number]
        assert unit is not None
        return unit

    def _candidates(self, filters: Filters) -> NDArray[np.intp]:
        numbers = np.flatnonzero(self._index.there)
        if filters == EVERYTHING:
            return numbers
        units = self._index.units
        return np.array([at for at in numbers if (unit := units[at]) is not None and filters.accept(unit)], np.intp)

    def _scores(self, instruction: Instruction) -> Vectors:
        """Return the score of every number of the index for an instruction."""
        weights, index = self._weights, self._index
        asked_for = instruction.meaning if weights.excluded else instruction.text
        own, known = index.cosines(self._embedder.embed([asked_for])[0])
        scores = weights.own * own + weights.known * known
        asked = words(instruction.meaning)
        scores += weights.own_words * index.own_words.scores(asked, index.size)
        scores += weights.known_words * index.known_scores(asked)
        scores += weights.attributes * index.agreement(asked)
        scores += self._of_states(instruction)[index.states]
        if self._images is not None:
            scores += weights.image * self._images.scores(asked_for, index.units[: index.size])
        for excluded in instruction.not_meant:
            scores[list(index.own_words.having(words(excluded)))] -= weights.excluded
        return scores

    def _of_states(self, instruction: Instruction) -> Vectors:
        """Return what each of `STATES` adds."""
        weights, asked = self._weights, instruction.likely_states
        adds = np.zeros(len(STATES), np.float32)
        for code, state in enumerate(STATES):
            if asked:
                adds[code] = weights.state * (1 if state in asked else -0.5 if state is ObjectState.NONE else -1)
            if state in instruction.not_states:
                adds[code] -= weights.excluded
        return adds

    def _likeliest(self, candidates: NDArray[np.intp], scores: Vectors, most: int) -> list[RecalledUnit]:
        """Return units by score, then the newest first, then by id: the order in which they came says nothing."""
        stamps = self._index.stamps[candidates]
        order = np.lexsort((-stamps, -scores))
        last = order[min(most, len(order)) - 1]
        end = most + int(
            np.count_nonzero((scores[order[most:]] == scores[last]) & (stamps[order[most:]] == stamps[last]))
        )
        found = [
            RecalledUnit(unit, float(scores[at])) for at in order[:end] if (unit := self._index.units[candidates[at]])
        ]
        return sorted(found, key=lambda each: (-each.score, -each.unit.stamp, each.unit.object_id))[:most]


def _ranked(answer: RecallAnswer, ranker: Ranker) -> RecallAnswer:
    shown = answer.found[:_RANKED]
    order, wrong = ranker.rank(answer.instruction, [each.unit for each in shown])
    rest = [at for at in range(len(answer.found)) if at not in order]
    found = tuple(answer.found[at] for at in (*order, *rest))
    return replace(answer, found=found, notes=(*answer.notes, wrong) if wrong else answer.notes)


def _fitting(answer: RecallAnswer, most_tokens: int | None) -> RecallAnswer:
    if most_tokens is None:
        return answer
    kept, used = [], 0
    for each in answer.found:
        used += tokens_of(line_of(each.unit)) + 1  # and the end of the line
        if used > most_tokens:
            break
        kept.append(each)
    fitting = replace(answer, found=tuple(kept), left_out=len(answer.found) - len(kept))
    if kept or not answer.found:
        return fitting
    return replace(fitting, notes=(*answer.notes, f"no unit fits into {most_tokens} tokens"))
