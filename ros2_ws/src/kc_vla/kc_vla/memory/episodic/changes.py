"""Moments that are worth a keyframe by what is detected: a thing has come to rest where it was not before.

It knows nothing of a task, and needs no images: whatever perception reports with ids can be followed.
"""

from __future__ import annotations

import math
from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from kc_vla.memory.episodic.joining import DetectedScene
from kc_vla.memory.things import ObservedThing

STILL_S, STILL_M = 0.5, 0.015
"""A thing is at rest when it was seen for so long within so little."""
CHANGED_M = 0.03
"""It is elsewhere when it rests further than this from where it rested before, m."""
_LEAST_LOOKS = 3
_MOST_FOLLOWED = 500
"""Things that are followed; the one that was seen longest ago goes."""
_MOST_LOOKS = 100

Position = tuple[float, float, float]


@dataclass(frozen=True)
class PlaceChange:
    """A moment at which things have come to rest elsewhere.

    Attributes:
        stamp_ns: of the image that shows them at rest, ns.
        moved: ids of those that rested somewhere else before.
        appeared: ids of those that were never seen at rest before.
    """

    stamp_ns: int
    moved: tuple[str, ...]
    appeared: tuple[str, ...]

    @property
    def label(self) -> str:
        """Return it in words: "Cup_1 moved", "2 things appeared"."""
        names, what = (self.moved, "moved") if self.moved else (self.appeared, "appeared")
        return f"{names[0] if len(names) == 1 else f'{len(names)} things'} {what}"


@dataclass
class _Followed:
    looks: deque[tuple[int, Position]] = field(default_factory=lambda: deque(maxlen=_MOST_LOOKS))
    rested: Position | None = None


class PlaceChanges:
    """Follows the things of one episode, in bounded memory."""

    def __init__(self, still_s: float = STILL_S, still_m: float = STILL_M, changed_m: float = CHANGED_M) -> None:
        """Begin an episode.

        Args:
            still_s: time for which a thing is seen in one place until it is at rest, s.
            still_m: by which its position may vary meanwhile, m.
            changed_m: by which it has to rest elsewhere, m.
        """
        self._still_ns, self._still_m, self._changed_m = round(still_s * 1e9), still_m, changed_m
        self._things: OrderedDict[str, _Followed] = OrderedDict()

    def take(self, scene: DetectedScene) -> PlaceChange | None:
        """Take in what was detected at a moment; return the change that is complete with it, None for most.

        Args:
            scene: with ids, in the order of the stamps; furniture does not count.
        """
        moved, appeared = [], []
        for each in self._movable(scene.seen):
            thing = self._things.pop(each.object_id, None) or _Followed()
            self._things[each.object_id] = thing
            if not self._rests(thing, scene.stamp_ns, each.position):
                continue
            if thing.rested is None:
                appeared.append(each.object_id)
            elif math.dist(thing.rested, each.position) > self._changed_m:
                moved.append(each.object_id)
            else:
                continue
            thing.rested = each.position
        while len(self._things) > _MOST_FOLLOWED:
            self._things.popitem(last=False)
        return PlaceChange(scene.stamp_ns, tuple(moved), tuple(appeared)) if moved or appeared else None

    def _movable(self, seen: Iterable[ObservedThing]) -> Iterable[ObservedThing]:
        return (each for each in seen if each.movable and each.object_id)

    def _rests(self, thing: _Followed, stamp_ns: int, position: Position) -> bool:
        """Return whether a thing has been seen in one place for long enough by now."""
        looks = thing.looks
        while len(looks) > 1 and stamp_ns - looks[1][0] >= self._still_ns:
            looks.popleft()
        looks.append((stamp_ns, position))
        long = len(looks) >= _LEAST_LOOKS and stamp_ns - looks[0][0] >= self._still_ns
        return long and all(math.dist(each, position) <= self._still_m for _, each in looks)
