"""A scene graph as detections come: what is new, seen again, moved, not there any more.

KARMA, section 3.3, leaves open how; this is association, fusion and negative evidence. Nothing is changed here: the
change is worked out, and the owner of the graph makes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kc_vla.memory.long_term.association import associate, distinct, is_one, likeness
from kc_vla.memory.long_term.detections import Detection, FusionSettings, plain_type
from kc_vla.memory.long_term.errors import GraphError, told
from kc_vla.memory.long_term.fusion import Dispute, begun, merged, not_seen, seen_again
from kc_vla.memory.long_term.graph import GraphChange, SceneGraph, new_id
from kc_vla.memory.long_term.nodes import SceneObject, Vector
from kc_vla.memory.long_term.relations import Named, stand
from kc_vla.memory.long_term.views import RegionView

CLOCKS_DIFFER_NS = 60_000_000_000
_STANDS_M = 0.5
"""Around a box that has come or been moved, what stands on it or in it is asked again."""


@dataclass
class Observed:
    """What came of the detections of one moment: ids of objects, each list in their order.

    Attributes:
        new: not known before.
        seen: known before.
        moved: known before, and found elsewhere.
        missed: ought to have been in view, and was not seen.
        gone: missed until nobody believes in it; removed.
        merged: turned out to be another one; removed.
        disputes: what a person has set otherwise.
        left_out: detections for which the map has no room.
    """

    new: list[str] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    merged: list[str] = field(default_factory=list)
    disputes: list[Dispute] = field(default_factory=list)
    left_out: int = 0


def observe(
    graph: SceneGraph,
    detections: Iterable[Detection],
    stamp_ns: int,
    view: RegionView | None,
    settings: FusionSettings,
    now_ns: int | None = None,
) -> tuple[GraphChange, Observed]:
    """Work out what the detections of one frame change.

    Args:
        graph: as it is; it is not changed.
        detections: in the frame of its map.
        stamp_ns: when they were seen, ns.
        view: what was in view then; None: nothing is concluded from what was not seen.
        settings: see there.
        now_ns: by the clock that stamps, ns. What is known to have been seen far later than that was stamped by a
            clock that was ahead; None: whatever is known may have been seen since.

    Raises:
        GraphError: the stamp can be none.
    """
    if type(stamp_ns) is not int or not 0 < stamp_ns < 1 << 63:
        raise GraphError(f"{told(stamp_ns)} is no time in ns")
    return _Moment(graph, distinct(list(detections)), stamp_ns, settings, now_ns).outcome(view)


class _Moment:
    """The work of one call."""

    def __init__(
        self,
        graph: SceneGraph,
        seen: Sequence[Detection],
        stamp_ns: int,
        settings: FusionSettings,
        now_ns: int | None,
    ) -> None:
        self._latest_ns = None if now_ns is None else now_ns + CLOCKS_DIFFER_NS
        """What was seen later than that was not seen then; None: nobody knows what the time is."""
        self._graph, self._seen, self._stamp_ns, self._settings = graph, seen, stamp_ns, settings
        self._after: dict[str, SceneObject] = {}
        self._removed: set[str] = set()
        self._told = Observed()

    def outcome(self, view: RegionView | None) -> tuple[GraphChange, Observed]:
        matches = associate(self._graph, self._seen, self._settings)
        there = {each.id for each in matches.values()}
        missed = [] if view is None else self._in_view(view, there, matches)
        matches |= self._carried(matches, missed)
        there = {each.id for each in matches.values()}
        for number, known in matches.items():
            self._see(known, self._seen[number])
        for known in missed:
            if known.id not in there:
                self._miss(known)
        count = self._begin([each for at, each in enumerate(self._seen) if at not in matches])
        self._merge(there)
        self._settle()
        removal = self._graph.removal(self._removed)
        freed = {each.id for each in removal.put}
        for name, each in self._after.items():
            if name in freed and each.holder in self._removed:
                self._after[name] = replace(each, placed="", holder="", by_hand=each.by_hand - {"holder"})
        put = {each.id: each for each in (*removal.put, *self._after.values())}
        changed = (each for each in put.values() if self._graph.objects.get(each.id) != each)
        return GraphChange(tuple(changed), removal.removed, count), self._told

    def _in_view(self, view: RegionView, there: set[str], matches: Mapping[int, SceneObject]) -> list[SceneObject]:
        """Return the objects that ought to have been seen.

        What is in something closed is hidden, unless depth shows that one looks into it: then it is open. Where the
        object is not within its holder's box, depth says nothing: what moved with a drawer was seen last before that
        was shut, and its place is known less well than what it is in.
        """
        known = [
            each
            for each in self._graph.near(*view.reach())
            if each.id not in there and each.last_seen_ns < self._stamp_ns
        ]
        if not known:
            return []
        states = {each.id: self._seen[number].state for number, each in matches.items()}
        middles, sizes = np.array([each.position for each in known]), np.array([each.size for each in known])
        seen = view.shows(middles, sizes)
        shut = np.array([self._is_shut_in(each, states) for each in known])
        if shut.any():
            within = np.array([self._is_within_holder(each) for each in known])
            seen &= ~shut | (within & view.shows_inside(middles, sizes))
        return sorted((each for each, held in zip(known, seen, strict=True) if held), key=lambda each: each.id)

    def _is_shut_in(self, each: SceneObject, states: Mapping[str, str]) -> bool:
        """Return whether the holder of an object is closed, by the states that are seen now or were before."""
        holder = self._graph.objects.get(each.holder)
        if each.placed != "in" or holder is None:
            return False
        return plain_type(states.get(holder.id) or holder.state) == "closed"

    def _is_within_holder(self, each: SceneObject) -> bool:
        """Return whether the box of an object is within that of its holder."""
        holder = self._graph.objects.get(each.holder)
        if holder is None:
            return False
        gaps = zip(each.position, each.size, holder.position, holder.size, strict=True)
        return all(abs(one - other) + size / 2 <= extent / 2 for one, size, other, extent in gaps)

    def _carried(self, matches: dict[int, SceneObject], missed: Sequence[SceneObject]) -> dict[int, SceneObject]:
        """Return what was carried elsewhere in view.

        Just one of its class is missed, and just one is seen that is new.
        """
        new: dict[str, list[int]] = {}
        for number, each in enumerate(self._seen):
            if number not in matches and each.can_be_moved:
                new.setdefault(plain_type(each.object_type), []).append(number)
        lost: dict[str, list[SceneObject]] = {}
        for known in missed:
            if known.movable and not known.by_hand and not known.forgotten:
                lost.setdefault(plain_type(known.object_type), []).append(known)
        return {
            numbers[0]: lost[kind][0]
            for kind, numbers in new.items()
            if len(numbers) == 1 and len(lost.get(kind, ())) == 1
        }

    def _see(self, known: SceneObject, seen: Detection) -> None:
        if self._latest_ns is not None and known.last_seen_ns > self._latest_ns:
            known = replace(known, last_seen_ns=self._stamp_ns - 1)
        after, disputes = seen_again(known, seen, self._stamp_ns, self._settings)
        self._after[known.id] = after
        if known.forgotten:
            self._told.disputes.append(Dispute(known.id, "confidence", "forgotten", f"{seen.object_type} seen again"))
            return
        self._told.seen.append(known.id)
        self._told.disputes += disputes
        if after.position == seen.position != known.position and known.movable:
            self._told.moved.append(known.id)

    def _miss(self, known: SceneObject) -> None:
        after = not_seen(known, self._settings)
        kept = known.by_hand and not known.forgotten
        if after.confidence < self._settings.gone and not kept:
            self._removed.add(known.id)
        else:
            self._after[known.id] = after
        if known.forgotten:
            return
        self._told.missed.append(known.id)
        if known.by_hand:
            self._told.disputes.append(Dispute(known.id, "confidence", known.confidence, "not seen where it should be"))
        elif known.id in self._removed:
            self._told.gone.append(known.id)

    def _begin(self, seen: Sequence[Detection]) -> int | None:
        number = self._graph.number
        room = max(self._settings.most_objects - len(self._graph.objects), 0)
        self._told.left_out = max(len(seen) - room, 0)
        for each in seen[:room]:
            object_id = new_id(each.object_type, number)
            number += 1
            self._after[object_id] = begun(object_id, each, self._stamp_ns, self._settings)
            self._told.new.append(object_id)
        return number if number != self._graph.number else None

    def _merge(self, there: set[str]) -> None:
        """Merge two objects that were never seen at once and have come to the same place."""
        for object_id in list(self._after):
            one = self._after.get(object_id)
            if one is None or one.forgotten or one.last_seen_ns != self._stamp_ns:
                continue
            for near in self._graph.near(one.position, max(one.diagonal_m, 0.1)):
                if near.id in there or near.id in self._removed or near.id == one.id:
                    continue
                other = self._after.get(near.id, near)
                if other.by_hand or other.forgotten or one.by_hand or not is_one(one, other):
                    continue
                alike = likeness(one.embedding, other.embedding)
                if alike is not None and alike < self._settings.alike:
                    continue
                older, newer = sorted((one, other), key=lambda each: (each.first_seen_ns, each.id))
                place = replace(older, position=one.position, size=one.size)
                self._after[older.id] = one = merged(place, newer)
                self._after.pop(newer.id, None)
                if newer.id in self._told.new:
                    self._told.new.remove(newer.id)
                    continue
                self._removed.add(newer.id)
                self._told.merged.append(newer.id)

    def _settle(self) -> None:
        """Find the area and holder of all that was seen.

        The holder of what stands at a box that has come or moved is found, too.
        """
        fresh = {name for name, each in self._after.items() if self._has_moved(each)}
        touched = {name for name, each in self._after.items() if each.last_seen_ns == self._stamp_ns}
        for name in fresh:
            each = self._after[name]
            around = self._graph.near(each.position, each.diagonal_m / 2 + _STANDS_M)
            touched |= {other.id for other in around if not other.forgotten and other.id not in self._removed}
        named, footprints = self._names(), Footprints(self._after.values())
        for name in sorted(touched):
            each = self._after.get(name) or self._graph.objects[name]
            if each.forgotten:
                continue
            if name in self._after and name in fresh:
                each = replace(each, area=self._graph.area_at(each.position))
            self._after[name] = stand(each, self._around(each, footprints), named)

    def _names(self) -> Named:
        """Return what finds objects by their detector's names, as they are after this moment."""
        called = {each.source_id: name for name, each in self._after.items() if each.source_id}

        def named(source_id: str) -> SceneObject | None:
            known = self._graph.named(source_id)
            name = called.get(source_id, "" if known is None else known.id)
            return None if name in self._removed else self._after.get(name) or self._graph.objects.get(name)

        return named

    def _has_moved(self, each: SceneObject) -> bool:
        before = self._graph.objects.get(each.id)
        return before is None or before.position != each.position or before.size != each.size

    def _around(self, each: SceneObject, footprints: Footprints) -> list[SceneObject]:
        """Return the objects that it may stand on or in, as they are after this moment."""
        radius_m = each.diagonal_m / 2 + self._graph.largest_m / 2 + _STANDS_M
        near = [other for other in self._graph.near(each.position, radius_m) if other.id not in footprints]
        found = [self._after.get(other.id, other) for other in near]
        found += [self._after[name] for name in footprints.under(each.position)]
        return [other for other in found if other.id not in self._removed]


class Footprints:
    """Finds the boxes that a place is above or below, of all of them at once."""

    def __init__(self, objects: Iterable[SceneObject]) -> None:
        """Take the objects as they are now."""
        known = list(objects)
        self._names = [each.id for each in known]
        self._known = frozenset(self._names)
        self._middles = np.array([each.position[:2] for each in known], float).reshape(-1, 2)
        self._halves = np.array([each.size[:2] for each in known], float).reshape(-1, 2) / 2

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def under(self, position: Vector) -> list[str]:
        """Return the ids of the objects whose box is straight below or above a place, or around it."""
        over = (np.abs(self._middles - position[:2]) <= self._halves).all(axis=1)
        return [self._names[at] for at in np.flatnonzero(over).tolist()]
