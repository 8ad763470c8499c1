"""What was put into something that opens and closes: a drawer, a cupboard, a microwave."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from kc_vla.memory.long_term.detections import plain_type
from kc_vla.perception.front import PART, WHOLE
from kc_vla.perception.located_object import LocatedObject
from kc_vla.perception.track import ObjectTrack

Numbers = NDArray[np.float64]
_CLOSED = frozenset({"closed", "close", "shut"})
_SLACK_M, _ABOVE_M = 0.02, 0.04
"""So far outside of a holder's box, and above it, the middle of what is in it can be measured."""
_KEPT_M, _KEPT_LOOKS = 0.07, 3
"""What was in something is in it still so far outside of its box, m, for so many looks in a row: of what is pushed, not
all is seen at once."""
_OPEN_ABOVE = frozenset({"sink", "sinkbasin", "tray", "basket", "bin", "bathtub", "bathtubbasin"})
"""Types of what is hollow and open above: from above a camera sees through their middles."""
_ANNOUNCED = 3
"""Looks in which it is reported that something was shut in: a message can be lost."""
_FIXED = frozenset({WHOLE, "cupboard", "microwave", "oven", "fridge", "dishwasher", "safe"})
"""Types of what stays when it opens or closes: what is in it stays, too, wherever the middle of it is measured."""
_PULLED = 0.8
"""A drawer is pulled out by this share of its depth at most."""
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

    def is_hollow(self, object_type: str) -> bool:
        """Return whether depth may pass through the middle of something of a type: it opens, or it is open above."""
        return self.is_holder(object_type) or plain_type(object_type) in _OPEN_ABOVE

    def is_too_large(self, seen: LocatedObject, tracks: Iterable[ObjectTrack]) -> bool:
        """Return whether a detection is of a drawer that is larger than the cabinet in the midst of it.

        From very near a detector may take a front that fills the image for something far larger.
        """
        if plain_type(seen.object_type) != PART:
            return False
        half, place, volume = np.array(seen.size) / 2, np.array(seen.position), np.prod(seen.size)
        cabinets = (each for each in tracks if plain_type(each.types.best) == WHOLE)
        return any(volume > np.prod(each.size) and (np.abs(each.position - place) < half).all() for each in cabinets)

    def is_stray(self, seen: LocatedObject, tracks: Iterable[ObjectTrack]) -> bool:
        """Return whether a detection is of a drawer without a bar that is in none of the cabinets that are known.

        From near a detector may take the hand, or what is in it, for a drawer.
        """
        if plain_type(seen.object_type) != PART or seen.front is not None:
            return False
        cabinets = [each for each in tracks if plain_type(each.types.best) == WHOLE]
        place, size = np.array(seen.position), np.array(seen.size)
        return bool(cabinets) and not any(_is_part(place, size, each) for each in cabinets)

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
                self._place(each, holders, seen)
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
        filled = {each.holder for each in _of_type(holders, PART)}
        for cabinet in _of_type(holders, WHOLE):
            cabinet.has_parts = cabinet.object_id in filled
        return shut

    def _place(self, track: ObjectTrack, holders: Sequence[ObjectTrack], seen: Collection[str]) -> None:
        """Note what a track that was seen is in, or which cabinet it is a drawer of; `seen`: what the look shows.

        Where in a drawer it is, a look says that shows both: what is pushed is elsewhere before it is seen there.
        """
        if not self.is_holder(track.types.best):
            around = [each for each in holders if each.is_open and _is_within(track, each)]
            near = any(_is_within(track, each, _KEPT_M) for each in holders if each.object_id == track.holder)
            if not around and near and track.outside < _KEPT_LOOKS:
                track.outside += 1
                return
            track.outside = 0
        elif plain_type(track.types.best) == PART:
            around = [each for each in _of_type(holders, WHOLE) if _is_part(track.position, track.size, each)]
        else:
            around = []
        # One drawer is above another: what is a little above the lower one is in the upper one.
        holder = min(around, key=lambda each: _outside_m(track, each), default=None)
        if holder is not None and (holder.object_id in seen or holder.object_id != track.holder):
            track.offset = track.position - holder.position
        track.holder = "" if holder is None else holder.object_id


def _of_type(tracks: Iterable[ObjectTrack], kind: str) -> list[ObjectTrack]:
    return [each for each in tracks if plain_type(each.types.best) == kind]


def _is_part(place: Numbers, size: Numbers, cabinet: ObjectTrack) -> bool:
    """Return whether a drawer (its middle (3,), its size (3,), m), which may be pulled out, belongs to a cabinet."""
    apart, half = np.abs(place - cabinet.position), cabinet.size / 2
    out = _PULLED * float(size[:2].max(initial=0.0))
    return bool((apart[:2] <= half[:2] + out).all() and apart[2] <= half[2] + _SLACK_M)


def _is_within(track: ObjectTrack, holder: ObjectTrack, slack_m: float = _SLACK_M) -> bool:
    if not holder.size.any() or np.prod(track.size) > _SMALLER * np.prod(holder.size):
        return False
    apart = track.position - holder.position
    half = holder.extent / 2
    return bool((np.abs(apart[:2]) <= half[:2] + slack_m).all() and -half[2] <= apart[2] <= half[2] + _ABOVE_M)


def _outside_m(track: ObjectTrack, holder: ObjectTrack) -> float:
    """Return how far outside of a holder's box the middle of a track is, m; within it, less than 0."""
    return float((np.abs(track.position - holder.position) - holder.extent / 2).max())
