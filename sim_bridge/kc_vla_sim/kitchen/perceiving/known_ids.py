"""Under which ids a memory knows the things of a kitchen, and whether that stays so while they are moved."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from kc_vla_sim.frame import SimulatedFrame
from kc_vla_sim.kitchen.perceiving.judging import TrueObject, claims_near
from kc_vla_sim.kitchen.perceiving.remembering import RememberedObject
from kc_vla_sim.kitchen.words import FURNITURE_TYPES

_RESTS_M = 0.003
"""A thing that moves by less from step to step rests."""


class KnownIds:
    """The id under which a memory knew each thing first."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}

    def note(self, truth: Iterable[TrueObject], held: Sequence[RememberedObject]) -> None:
        """Take what a memory holds at a moment; a thing that was known before keeps the id that it had then."""
        for each in truth:
            if each.movable and each.seen and each.object_id not in self._first and (name := _id_of(each, held)):
                self._first[each.object_id] = name

    def kept(self, truth: Iterable[TrueObject], held: Sequence[RememberedObject], moved: Collection[str]) -> list[bool]:
        """Return whether each thing that was moved has its id: of those that a memory had, and has at their new place.

        Args:
            truth: all objects at the end.
            held: what the memory holds then.
            moved: ids of the simulator of those that were moved.
        """
        found = [(each, _id_of(each, held)) for each in truth if each.object_id in moved and each.as_seen]
        return [name == self._first[each.object_id] for each, name in found if name and each.object_id in self._first]


class RestingThings:
    """Says whether a thing of a kitchen moves, be it in a hand or with a drawer."""

    def __init__(self) -> None:
        self._before: dict[str, tuple[float, float, float]] = {}

    def rest(self, frame: SimulatedFrame) -> bool:
        """Return whether no thing has moved since the frame before."""
        now = {
            each.object_id: each.pose.position for each in frame.detections if each.object_type not in FURNITURE_TYPES
        }
        before, self._before = self._before, now
        ways = (np.linalg.norm(np.subtract(place, before.get(name, place))) for name, place in now.items())
        return all(way <= _RESTS_M for way in ways)


def _id_of(true: TrueObject, held: Sequence[RememberedObject]) -> str:
    """Return the id of what a memory claims of its type at the place of an object; empty for none, or several."""
    near = [each.object_id for each in claims_near(held, true.object_type, true.position)]
    return near[0] if len(near) == 1 else ""
