"""Answers questions from what is remembered, and says "I do not know" where nothing is."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from kc_vla.memory.asking.answer import MemoryAnswer, unknown
from kc_vla.memory.asking.answers_of_actions import answer_did, answer_when, with_action
from kc_vla.memory.asking.answers_of_events import answer_event
from kc_vla.memory.asking.answers_of_past import PastAnswers, around_keyframes
from kc_vla.memory.asking.answers_of_places import answer_contents, answer_rooms, answer_where
from kc_vla.memory.asking.answers_of_states import answer_condition, answer_is
from kc_vla.memory.asking.grammar import read_question
from kc_vla.memory.asking.meaning import MeantThings, Remembered, UnknownNameError
from kc_vla.memory.asking.meant import NameFinder, plain_name
from kc_vla.memory.asking.past_words import PastPhrase, read_past
from kc_vla.memory.asking.question import MemoryQuestion, Order, QuestionError, QuestionKind
from kc_vla.memory.asking.surroundings import HomeSurroundings
from kc_vla.memory.asking.telling import evidence_of, listed, place_in_words
from kc_vla.memory.asking.understood import Understood, sure_of
from kc_vla.memory.references.rows import row_place

Reader = Callable[[str], tuple[MemoryQuestion, tuple[str, ...]]]
"""Makes a question of a text, with notes; it raises a `QuestionError` where it cannot."""


def read_by_grammar(text: str) -> tuple[MemoryQuestion, tuple[str, ...]]:
    """Return what a text asks for, by the grammar alone."""
    return read_question(text), ()


_ROOMS = re.compile(r"^(?:the |all |different )*(?:rooms?|areas)$")


class Asker:
    """Answers questions about what a robot remembers."""

    def __init__(
        self, memory: Remembered, around: Callable[[], HomeSurroundings], reader: Reader = read_by_grammar
    ) -> None:
        """Keep what is asked.

        Args:
            memory: of a robot.
            around: returns the areas, and where and when the robot is asked.
            reader: makes a checked question of a text.
        """
        self._memory, self._around, self._reader = memory, around, reader

    def ask(self, text: str) -> MemoryAnswer:
        """Return the answer to a text; whatever it says, it is an answer and no error."""
        said = read_past(text)
        past = None if said is None else self.ask_past(said)
        if past is not None:
            return past
        try:
            question, notes = self._reader(text)
        except QuestionError as error:
            return replace(unknown(str(error)), understood=False)
        answer = self.answer(question)
        return replace(answer, notes=tuple(dict.fromkeys((*notes, *answer.notes))))

    def answer(self, question: MemoryQuestion) -> MemoryAnswer:
        """Return the answer to a checked question."""
        return _answer_of(question, self._memory, self._around())

    def ask_past(self, said: PastPhrase) -> MemoryAnswer | None:
        """Return the answer for a time before, by keyframes; None where it is about actions, or is not understood."""
        around = around_keyframes(self._memory, self._around())
        if said.event is not None:
            return answer_event(self._memory, around, said.rest, said.event, said.rank)
        try:
            question, notes = self._reader(said.rest)
        except QuestionError:
            return None
        if question.action or said.moment is None:
            return None
        answer = PastAnswers(self._memory, around, _answer_of).at(question, said.moment)
        return replace(answer, notes=tuple(dict.fromkeys((*notes, *answer.notes))))


def _answer_of(question: MemoryQuestion, memory: Remembered, around: HomeSurroundings) -> MemoryAnswer:
    try:
        return _answer(Understood(question, NameFinder(memory, around), memory.looked))
    except (UnknownNameError, QuestionError) as error:
        return unknown(str(error))


def _answer(given: Understood) -> MemoryAnswer:
    question, finder = given.question, given.finder
    if not finder.things:
        return unknown("I do not know: I remember nothing yet")
    if _ROOMS.match(question.thing) and question.asked in (QuestionKind.WHICH, QuestionKind.HOW_MANY):
        return answer_rooms(given)
    if question.asked is QuestionKind.WHEN:
        return answer_when(given)
    if question.asked is QuestionKind.CONDITION:
        return answer_condition(given)
    if question.asked is QuestionKind.IS:
        return answer_did(given) if question.action else answer_is(given)
    row = question.place is not None and row_place(str(question.place)) is not None
    of_place = question.place is not None and not row and not given.specific and not question.action
    if of_place and question.order is Order.ANY:
        return answer_contents(given)
    return _ANSWERS[question.asked](given, given.ordered(with_action(given)))


def _which(given: Understood, found: MeantThings) -> MemoryAnswer:
    if not found.things:
        return given.none(found)
    things = list(found.things)
    where = place_in_words(given.finder, things[0])
    text = f"It is {listed(things)}" if len(things) == 1 else f"They are {listed(things)}"
    if len(things) == 1 and where:
        text = f"{text}, {where}"
    if found.trust < 0.6:
        text = text.replace("It is", "Perhaps", 1).replace("They are", "Perhaps", 1)
    return MemoryAnswer(f"{text}.", True, sure_of(found), evidence_of(given.finder, things), notes=found.notes)


def _is_there(given: Understood, found: MeantThings) -> MemoryAnswer:
    if not found.things:
        return given.none(found)
    things = list(found.things)
    where = place_in_words(given.finder, things[0])
    yes = not given.question.negated
    more = f" and {len(things) - 1} more" if len(things) > 1 else ""
    text = f"{'Yes' if yes else 'No'}: I know of {listed(things[:1])}{f', {where}' if where else ''}{more}."
    evidence = evidence_of(given.finder, things)
    return MemoryAnswer(text, True, sure_of(found, 1), evidence, yes=yes, count=len(things), notes=found.notes)


def _how_many(given: Understood, found: MeantThings) -> MemoryAnswer:
    if not found.things:
        return given.none(found)
    things = list(found.things)
    text = f"I know of {len(things)}: {listed(things)}."
    sure = sure_of(found) * 0.95
    return MemoryAnswer(text, True, sure, evidence_of(given.finder, things), count=len(things), notes=found.notes)


def _where(given: Understood, found: MeantThings) -> MemoryAnswer:
    return answer_where(given, found)


_ANSWERS: Mapping[QuestionKind, Callable[[Understood, MeantThings], MemoryAnswer]] = {
    QuestionKind.WHERE: _where,
    QuestionKind.WHICH: _which,
    QuestionKind.IS_THERE: _is_there,
    QuestionKind.HOW_MANY: _how_many,
}
__all__ = ["Asker", "Reader", "plain_name", "read_by_grammar"]
