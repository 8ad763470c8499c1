"""What an instruction names by a time before: "the cube that was in the middle before", "put it back where it was".

Keyframes say which thing or place that is, before anything is planned. The planner gets a placeholder for each, an id
like any other; the calls of its plan get the real ids. The instruction fails where keyframes cannot tell, and says why.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from kc_vla.memory.asking.answer import MemoryAnswer
from kc_vla.memory.asking.answering import Asker
from kc_vla.memory.asking.past_words import PastMoment, PastPhrase, past_names_in, read_past
from kc_vla.memory.references.reference import PRONOUNS
from kc_vla.memory.things import ObservedThing
from kc_vla.planning.execution.results import RECALL
from kc_vla.planning.execution.robot import NotFoundError, RememberingRobot
from kc_vla.planning.skills import Call

_BACK = re.compile(
    r"\b(?P<v>put|return|bring|place|move|take|set) (?P<x>[\w ]+?)(?: back)?(?: to)? where (?:it|they) "
    r"(?:was|were|stood|had been|came from)(?P<m> (?:before|earlier|originally|at first|at the (?:start|beginning)|"
    r"before (?:i|you|we|somebody|someone|they) moved (?:it|them)))?(?=$|[.,;!]| and | then )",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"\b(?:the|my|an?|your) ([\w ]+?)(?= (?:and|then|in|on|from|with|into|onto)\b|[,.;]|$)", re.IGNORECASE
)


@dataclass
class FormerNames:
    """An instruction with placeholders, and what these stand for.

    Attributes:
        text: of the instruction, for the planner.
        ids: of things, by the placeholder.
    """

    text: str
    ids: dict[str, str] = field(default_factory=dict)

    def call(self, call: Call) -> Call:
        """Return a call of the plan with the real ids."""
        return call._replace(arguments=tuple(self.ids.get(each, each) for each in call.arguments))

    def named(self, thing: ObservedThing | None) -> ObservedThing | None:
        """Return a thing by its placeholder, as the planner knows it; a thing without one as it is."""
        if thing is None:
            return None
        names = {real: placeholder for placeholder, real in self.ids.items()}
        return replace(thing, object_id=names.get(thing.object_id, thing.object_id))


class FormerThings:
    """Finds out what an instruction names by a time before, for one robot."""

    def __init__(self, robot: RememberingRobot, get_asker: Callable[[], Asker]) -> None:
        """Keep who is asked.

        Args:
            robot: that remembers.
            get_asker: returns what answers questions to it.
        """
        self._robot, self._get_asker = robot, get_asker

    def read(self, instruction: str) -> FormerNames:
        """Return an instruction with a placeholder for each thing and place that it names by a time before.

        Raises:
            NotFoundError: the keyframes do not show which one is meant, or it can be several.
        """
        names = FormerNames(instruction)
        while (found := next(iter(past_names_in(names.text)), None)) is not None:
            begin, end, phrase = found
            said = names.text[begin:end]
            answer = self._answer(phrase, said)
            if len(answer.found) != 1:
                raise NotFoundError(f"{said!r} can be {', '.join(each.object_id for each in answer.found)}: say which")
            self._put(names, begin, end, answer.found[0].object_id)
            self._robot.note(f"{said!r} is {answer.found[0].object_id}: {answer.text}")
        while (back := _BACK.search(names.text)) is not None:
            thing, place = self._place(names, back)
            begin, end = back.span()
            names.text = f"{names.text[:begin]}{back['v']} {thing} on {names.text[end:]}"
            at = begin + len(f"{back['v']} {thing} on ")
            self._put(names, at, at, place)
        return names

    def _put(self, names: FormerNames, begin: int, end: int, object_id: str) -> None:
        placeholder = f"Former_{len(names.ids) + 1}"
        names.ids[placeholder] = object_id
        names.text = f"{names.text[:begin]}{placeholder}{names.text[end:]}"

    def _place(self, names: FormerNames, back: re.Match[str]) -> tuple[str, str]:
        """Return what is to go back, as the instruction names it, and the id of what it was on or in."""
        thing, said = back["x"].strip(), back.group()
        thing = re.sub(r" back$", "", thing)
        moment = _moment_of(back["m"] or "")
        named = thing
        if thing.lower() in PRONOUNS:
            earlier = _NAMED.findall(names.text[: back.start()])
            last = self._robot.memory.last_handled()
            named = earlier[-1] if earlier else "" if last is None else last.object_id
            if not named:
                raise NotFoundError(f"nobody knows what {thing!r} stands for in {said!r}: name the thing")
        known = names.ids.get(named, named)
        answer = self._answer(PastPhrase(f"where was {known}", moment), said)
        place = answer.found[0]
        if not place.container:
            x, y, z = place.position or (0.0, 0.0, 0.0)
            raise NotFoundError(
                f"{place.object_id} was at ({x:.2f}, {y:.2f}, {z:.2f}) m in {place.frame_id!r}, on nothing that has a "
                "name: name what it is to be put on"
            )
        self._robot.note(f"{said!r}: {answer.text}")
        return thing, place.container

    def _answer(self, phrase: PastPhrase, said: str) -> MemoryAnswer:
        """Return what the keyframes show; the buffer keeps the one that it is, for a policy that depends on it."""
        answer = self._get_asker().ask_past(phrase)
        if answer is None or not answer.known or not answer.found:
            why = "it is not understood" if answer is None else answer.text
            raise NotFoundError(f"nobody can tell which is {said!r}: {why}")
        memory = self._robot.memory
        shown = {each.name: each for each in memory.linked().keyframes}
        if (keyframe := shown.get(answer.found[0].keyframe)) is not None:
            refused = memory.keep(keyframe)
            self._robot.say(RECALL, refused or f"{keyframe} is kept for the policy")
        self._robot.say(RECALL, f"{said!r}: {answer.text}")
        return answer


def _moment_of(words: str) -> PastMoment:
    """Return the moment that an instruction names with "where it was": without words, before the last change."""
    phrase = read_past(f"where was it {words.strip()}")
    return PastMoment.BEFORE if phrase is None or phrase.moment is None else phrase.moment
