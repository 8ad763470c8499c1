"""What was put into something that opens and closes: a drawer, a cupboard, a microwave."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from kc_vla.memory.long_term.detections import plain_type
from kc_vla.perception.track import ObjectTrack

_CLOSED = frozenset({"closed", "close", "shut"})
_SLACK_M, _ABOVE_M = 0.02, 0.04
"""So far outside of a holder's box, and above it, the middle of what is in it can be measured."""
_ANNOUNCED = 3
"""Looks in which it is reported that something was shut in: a message can be lost."""
_FIXED = frozenset({"cupboard", "cabinet", "microwave", "oven", "fridge", "dishwasher", "safe"})
"""Types of what stays when it opens or closes: what is in it stays, too, wherever the middle of it is measured."""
_SMALLER = 0.8
"""What is in something has at most this share of its volume."""


def is_closed(track: ObjectTrack) -> bool:
    """Return whether most looks say that it is closed."""
    return plain_type(track.state) in _CLOSED


class Containment:
    """Keeps for each track what it is in."""

    def __init__(self, types: Collection[str]) -> None:
        """Take the types of what opens and closes."""
        self._types = frozenset(map(plain_type, types))

    def is_holder(self, object_type: str) -> bool:
        """Return whether something of a type can be open, and so mostly empty."""
        return plain_type(object_type) in self._types

    def carry(self, tracks: Iterable[ObjectTrack]) -> None:
        """Move what is in something along with it, as in a drawer."""
        known = {each.object_id: each for each in tracks if each.object_id}
        for each in known.values():
            holder = known.get(each.holder)
            if holder is not None and plain_type(holder.types.best) not in _FIXED:
                each.carry(holder.position)

    def update(self, tracks: Iterable[ObjectTrack], seen: Collection[str]) -> list[ObjectTrack]:
        """Find out what is in what after a look, and return what is to be reported as shut in.

        Args:
            tracks: all that are believed.
            seen: ids of those that this look shows.
        """
        known = {each.object_id: each for each in tracks}
        holders = [each for each in known.values() if self.is_holder(each.types.best)]
        shut = []
        for each in known.values():
            if each.object_id in seen:
                self._place(each, holders)
                continue
            holder = known.get(each.holder)
            if holder is None:
                each.holder, each.shut = "", False
            elif is_closed(holder):
                each.shut, each.empty, each.unseen = True, 0, 0
                if each.announced < _ANNOUNCED:
                    each.announced += 1
                    shut.append(each)
            else:
                each.shut, each.announced = False, 0
        return shut

    def _place(self, track: ObjectTrack, holders: Iterable[ObjectTrack]) -> None:
        """Note what a track that was seen is in."""
        track.holder = ""
        if self.is_holder(track.types.best):
            return
        around = [each for each in holders if each.is_open and _is_within(track, each)]
        if around:  # one drawer is above another: what is a little above the lower one is in the upper one
            holder = min(around, key=lambda each: _outside_m(track, each))
            track.holder, track.offset = holder.object_id, track.position - holder.position


def _is_within(track: ObjectTrack, holder: ObjectTrack) -> bool:
    if not holder.size.any() or np.prod(track.size) > _SMALLER * np.prod(holder.size):
        return False
    apart = track.position - holder.position
    half = holder.size / 2
    return bool((np.abs(apart[:2]) <= half[:2] + _SLACK_M).all() and -half[2] <= apart[2] <= half[2] + _ABOVE_M)


def _outside_m(track: ObjectTrack, holder: ObjectTrack) -> float:
    """Return how far outside of a holder's box the middle of a track is, m; within it, less than 0."""
    return float((np.abs(track.position - holder.position) - holder.size / 2).max())
