"""Answers about a time before, by looking at keyframes: a question is asked of what each keyframe shows.

"Before" is the newest keyframe that answers otherwise than the memory does now. What no keyframe shows is not known,
and neither is what keyframes showed that have left.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from kc_vla.memory.asking.answer import AnswerEvidence, MemoryAnswer, unknown
from kc_vla.memory.asking.meaning import Remembered, UnknownNameError
from kc_vla.memory.asking.meant import NameFinder, plain_name
from kc_vla.memory.asking.past_scene import (
    NO_KEYFRAME,
    gap_notes,
    is_elsewhere,
    keyframe_evidence,
    lost_notes,
    scene_of_keyframe,
)
from kc_vla.memory.asking.past_words import PastMoment
from kc_vla.memory.asking.question import MemoryQuestion, QuestionKind
from kc_vla.memory.asking.surroundings import HomeSurroundings
from kc_vla.memory.asking.telling import ago, called
from kc_vla.memory.episodic.linked import LinkedKeyframe

_MAP = "map"
"""Frame of a robot that drives; an arm stands at the origin of its own."""
_OTHERWISE = 0.7
"""Confidence of "before" where an earlier keyframe shows it otherwise again."""
_MOST_WHERE = 3
_BY_NUMBER = frozenset({QuestionKind.IS, QuestionKind.IS_THERE, QuestionKind.HOW_MANY})

AnswerOf = Callable[[MemoryQuestion, Remembered, HomeSurroundings], MemoryAnswer]
_Shown = tuple[LinkedKeyframe, MemoryAnswer]


def around_keyframes(memory: Remembered, around: HomeSurroundings) -> HomeSurroundings:
    """Return where the robot is, as its keyframes have it: an arm without a map stands at the origin of its frame."""
    frames = {each.frame_id for each in memory.linked().episode()}
    return replace(around, from_origin=not around.areas and bool(frames) and _MAP not in frames)


class PastAnswers:
    """Answers from the keyframes that a memory keeps."""

    def __init__(self, memory: Remembered, around: HomeSurroundings, answer_of: AnswerOf) -> None:
        """Keep what is asked.

        Args:
            memory: of a robot, with its keyframes.
            around: where and when the robot is asked.
            answer_of: answers a question from what is remembered at one moment.
        """
        self._memory, self._around, self._answer_of = memory, around, answer_of
        self._history = memory.linked()

    def at(self, question: MemoryQuestion, moment: PastMoment) -> MemoryAnswer:
        """Return the answer to a question as things stood at a moment of the newest episode."""
        frames = self._history.episode()
        if not frames:
            return NO_KEYFRAME
        answers = [(each, self._then(question, each)) for each in frames]
        known = [(each, answer) for each, answer in answers if answer.known]
        if not known:
            return self._not_shown(frames, answers[-1][1])
        if moment is not PastMoment.BEFORE:
            return self._begun(known, frames, moment)
        return self._before(question, known, frames)

    def _before(
        self, question: MemoryQuestion, known: Sequence[_Shown], frames: Sequence[LinkedKeyframe]
    ) -> MemoryAnswer:
        """Return the newest answer of a keyframe that is another one than that of now."""
        now = self._now(question)
        others = [each for each in known if not now.known or not _same(question, each[1], now)]
        if not others:
            note = "nothing of it has changed since, as far as the keyframes show"
            return self._told(*known[-1], (note, *gap_notes(self._history, frames)))
        keyframe, answer = others[-1]
        earlier = [each for each in others[:-1] if not _same(question, each[1], answer)]
        if not earlier:
            return self._told(keyframe, answer)
        first, then = earlier[0]
        note = f"it changed more than once: {_in_past(then.text).rstrip('.')} ({first})"
        return self._told(keyframe, replace(answer, confidence=answer.confidence * _OTHERWISE), (note,))

    def _begun(self, known: Sequence[_Shown], frames: Sequence[LinkedKeyframe], moment: PastMoment) -> MemoryAnswer:
        """Return the answer of the first keyframe that has one."""
        gap = gap_notes(self._history, frames)
        if gap and moment is PastMoment.START:
            return unknown(f"I do not know: {gap[0]}.")
        keyframe, answer = known[0]
        late = () if keyframe is frames[0] else (f"{frames[0]} does not show it: {keyframe} is the first that does",)
        return self._told(keyframe, answer, (*gap, *late))

    def _then(self, question: MemoryQuestion, keyframe: LinkedKeyframe) -> MemoryAnswer:
        """Return the answer of one keyframe, with where things are in it."""
        scene = scene_of_keyframe(keyframe, self._memory)
        finder = NameFinder(scene, self._around)
        if question.asked is QuestionKind.WHERE:
            return _where(question, keyframe, finder)
        answer = self._answer_of(question, scene, self._around)
        found = [finder.by_id[each.object_id] for each in answer.found if each.object_id in finder.by_id]
        evidence = keyframe_evidence(keyframe, found, finder)
        if found and not evidence:
            return unknown(f"{keyframe} does not show it")
        return replace(answer, found=evidence)

    def _now(self, question: MemoryQuestion) -> MemoryAnswer:
        """Return the answer of what is remembered now, with where things are now."""
        things = {each.object_id: each for each in self._memory.things()}
        if question.asked is QuestionKind.WHERE:
            try:
                found = NameFinder(self._memory, self._around).meant(question).things
            except UnknownNameError as error:
                return unknown(str(error))
            named = [each.object_id for each in found]
            answer = MemoryAnswer("", bool(named), 1.0)
        else:
            answer = self._answer_of(question, self._memory, self._around)
            named = [each.object_id for each in answer.found]
        evidence = (
            AnswerEvidence(
                name, one.object_type, "", one.container, one.area, one.seen_s, one.confidence, position=one.position
            )
            for name in named
            if (one := things.get(name)) is not None
        )
        return replace(answer, found=tuple(evidence))

    def _told(self, keyframe: LinkedKeyframe, answer: MemoryAnswer, notes: Sequence[str] = ()) -> MemoryAnswer:
        when = ago(keyframe.stamp_ns / 1e9, self._around.now_s)
        text = f"{_in_past(answer.text).rstrip('.')} ({keyframe}, {when})."
        return replace(answer, text=text, notes=(*answer.notes, *notes, *lost_notes(self._memory, answer)))

    def _not_shown(self, frames: Sequence[LinkedKeyframe], answer: MemoryAnswer) -> MemoryAnswer:
        bare = sum(not each.seen for each in frames)
        blind = f", and nothing was detected in {bare} of them" if bare else ""
        why = answer.text.rstrip(".").removeprefix("I do not know: ")
        text = f"I do not know: no keyframe of this episode shows that ({len(frames)} are kept{blind}). "
        return unknown(f"{text}By the newest one: {why}.", *gap_notes(self._history, frames))


def _where(question: MemoryQuestion, keyframe: LinkedKeyframe, finder: NameFinder) -> MemoryAnswer:
    """Return where things are in a keyframe: in words, or as a position where nobody has said on or in what."""
    try:
        found = finder.meant(question)
    except UnknownNameError as error:
        return unknown(str(error))
    things = [each for each in found.things if keyframe.of(each.object_id) is not None]
    if not things:
        return unknown(f"{keyframe} shows no {plain_name(question.thing) or 'thing'}")
    evidence = keyframe_evidence(keyframe, things, finder)
    lines = [f"{called(each)} is {one.place or _at(one)}" for each, one in zip(things, evidence, strict=False)]
    text = "; ".join(lines[:_MOST_WHERE])
    sure = found.trust * things[0].confidence
    return MemoryAnswer(f"{text[0].upper()}{text[1:]}.", True, sure, evidence, notes=found.notes)


def _same(question: MemoryQuestion, one: MemoryAnswer, other: MemoryAnswer) -> bool:
    """Return whether two answers say the same of how things stood."""
    if question.asked in _BY_NUMBER:
        return (one.yes, one.count) == (other.yes, other.count)
    if question.asked is QuestionKind.CONDITION:
        return one.text == other.text
    if question.asked is QuestionKind.WHERE:
        known = {each.object_id: each for each in other.found}
        pairs = [(each, known[each.object_id]) for each in one.found if each.object_id in known]
        return bool(pairs) and not any(is_elsewhere(*pair) for pair in pairs)
    return {each.object_id for each in one.found} == {each.object_id for each in other.found}


def _at(one: AnswerEvidence) -> str:
    x, y, z = one.position or (0.0, 0.0, 0.0)
    return f"at ({x:.2f}, {y:.2f}, {z:.2f}) m in the frame {one.frame_id!r}"


def _in_past(text: str) -> str:
    """Return an answer in the past tense: "It was the red cube"."""
    plain = re.sub(r" \(seen [^)]*\)", "", text)
    return re.sub(r"\bis\b", "was", re.sub(r"\bare\b", "were", plain))
