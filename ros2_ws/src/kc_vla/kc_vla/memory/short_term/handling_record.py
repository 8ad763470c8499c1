"""What a robot did with things: "the thing you washed", "what you put in the box" name them by that alone."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from itertools import count

from kc_vla.memory.things import ObservedThing, states_in

_MOST = 20
"""Deeds of one thing that are kept, the latest."""


class HandlingRecord:
    """The record of what happened to handled things: the states that they came into, and where they were left.

    A place is noted as "in Box_1".
    """

    def __init__(self) -> None:
        self._done: dict[str, dict[str, float]] = {}
        self._new: dict[str, dict[str, float]] = {}
        self._number = count(1)

    def begin(self) -> None:
        """Forget all."""
        self._done.clear()
        self._new.clear()

    def saw(self, seen: ObservedThing, before: Iterable[str]) -> None:
        """Note states that are new on a seen thing: they came about while the robot was there."""
        for state in sorted(states_in(seen.state, seen.attributes) - set(before)):
            self._note(self._done if seen.object_id in self._done else self._new, seen.object_id, state)

    def handled(self, seen: ObservedThing) -> None:
        """Note that the robot did something with a thing, which is as given now."""
        done = self._done.setdefault(seen.object_id, {})
        done.update(self._new.pop(seen.object_id, {}))
        if seen.relation in ("on", "in") and seen.container:
            self._note(self._done, seen.object_id, f"{seen.relation} {seen.container}")

    def of(self, object_id: str) -> Mapping[str, float]:
        """Return what was done with a thing, each with a number that is the larger the later it was."""
        return self._done.get(object_id, {})

    def keep(self, ids: Container[str]) -> None:
        """Forget all other things."""
        for each in (self._done, self._new):
            for name in [name for name in each if name not in ids]:
                del each[name]

    def _note(self, kept: dict[str, dict[str, float]], object_id: str, deed: str) -> None:
        deeds = kept.setdefault(object_id, {})
        deeds.pop(deed, None)
        deeds[deed] = float(next(self._number))
        while len(deeds) > _MOST:
            del deeds[next(iter(deeds))]
