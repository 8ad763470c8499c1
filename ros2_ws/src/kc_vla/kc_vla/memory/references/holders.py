"""What is on or in what, of some known things: by what was seen to hold them, else by their boxes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kc_vla.memory.long_term.relations import is_inside, is_on_top
from kc_vla.memory.things import HELD, KnownThing


class Holders:
    """What is on or in what, of some things."""

    def __init__(self, things: Iterable[KnownThing]) -> None:
        """Take the things, of which any may hold another one."""
        self._things = {each.object_id: each for each in things}

    def link(self, thing: KnownThing, other: KnownThing) -> tuple[str, int]:
        """Return how a thing stands on or in another one, and over how many steps; ("", 0) where it does not."""
        if not thing.container:
            if thing.relation == HELD or not any(other.size):
                return "", 0
            return ("in", 1) if is_inside(thing, other) else ("on", 1) if is_on_top(thing, other) else ("", 0)
        for steps, (relation, holder) in enumerate(self._chain(thing), 1):
            if holder == other.object_id:
                return relation, steps
        return "", 0

    def holds(self, one: KnownThing, other: KnownThing) -> bool:
        """Return whether one of two things is on or in the other one."""
        return bool(self.link(one, other)[0] or self.link(other, one)[0])

    def enclosure(self, thing: KnownThing) -> str:
        """Return the id of what a thing is in; empty where it is in nothing."""
        return next((holder for relation, holder in self._chain(thing) if relation == "in"), "")

    def _chain(self, thing: KnownThing) -> Iterator[tuple[str, str]]:
        """Yield how a thing is held, and the id of its holder; the same of that one, and so on."""
        seen: set[str] = set()
        each: KnownThing | None = thing
        while each is not None and each.container and each.container not in seen:
            seen.add(each.container)
            yield each.relation, each.container
            each = self._things.get(each.container)
