"""One hand, and what it works at: the calls for taking, putting, cutting and for devices, in their order."""

from __future__ import annotations

from kc_vla.memory.floors import is_floor_word
from kc_vla.memory.references.fits import Fit
from kc_vla.memory.references.names import same
from kc_vla.memory.short_term.unit import spoken
from kc_vla.memory.things import ObservedThing
from kc_vla.planning.grammar.devices import by_device, is_knife, knife_for
from kc_vla.planning.grammar.lexicon import DEVICES, DOORS, FIXED, ROOMS, Verb, noun
from kc_vla.planning.grammar.nouns import RELATIVE, SOMETHING
from kc_vla.planning.in_hand import fit
from kc_vla.planning.interface import PlanningError
from kc_vla.planning.skills import ANYWHERE, Call

_UNDOES = {Verb.HEAT: {Verb.COOL}, Verb.COOL: {Verb.HEAT}}


class HandCalls:
    """Makes calls, and knows what they lead to.

    Attributes:
        calls: so far.
        held: name of what it holds; empty for nothing.
        made: what was made of things, by their names.
        device: the last one that was used; empty for none.
        came_from: where things were taken from, where that was said.
        remembered: names that are of what a memory tells: "clean mug".
    """

    def __init__(self, held: ObservedThing | None = None) -> None:
        """Begin a plan.

        Args:
            held: what the hand holds before the first call; None for nothing.
        """
        self.calls: list[Call] = []
        self._before = held
        self.held, self.device = "" if held is None else held.object_id, ""
        self.remembered: set[str] = set()
        self.made: dict[str, set[Verb]] = {}
        self.came_from: dict[str, str] = {}
        self._knife = ""
        self._shut_in: dict[str, str] = {}
        self._opened: set[str] = set()
        self._at_work: set[str] = set()

    def take(self, name: str, source: str = "") -> None:
        """Have a thing in the hand; what is in the way is put down, its source is gone to first.

        What is said to come from somewhere is not what is held before the first call.
        """
        if source:
            self.came_from[name] = source
        if self._is_held(name, source):
            if self._from_before:  # `without_taking` leaves this out of the whole plan, with a note
                self.call("PickupObject", name)
                self.held = name
            return
        if self.held:
            self.put_down()
        if source:
            self.go(source)
        device = self._shut_in.pop(name, "")
        shut = bool(device) and device not in self._opened
        if shut:
            self.call("OpenObject", device)
        self.call("PickupObject", name)
        if shut:
            self.call("CloseObject", device)
        self.held = name

    @property
    def _from_before(self) -> bool:
        return self._before is not None and self.held == self._before.object_id

    @property
    def kind(self) -> str:
        """Return what it holds, by its type where that is known; empty for nothing."""
        return spoken(self._before.object_type) if self._before is not None and self._from_before else self.held

    def _is_held(self, name: str, source: str = "") -> bool:
        if not self.held or self._before is None or not self._from_before:
            return bool(self.held) and same(name, self.held)
        found = fit(name, self._before)
        return not source and (found is Fit.YES or (found is Fit.MAYBE and name not in self.remembered))

    def go(self, place: str) -> None:
        """Go to a room or to a thing."""
        self.call("GoToPlace" if noun(place) in ROOMS or is_floor_word(place) else "GoToObject", place)

    def put(self, name: str, place: str) -> None:
        """Put what is held into a place; a device that works closed is closed again."""
        shuts = noun(place) in DOORS
        opens = shuts and place not in self._opened  # who had it opened also says when it is closed
        if opens:
            self.call("OpenObject", place)
        self.call("PutObject", name, place)
        self.held = ""
        if opens:
            self.call("CloseObject", place)
        if shuts:
            self._shut_in[name] = place
        if noun(place) in DEVICES:
            self.device = place

    def put_down(self) -> None:
        """Put down what is in the way."""
        self.call("PutObject", self.held, ANYWHERE)
        self.held = ""

    def put_knife_down(self) -> None:
        """Put down a knife at the end that was picked up for cutting alone."""
        if self._knife and self.held == self._knife:
            self.put_down()

    def cut(self, name: str, *tools: str) -> None:
        """Slice a thing with the first of the tools that cuts, or any knife."""
        knife = knife_for(*tools)
        if not (is_knife(self.kind) and (not any(map(is_knife, tools)) or self._is_held(knife))):
            self.take(knife)
            self._knife = knife
        self.call("SliceObject", name)
        self.made.setdefault(name, set()).add(Verb.SLICE)

    def bring_into(self, name: str, deed: Verb, tool: str, said: str) -> None:
        """Wash, fill, heat or cool a thing; afterwards it is in the hand."""
        refuse_fixed(name)
        calls = by_device(name, deed, tool, said)  # it refuses before anything is picked up
        self.take(name)
        self.device = next(call for call in calls if call.skill == "PutObject").arguments[1]
        for at, call in enumerate(calls):
            if at or call.skill != "OpenObject" or self.device not in self._opened:
                self.call(call.skill, *call.arguments)
        made = self.made.setdefault(name, set())
        made.add(deed)
        made -= _UNDOES.get(deed, set())

    def throw(self, name: str) -> None:
        """Throw a thing onto the floor."""
        self.take(name)
        self.call("ThrowObject", name)
        self.held = ""

    def call(self, skill: str, *names: str) -> None:
        """Append a call; switch off a running device before a call that opens it."""
        if skill == "OpenObject" and names[0] in self._at_work:
            self.call("SwitchOff", *names)
        self.calls.append(Call(skill, names))
        for begins, ends, those in (
            ("OpenObject", "CloseObject", self._opened),
            ("SwitchOn", "SwitchOff", self._at_work),
        ):
            if skill == begins:
                those.add(names[0])
            elif skill == ends:
                those.discard(names[0])


def refuse_fixed(name: str) -> None:
    """Check that a thing can be carried, as far as its noun says.

    Raises:
        PlanningError: it is a thing that nobody carries.
    """
    if noun(name) in FIXED and not set(name.split()) & (RELATIVE | SOMETHING):
        raise PlanningError(f"a {noun(name)} cannot be carried: name a thing that can")
