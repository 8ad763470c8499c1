"""What a robot did with things: "the thing you washed", "what you put in the box" name them by that alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

MOST_DEEDS = 20
"""Effects on one thing that are kept, the latest."""
_LATER_S = 1e-6
"""Between two effects of one moment: which was the later one has to be known."""
_NOTHING: Mapping[str, float] = {}


class HandlingRecord:
    """When each thing was used last, and which effects that had.

    An effect is a state that a thing came into while the robot was there, or a place where it was left ("in Box_1"). A
    state that is new on a thing which the robot has not used counts from its first use on.
    """

    def __init__(self) -> None:
        self._used: dict[str, float] = {}
        self._done: dict[str, dict[str, float]] = {}
        self._new: dict[str, dict[str, float]] = {}
        self._last_s = 0.0

    def begin(self) -> None:
        """Forget all."""
        self._used.clear()
        self._done.clear()
        self._new.clear()

    def forget(self, object_id: str) -> None:
        """Forget a thing; one that is not known is ignored."""
        for kept in (self._used, self._done, self._new):
            kept.pop(object_id, None)

    def changed(self, object_id: str, states: Iterable[str], stamp_s: float) -> None:
        """Note states that are new on a thing, seen at `stamp_s`."""
        kept = self._done if object_id in self._done else self._new
        for state in sorted(states):
            self._note(kept, object_id, state, self._later(stamp_s))

    def used(self, object_id: str, place: str, stamp_s: float) -> None:
        """Note that the robot did something with a thing at `stamp_s`, which is at `place` now; empty for nowhere."""
        self._used[object_id] = now_s = self._later(stamp_s)
        done = self._done.setdefault(object_id, {})
        done.update(self._new.pop(object_id, {}))
        if place:
            self._note(self._done, object_id, place, now_s)

    def used_s(self, object_id: str) -> float:
        """Return when the robot used a thing last, s; 0 where it never did."""
        return self._used.get(object_id, 0.0)

    def deeds(self, object_id: str) -> Mapping[str, float]:
        """Return what was done with a thing, and when, s."""
        return dict(self._done[object_id]) if object_id in self._done else _NOTHING

    def _note(self, kept: dict[str, dict[str, float]], object_id: str, deed: str, stamp_s: float) -> None:
        deeds = kept.setdefault(object_id, {})
        deeds.pop(deed, None)
        deeds[deed] = stamp_s
        while len(deeds) > MOST_DEEDS:
            del deeds[next(iter(deeds))]

    def _later(self, stamp_s: float) -> float:
        """Return a time that is later than all before: what is used after another thing is used later."""
        self._last_s = max(stamp_s, self._last_s + _LATER_S)
        return self._last_s
