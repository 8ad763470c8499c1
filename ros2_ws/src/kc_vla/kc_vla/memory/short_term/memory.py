"""The short-term memory: a bounded number of units, merged by object, replaced by a policy (KARMA, 3.4 and 3.6)."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from enum import Enum
from typing import NamedTuple

from kc_vla.memory.long_term.relations import told_place
from kc_vla.memory.replacement.interface import Eviction
from kc_vla.memory.replacement.policies import ADAPTIVE, open_replacement
from kc_vla.memory.short_term.handling_record import HandlingRecord
from kc_vla.memory.short_term.unit import ObjectState, Unit, UnitError, merged_unit

LEAST_CAPACITY, MOST_CAPACITY = 5, 10_000
ABSENCE_S = 5.0
"""An object that was out of sight for so long is seen anew."""


class UnitKey(NamedTuple):
    """What a replacement policy knows of a unit.

    There is one for each object, so that two mugs are two units; what is counted, by its text, is the type: people ask
    for a mug, and which one it was the last time says little of which one it will be. A tracker that loses an object
    and gives it a new id does not take away, either, what was learned of its type.
    """

    object_type: str
    object_id: str

    def __str__(self) -> str:
        return self.object_type


class UnitEvent(Enum):
    """What an observation, or what a recall turned out to be, did to a unit."""

    ADDED = "added"
    MERGED = "merged"
    REFUSED = "refused"
    CONFIRMED = "confirmed"
    DEMOTED = "demoted"
    REMOVED = "removed"


class UnitChange(NamedTuple):
    """What became of a unit.

    Attributes:
        happened: to it.
        unit: as it is now, or was when it was removed.
        reason: in words, for people.
        evicted: the unit that had to go for it, ...
        eviction: ... and from which segment, how often it had been used, and why; both None where none had to.
    """

    happened: UnitEvent
    unit: Unit
    reason: str
    evicted: Unit | None = None
    eviction: Eviction | None = None


Listener = Callable[[str, Unit | None], None]
"""Gets the id of a unit that changed and what it is now, None where it left."""


class ShortTermMemory:
    """Units by object id. It is empty at start, as in the paper; use it from one thread at a time."""

    def __init__(self, capacity: int = 100, policy: str = ADAPTIVE, absence_s: float = ABSENCE_S) -> None:
        """Make an empty one.

        Args:
            capacity: units, 5 to 10,000.
            policy: name of a replacement policy.
            absence_s: an object that is seen again after so long counts as used, s; one that stays in view does not.

        Raises:
            ValueError: the capacity is out of bounds, or there is no such policy.
        """
        if not LEAST_CAPACITY <= capacity <= MOST_CAPACITY:
            raise ValueError(f"a short-term memory of {capacity} units: give it {LEAST_CAPACITY} to {MOST_CAPACITY:,}")
        self.capacity, self.policy = capacity, policy
        self._absence_s = absence_s
        self._replacement = open_replacement(policy, capacity)
        self._record = HandlingRecord()
        self._units: dict[str, Unit] = {}
        self._stated: dict[str, float] = {}
        """When the state of an object was seen last, s."""
        self._gone: OrderedDict[str, float] = OrderedDict()
        """When objects were found to be gone, s; of the last ones."""
        self._listeners: list[Listener] = []

    def __len__(self) -> int:
        return len(self._units)

    def __contains__(self, object_id: str) -> bool:
        return object_id in self._units

    def __iter__(self) -> Iterator[Unit]:
        return iter(self._units.values())

    def __getitem__(self, object_id: str) -> Unit:
        return self._units[object_id]

    def get(self, object_id: str) -> Unit | None:
        """Return the unit of that id; None where there is none."""
        return self._units.get(object_id)

    def listen(self, listener: Listener) -> None:
        """Call back with every change from now on, and with what is there."""
        self._listeners.append(listener)
        for object_id, unit in self._units.items():
            listener(object_id, unit)

    def observe(self, unit: Unit, used: bool = False, whole: bool = False) -> UnitChange:
        """Take in what was seen of an object; a known one is merged, for a new one another may have to go.

        What a known unit has and the new one lacks (state, area, image, attributes) is kept. What is older than what is
        known changes nothing but that it was used, nor what was seen before the object was found to be gone. When a
        unit was used last and what was done with it the memory notes itself: what the given one says of that does not
        count.

        Args:
            unit: as seen.
            used: the robot did something with it: counts as a use even if it was in view all the time.
            whole: it says all that there is: what it lacks is so no more, and is not kept, but for the image
                and a state that was read from one.
        """
        known = self._units.get(unit.object_id)
        if known is None:
            if unit.stamp <= self._gone.get(unit.object_id, -math.inf):
                return UnitChange(UnitEvent.REFUSED, unit, "it was seen before it was found to be gone")
            return self._add(self._recorded(unit, frozenset(), used))
        if unit.stamp < known.stamp:
            late = known.stamp - unit.stamp
            if used:  # it was, whatever was seen of it since
                return self._used_before(known, unit)
            return UnitChange(UnitEvent.REFUSED, known, f"it was seen {late:.3g} s before what is known of it")
        tells_states = unit.object_id in self._stated and not known.state_source
        if unit.state is not ObjectState.NONE or (whole and tells_states):
            self._stated[unit.object_id] = unit.stamp
        away = unit.stamp - known.stamp
        merged = merged_unit(known, unit, whole)
        merged = self._recorded(merged, merged.states - known.states, used)
        self._units[unit.object_id] = merged
        if unit.object_type != known.object_type:
            self._replacement.remove(UnitKey(known.object_type, known.object_id))
            self._replacement.add(UnitKey(unit.object_type, unit.object_id))
            reason = "it is known, and is now taken for something else"
        elif used or away >= self._absence_s:
            self._replacement.use(UnitKey(unit.object_type, unit.object_id))
            reason = "it is known, and was used" if used else f"it is known, and seen again after {away:.3g} s"
        else:
            reason = "it is known, and still in view"
        self._tell(merged.object_id, merged)
        return UnitChange(UnitEvent.MERGED, merged, reason)

    def _used_before(self, known: Unit, unit: Unit) -> UnitChange:
        """Count a use of an object that was seen again since: what is known of it stays."""
        used = self._recorded(unit, frozenset(), used=True)
        self._units[known.object_id] = after = replace(known, used=used.used, effects=used.effects)
        self._replacement.use(UnitKey(known.object_type, known.object_id))
        self._tell(after.object_id, after)
        return UnitChange(UnitEvent.MERGED, after, "it is known, and was used before it was seen last")

    def state_seen(self, object_id: str) -> float:
        """Return when the state of a unit was seen, s, by a detector or in an image; minus infinity where none was."""
        return self._stated.get(object_id, -math.inf)

    def read_state(self, object_id: str, state: ObjectState, source: str, stamp: float) -> UnitChange:
        """Take in the state that an image shows of a unit; a state that was seen at the same time or later stays.

        Args:
            object_id: of the unit.
            state: that was read; with `NONE` nothing changes.
            source: what read it, as `Unit.state_source`.
            stamp: of the image, s.

        Raises:
            KeyError: there is no such unit.
            UnitError: the source is empty or too long.
        """
        unit = self._units[object_id]
        if not source:
            raise UnitError(f"the state of {object_id[:40]!r} was read by nothing: name the model that read the image")
        if state is ObjectState.NONE:
            return UnitChange(UnitEvent.REFUSED, unit, "the image shows none of the states")
        if stamp <= self.state_seen(object_id):
            late = self.state_seen(object_id) - stamp
            return UnitChange(UnitEvent.REFUSED, unit, f"its state was seen {late:.3g} s after the image was taken")
        stated = replace(unit, state=state, state_source=source)
        stated = self._units[object_id] = self._recorded(stated, stated.states - unit.states, used=False)
        self._stated[object_id] = stamp
        self._tell(object_id, stated)
        return UnitChange(UnitEvent.MERGED, stated, f"its state was read from an image of {stamp:.2f} s")

    def confirm(self, object_id: str) -> UnitChange:
        """Count that a recall of a unit proved right, so that it stays longer; raise KeyError where it is not there."""
        unit = self._units[object_id]
        self._replacement.use(UnitKey(unit.object_type, object_id))
        return UnitChange(UnitEvent.CONFIRMED, unit, "a recall of it proved right")

    def refute(self, object_id: str, gone: bool = True, stamp: float | None = None) -> UnitChange:
        """Remove or demote a unit of which a recall proved wrong.

        It is not there any more, or it is there and was not what was meant.

        Args:
            object_id: of the unit.
            gone: it is not there any more.
            stamp: when that was found, s: what was seen until then, and comes later, does not bring it back.

        Returns:
            The unit removed where it is gone, and else demoted: the next to leave. KeyError where it is not there.
        """
        unit = self._units[object_id]
        key = UnitKey(unit.object_type, object_id)
        if not gone:
            self._replacement.demote(key)
            return UnitChange(UnitEvent.DEMOTED, unit, "a recall of it proved wrong")
        self._replacement.remove(key)
        del self._units[object_id]
        self._forget(object_id)
        if stamp is not None:
            self._gone[object_id] = stamp
            if len(self._gone) > self.capacity:
                self._gone.popitem(last=False)
        self._tell(object_id, None)
        return UnitChange(UnitEvent.REMOVED, unit, "a recall of it proved wrong: it is not there any more")

    def refresh(self) -> None:
        """Forget all, as at every start of the robot."""
        gone = list(self._units)
        self._units.clear()
        self._gone.clear()
        self._stated.clear()
        self._record.begin()
        self._replacement = open_replacement(self.policy, self.capacity)
        for object_id in gone:
            self._tell(object_id, None)

    def segment(self, object_id: str) -> str:
        """Return the segment of the policy that a unit is in; KeyError for an unknown unit."""
        return self._replacement.segment(self._key(object_id))

    def segments(self) -> Mapping[str, tuple[str, ...]]:
        """Return the ids of each segment of the policy, the next to leave first."""
        held = self._replacement.segments()
        return {name: tuple(key.object_id for key in keys if isinstance(key, UnitKey)) for name, keys in held.items()}

    def frequency(self, object_id: str) -> int:
        """Return how often the unit's type was used lately, as the policy counts.

        It is 0 where the policy does not count. KeyError for an unknown unit.
        """
        return self._replacement.frequency(self._key(object_id))

    def _key(self, object_id: str) -> UnitKey:
        return UnitKey(self._units[object_id].object_type, object_id)

    def _add(self, unit: Unit) -> UnitChange:
        eviction = self._replacement.add(UnitKey(unit.object_type, unit.object_id))
        evicted = None
        if eviction is not None:
            assert isinstance(eviction.key, UnitKey)
            evicted = self._units.pop(eviction.key.object_id)
            self._forget(evicted.object_id)
            self._tell(evicted.object_id, None)
        self._units[unit.object_id] = unit
        if unit.state is not ObjectState.NONE:
            self._stated[unit.object_id] = unit.stamp
        self._gone.pop(unit.object_id, None)
        self._tell(unit.object_id, unit)
        return UnitChange(UnitEvent.ADDED, unit, "it was not known", evicted, eviction)

    def _recorded(self, unit: Unit, fresh: frozenset[str], used: bool) -> Unit:
        """Note what is new on a unit, and return it with when it was used last and what was done with it."""
        record, name = self._record, unit.object_id
        if fresh:
            record.changed(name, fresh, unit.stamp)
        if used:
            relation, holder = told_place(unit.attributes) or ("", "")
            record.used(name, f"{relation} {holder}" if holder else "", unit.stamp)
        used_s = record.used_s(name)
        if not used_s and not unit.used and not unit.effects:  # as most are: nothing is checked twice
            return unit
        return replace(unit, used=used_s, effects=record.effects(name))

    def _forget(self, object_id: str) -> None:
        """Forget what is noted beside a unit that left."""
        self._record.forget(object_id)
        self._stated.pop(object_id, None)

    def _tell(self, object_id: str, unit: Unit | None) -> None:
        for listener in self._listeners:
            listener(object_id, unit)
