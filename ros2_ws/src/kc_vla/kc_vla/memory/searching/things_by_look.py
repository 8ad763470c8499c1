"""Known things in groups that no text tells apart, so that each text is compared once with each group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from kc_vla.memory.things import KnownThing


class Look(NamedTuple):
    """All of a thing that a text is compared with."""

    object_type: str
    state: str
    attributes: tuple[tuple[str, str], ...]
    container: str
    movable: bool
    handled: float
    effects: tuple[tuple[str, float], ...]


def look_of(thing: KnownThing) -> Look:
    """Return all of a thing that a text is compared with."""
    return Look(
        thing.object_type,
        thing.state,
        tuple(thing.attributes.items()),
        thing.container,
        thing.movable,
        thing.handled,
        tuple(thing.effects.items()),
    )


class ThingsByLook:
    """Known things by their id, in groups by type and look."""

    def __init__(self, things: Iterable[KnownThing] = ()) -> None:
        """Take things in."""
        self._things: dict[str, tuple[KnownThing, Look]] = {}
        self._groups: dict[str, dict[Look, dict[str, KnownThing]]] = {}
        for each in things:
            self.put(each)

    def __len__(self) -> int:
        return len(self._things)

    def __iter__(self) -> Iterator[KnownThing]:
        return (thing for thing, _ in self._things.values())

    def get(self, object_id: str) -> KnownThing | None:
        """Return the thing of that id; None for an unknown one."""
        found = self._things.get(object_id)
        return None if found is None else found[0]

    def put(self, thing: KnownThing) -> None:
        """Take a thing in, or as it is now."""
        self.remove(thing.object_id)
        look = look_of(thing)
        self._things[thing.object_id] = thing, look
        self._groups.setdefault(thing.object_type, {}).setdefault(look, {})[thing.object_id] = thing

    def remove(self, object_id: str) -> None:
        """Take a thing out; an unknown one is ignored."""
        if (known := self._things.pop(object_id, None)) is None:
            return
        thing, look = known
        groups = self._groups[thing.object_type]
        del groups[look][object_id]
        if not groups[look]:
            del groups[look]
            if not groups:
                del self._groups[thing.object_type]

    @property
    def types(self) -> tuple[str, ...]:
        """Return the types that there are things of."""
        return tuple(self._groups)

    def groups(self, object_type: str) -> Iterable[Mapping[str, KnownThing]]:
        """Return the groups of a type, each by id and with at least one thing."""
        return self._groups.get(object_type, {}).values()
