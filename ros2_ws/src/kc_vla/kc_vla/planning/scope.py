"""A plan of a language model, held against its instruction: it touches what that names, and what that needs.

What is remembered can have been named by anybody. A model that follows such a name plans skills that no person asked
for; they are found here by what they are done to, whatever talked the model into them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from kc_vla.memory.recall.words import COLOURS, stem
from kc_vla.memory.references.likely_places import vocabulary
from kc_vla.memory.references.names import BESIDE, NEXT_TO, is_id, plain
from kc_vla.memory.references.naming import tier_of
from kc_vla.memory.references.spatial_phrases import without_relation
from kc_vla.memory.short_term.unit import spoken
from kc_vla.memory.things import ObservedThing
from kc_vla.planning.grammar.lexicon import (
    ARTICLES,
    FILLER,
    PREPOSITIONS,
    STATES,
    Verb,
    participles,
    verbs,
    word_set,
)
from kc_vla.planning.interface import PlanningError, Request
from kc_vla.planning.skills import ANYWHERE, AREA, BY_NAME, Call

_TOOLS: Mapping[Verb, frozenset[str]] = {
    Verb.CLEAN: word_set("sink basin faucet tap bathtub tub water soap sponge cloth towel detergent brush dishwasher"),
    Verb.FILL: word_set("sink basin faucet tap bathtub tub water machine maker kettle bottle"),
    Verb.HEAT: word_set("microwave stove burner knob oven toaster pan pot kettle stovetop"),
    Verb.COOL: word_set("fridge refrigerator freezer icebox"),
    Verb.SLICE: word_set("knife scissors cutter board"),
    Verb.LOOK: word_set("lamp light"),
    Verb.BIN: word_set("can bin trash"),
    Verb.MAKE: word_set("machine maker mug cup pan pot toaster stove microwave"),
}
"""What an action needs besides the thing that it is done to."""
_ASKED: Mapping[str, frozenset[Verb]] = {
    "BreakObject": frozenset({Verb.BREAK}),
    "ThrowObject": frozenset({Verb.THROW, Verb.BIN}),
    "SliceObject": frozenset({Verb.SLICE, Verb.MAKE}),
    "SwitchOn": frozenset(
        {
            Verb.ON,
            Verb.TOGGLE,
            Verb.LOOK,
            Verb.HEAT,
            Verb.CLEAN,
            Verb.FILL,
            Verb.MAKE,
            Verb.USE,
            Verb.OPEN,
        }
    ),
}
"""Skills that change what nobody can change back, or let something run: they have to be asked for."""
_VAGUE = word_set(
    "something anything everything thing things item items object objects stuff it them this that these those one ones "
    "what whatever all others other another rest"
)
_AWAY = word_set("away back tidy somewhere put clean clear store")
_MOST_WORDS = 400
_WALKS = frozenset({"GoToObject", "GoToPlace", "Explore"})


def check_scope(calls: Sequence[Call], request: Request) -> str:
    """Check that a plan touches what its instruction names, and what that needs, but nothing else.

    What the instruction points at without a name ("it", "something to drink from") can be any thing, one for each such
    word. Walking touches nothing.

    Returns:
        A note where the instruction has no word that is known here, so that its things are unknown; else nothing.

    Raises:
        PlanningError: the plan touches something else; the text says which call, and what to do.
    """
    said = _Said(request)
    spare = said.vague
    allowed: set[str] = set()
    for number, call in enumerate(calls, start=1):
        where = f"call {number}, {call.skill}"
        deeds = _ASKED.get(BY_NAME[call.skill].name)
        if deeds is not None and not deeds & said.deeds and (said.known or call.skill != "SwitchOn"):
            raise PlanningError(f"{where}: the instruction does not ask for it: leave it out")
        if call.skill in _WALKS or not said.known:
            continue
        for name, kind in zip(call.arguments, BY_NAME[call.skill].arguments, strict=True):
            if kind == AREA or name == ANYWHERE or name in allowed or said.names(name, call):
                continue
            if not spare:
                raise PlanningError(
                    f"{where}: {name} is neither named by the instruction nor needed for what it asks for: leave it out"
                )
            spare -= 1
            allowed.add(name)
    return "" if said.known else "no word of the instruction is known here: the plan could not be held against it"


class _Said:
    """What an instruction says.

    Attributes:
        deeds: that it asks for.
        vague: words that point at things without naming them.
        known: it has a verb or a noun of the household.
    """

    def __init__(self, request: Request) -> None:
        text = request.instruction.replace("\u2019", "'")
        words = re.findall(r"[^\W_]+(?:_\d+)?", text)[:_MOST_WORDS]
        self._ids = {word for word in words if is_id(word)}
        self._words = [word.lower() for word in words]
        self._things = {each.object_id: each for each in request.known}
        if request.in_hand is not None:
            self._things[request.in_hand.object_id] = request.in_hand
        self._held = request.in_hand
        self._nouns = tuple(dict.fromkeys(_phrases(self._words)))
        self.deeds = frozenset(_deeds(self._words))
        self.vague = sum(word in _VAGUE for word in self._words)
        self.known = bool(self.deeds or self._ids or any(self._called(name) for name in vocabulary()))

    def names(self, name: str, call: Call) -> bool:
        """Return whether the instruction names a thing that a call touches, or needs it."""
        if name in self._ids or self._is_held(name) or self._is_held(call.arguments[0]):
            return True
        what, beside, landmark = name.partition(NEXT_TO)
        if beside and what in BESIDE:
            return self._called(_kind(landmark, self._things))
        kind = _kind(without_relation(name), self._things)
        if self._called(kind):
            return True
        last = kind.split()[-1:] or [""]
        if any(last[0] in _TOOLS.get(deed, ()) for deed in self.deeds):
            return True
        if call.skill in ("OpenObject", "CloseObject") and self._holds_what_is_named(name, kind):
            return True
        thing = self._things.get(name)
        put_away = call.skill == "PutObject" and name == call.arguments[-1] and bool(_AWAY & set(self._words))
        return put_away and (thing is None or not thing.movable) and not self._says_where()

    def _says_where(self) -> bool:
        return any(word in ("in", "into", "on", "onto", "inside", "to") for word in self._words)

    def _is_held(self, name: str) -> bool:
        return self._held is not None and name == self._held.object_id

    def _called(self, kind: str) -> bool:
        """Return whether the instruction has a word or two for things of a kind."""
        own = {stem(word) for word in kind.split()}
        return any(
            tier_of(noun, kind) or (noun[-1] in own and noun[-1] == stem(kind.split()[-1])) for noun in self._nouns
        )

    def _holds_what_is_named(self, name: str, kind: str) -> bool:
        """Return whether something that the instruction names is in it, as far as is known."""
        return any(
            name == each.container or spoken(each.container.rpartition("_")[0]) == kind
            for each in self._things.values()
            if each.container and self._called(spoken(each.object_type))
        )


def _kind(name: str, things: Mapping[str, ObservedThing]) -> str:
    """Return what a name of a call is a name of, in words: of "Mug_2" and of "second red mug" the mug."""
    if name in things:
        return spoken(things[name].object_type)
    if is_id(name):
        return spoken(name.rpartition("_")[0])
    words = [word for word in re.findall(r"[^\W_]+", plain(name)) if word not in COLOURS and word not in STATES]
    return " ".join(words) or plain(name)


def _phrases(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield words that may name a thing, and two or three of them that may together."""
    for at, word in enumerate(words):
        if word in ARTICLES or word in PREPOSITIONS or word in FILLER or word in STATES or word in COLOURS:
            continue
        for end in (at + 1, at + 2, at + 3):
            yield tuple(stem(each) for each in words[at:end])


def _deeds(words: Sequence[str]) -> Iterator[Verb]:
    forms = verbs()
    for at, word in enumerate(words):
        if word in STATES:
            yield STATES[word]
        for end in (at + 1, at + 2, at + 3):
            form = tuple(words[at:end])
            if (deed := forms.get(form) or forms.get(participles().get(form, ()))) is not None:
                yield deed
        for particle in words[at + 2 : at + 7]:  # "turn the red lamp on"
            if (deed := forms.get((word, particle))) is not None:
                yield deed
