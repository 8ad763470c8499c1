"""Which detection is which track: by place, type, size and color, so that the sum of the costs is least."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from kc_vla.memory.long_term.detections import IMMOVABLE, plain_type
from kc_vla.perception.front import OPENED, PART, WHOLE
from kc_vla.perception.located_object import LocatedObject
from kc_vla.perception.same_thing import ALIKE_SIZE, NESTED, SAME_BAR_M, common_sides, nested
from kc_vla.perception.track import ObjectTrack

Numbers = NDArray[np.float64]
_GATE_M, _GATE_SIGMAS, _GATE_SHARE, _FARTHEST_M = 0.04, 3.0, 0.4, 0.3
"""A detection within the largest of the first three (m, standard deviations, share of the diagonal) can be a track."""
_OPENS_SHARE = 0.7
"""Share of its diagonal that the middle of a drawer moves when it is opened while nobody looks."""
_OTHER_TYPE, _OTHER_COLOR, _OTHER_SIZE = 0.7, 0.5, 1.0
_NEW = 1.3
"""What it costs that a detection is something new; less than a poor match."""
_ONE = 0.4
"""Two boxes with this share of their common volume in common are one thing."""
_ALIKE_VOLUME, _DISPLACED = 2.5, 0.25
"""Two solids of about one volume do not have so much of the smaller one in common; an apple and a bowl do."""
_THINGS_NESTED = 0.5
"""Two things, which may touch, are one when the smaller one has this share of its volume in the other."""
_BY_BAR = 0.1
"""What it costs that two bars, which are one, are of one piece of furniture."""
_RISE, _LEAST_RISE_M = 0.5, 0.05
"""Two drawers are above one another whose middles are apart by this share of their height, and by so much, m."""
_BADLY_RISEN = 0.65
"""Likewise, where the bar of one of them was never seen: the height of its middle is measured badly."""
_POINT_M = 0.02
"""Likewise, of things whose size nobody knows."""


def near(
    tracks: Sequence[ObjectTrack],
    seen: Sequence[LocatedObject],
    opens: Callable[[str], bool] = lambda kind: False,
    shut: Sequence[bool] | None = None,
) -> dict[int, int]:
    """Return by the number of each detection that is a track near its place the number of that track.

    Args:
        tracks: of objects.
        seen: the detections.
        opens: whether something of a type opens, which moves its middle far.
        shut: for each track, whether depth shows that it is shut, so that it is nothing that was found open; None: of
            none.
    """
    if not tracks or not seen:
        return {}
    away = np.minimum(
        _distances([each.position for each in tracks], seen), _distances([each.place.suspect for each in tracks], seen)
    )
    diagonals = np.linalg.norm([each.size for each in tracks], axis=1)
    variance = np.array([each.place.sigma_m**2 for each in tracks])[None] + _column([each.sigma_m**2 for each in seen])
    gate = np.maximum(_GATE_SIGMAS * np.sqrt(variance), np.maximum(_GATE_M, _GATE_SHARE * diagonals[None]))
    opening = np.array([opens(each.types.best) for each in tracks])
    gate = np.minimum(gate, np.maximum(_FARTHEST_M, diagonals[None] / 2))
    gate = np.where(opening[None], np.maximum(gate, _OPENS_SHARE * diagonals[None]), gate)
    cost = (away / gate) ** 2 + _unlike(tracks, seen, diagonals)
    never = _never_one(tracks, seen)
    if shut is not None:
        never |= _column([plain_type(each.state) in OPENED for each in seen]).astype(bool) & np.array(shut, bool)[None]
    cost[(away > gate) | never] = _NEW
    return _cheapest(np.where(_same_bar(tracks, seen), _BY_BAR, cost))


def moved(tracks: Sequence[ObjectTrack], seen: Sequence[LocatedObject]) -> dict[int, int]:
    """Return likewise which detections are tracks of the same type and looks elsewhere; the nearest of several."""
    if not tracks or not seen:
        return {}
    return _cheapest(_moving_cost(tracks, seen))


def moved_on(
    lost: Sequence[ObjectTrack], young: Sequence[ObjectTrack], hangs: Sequence[bool] | None = None
) -> dict[int, int]:
    """Return likewise which young tracks are lost ones of the same type and looks that go on there.

    None is that was seen since the young one began. One of which nobody knows that it left its place can be no farther
    away than it is large, where the young one stands before that place. Where several that are alike have left their
    places, nobody knows which of them a young one is: it is another one then.

    Args:
        lost: tracks that this look does not show.
        young: tracks to find among them.
        hangs: for each lost one, whether there is nothing below it: a hand carried it, so that it left its place; None:
            for none.
    """
    if not lost or not young:
        return {}
    cost = _moving_cost(lost, [each.reported() for each in young])
    away = np.linalg.norm(
        np.array([each.position for each in young])[:, None] - np.array([each.position for each in lost])[None], axis=2
    )
    left = np.array([bool(each.empty or each.unseen or each.gone_ns) for each in lost])
    left |= np.zeros(len(lost), bool) if hangs is None else np.array(hangs, bool)
    beside = away <= np.linalg.norm([each.size for each in lost], axis=1)[None]
    later = np.array([each.seen_ns for each in lost])[None] >= _column([each.begun_ns for each in young])
    cost = np.where(later | ~(left[None] | beside), _NEW, cost)
    doubtful = ((cost < _NEW) & ~beside).sum(axis=1) > 1
    return _cheapest(np.where(doubtful[:, None] & ~beside, _NEW, cost))


def began_elsewhere(gone: Sequence[ObjectTrack], known: Sequence[ObjectTrack]) -> dict[int, int]:
    """Return likewise which known tracks are ones that are gone: each the only one of that type and looks.

    Such a track began after the other one was seen for the last time, so that both were never there at once.
    """
    numbers = [number for number, each in enumerate(known) if any(_can_go_on(one, each) for one in gone)]
    if not numbers:
        return {}
    known = [known[number] for number in numbers]
    cost = _moving_cost(gone, [each.reported() for each in known])
    later = np.array([each.seen_ns for each in gone])[None] >= _column([each.begun_ns for each in known])
    can_be = (cost < _NEW) & ~later
    alone = can_be & (can_be.sum(axis=1) == 1)[:, None] & (can_be.sum(axis=0) == 1)[None]
    rows, columns = np.nonzero(alone)
    return {numbers[row]: column for row, column in zip(rows.tolist(), columns.tolist(), strict=True)}


def _can_go_on(gone: ObjectTrack, known: ObjectTrack) -> bool:
    return known.begun_ns > gone.seen_ns and plain_type(known.types.best) == plain_type(gone.types.best)


def _moving_cost(tracks: Sequence[ObjectTrack], seen: Sequence[LocatedObject]) -> Numbers:
    away = _distances([each.position for each in tracks], seen)
    diagonals = np.linalg.norm([each.size for each in tracks], axis=1)
    others = np.linalg.norm([each.size for each in seen], axis=1)
    small = np.minimum(diagonals[None], others[:, None])
    large = np.maximum(diagonals[None], others[:, None])
    strange = _differ([plain_type(each.types.best) for each in tracks], [plain_type(each.object_type) for each in seen])
    strange |= _colors_differ(tracks, seen) | ((small > 0.0) & (large > ALIKE_SIZE * small))
    return np.where(strange, _NEW, away / (1.0 + away))


def by_source(tracks: Sequence[ObjectTrack], seen: Sequence[LocatedObject]) -> dict[int, int]:
    """Return likewise which detections have the id of a track that a trusted detector knows again."""
    known = {each.source_id: number for number, each in enumerate(tracks) if each.source_id}
    return {number: known[each.object_id] for number, each in enumerate(seen) if each.object_id in known}


class SeenBoxes:
    """Boxes of what one look has found, to know a second detection of the same thing."""

    def __init__(self, tracks: Sequence[ObjectTrack], room: int) -> None:
        """Take tracks, and room for some more boxes."""
        self._tracks = list(tracks)
        self._boxes = np.zeros((len(tracks) + room, 2, 3))
        for at, each in enumerate(tracks):
            self._boxes[at] = each.position, each.size

    def add(self, track: ObjectTrack) -> None:
        """Take another one."""
        self._boxes[len(self._tracks)] = track.position, track.size
        self._tracks.append(track)

    def same(self, seen: LocatedObject) -> ObjectTrack | None:
        """Return the track that is the same thing as a detection; None where it is another one."""
        if not self._tracks:
            return None
        places, sizes, own = self._places, self._sizes, np.array(seen.size, float)
        common = self._common(seen)
        volume = common.prod(axis=1)
        one = volume > _ONE * (own.prod() + sizes.prod(axis=1) - volume)
        # Drawers are compared from above: no drawer is before another one, and `_never_one` compares their heights.
        axes = 2 if plain_type(seen.object_type) == PART else 3
        one |= _same_type(self._tracks, seen) & (self._nested(seen, common, axes) > _nested_share(seen))
        unknown = ~sizes.any(axis=1) | (not own.any())
        one = np.where(unknown, np.linalg.norm(np.array(seen.position) - places, axis=1) < _POINT_M, one)
        one |= _same_bar(self._tracks, [seen])[0]
        there = [self._tracks[at] for at in np.flatnonzero(one)]
        if not there:
            return None
        others = _never_one(there, [seen])[0]
        return next((each for each, other in zip(there, others, strict=True) if not other), None)

    def around(self, drawer: LocatedObject) -> ObjectTrack | None:
        """Return the drawer with a bar at whose place another one seems to be, nearly at its height; None for none."""
        if not self._tracks or plain_type(drawer.object_type) != PART:
            return None
        apart = np.abs(self._places[:, 2] - drawer.position[2])
        alike = _same_type(self._tracks, drawer) & (apart < _BADLY_RISEN * self._sizes[:, 2])
        barred = ~np.isnan([each.bar_height for each in self._tracks])
        there = np.flatnonzero(alike & barred & self._from_above(drawer))
        return self._tracks[there[int(np.argmin(apart[there]))]] if len(there) else None

    def overlaps(self, seen: LocatedObject) -> bool:
        """Return whether any of them is at the place of a detection, as seen from above."""
        return bool(self._from_above(seen).any())

    @property
    def _places(self) -> Numbers:
        return self._boxes[: len(self._tracks), 0]

    @property
    def _sizes(self) -> Numbers:
        return self._boxes[: len(self._tracks), 1]

    def _common(self, seen: LocatedObject) -> Numbers:
        """Return the sides of what each box has in common with a detection (N, 3), m."""
        return common_sides(np.array(seen.position), np.array(seen.size, float), self._places, self._sizes)

    def _nested(self, seen: LocatedObject, common: Numbers, axes: int) -> Numbers:
        """Return that as a share of the smaller one of the two (N,), on the first so many axes."""
        return nested(common[:, :axes], np.array(seen.size[:axes], float), self._sizes[:, :axes])

    def _from_above(self, seen: LocatedObject) -> NDArray[np.bool_]:
        return self._nested(seen, self._common(seen), 2) > NESTED


def doubles(young: Sequence[ObjectTrack], known: Sequence[ObjectTrack]) -> dict[int, int]:
    """Return by the number of each young track that is a second one of what is known the number of that.

    Nothing is within another object of its type, and each bar belongs to one piece of furniture. A drawer at the place
    of one with a bar is another one only if its own bar is seen: the height of its middle is measured far worse.
    """
    if not young or not known:
        return {}
    boxes = SeenBoxes(known, 0)
    at = {id(each): number for number, each in enumerate(known)}
    found = ((number, double_of(each, boxes)) for number, each in enumerate(young))
    return {number: at[id(same)] for number, same in found if same is not None}


def double_of(young: ObjectTrack, boxes: SeenBoxes) -> ObjectTrack | None:
    """Return which of the tracks in some boxes a track is a second one of, see `doubles`; None for none."""
    seen = young.summary()
    same = boxes.same(seen)
    if same is None and seen.front is None:
        same = boxes.around(seen)
    return same if same is not None and is_of_type(same, seen) else None


def overlapping(tracks: Sequence[ObjectTrack]) -> list[ObjectTrack]:
    """Return those tracks that have another one of their type at their place, as seen from above."""
    if len(tracks) < 2:
        return []
    places, sizes = np.array([each.position[:2] for each in tracks]), np.array([each.size[:2] for each in tracks])
    kinds = [plain_type(each.types.best) for each in tracks]
    apart = np.abs(places[:, None] - places[None])
    both = (apart < (sizes[:, None] + sizes[None]) / 2 + SAME_BAR_M).all(axis=2) & ~_differ(kinds, kinds)
    np.fill_diagonal(both, False)
    return [each for each, has in zip(tracks, both.any(axis=1), strict=True) if has]


def overlaps_known(seen: LocatedObject, known: Sequence[ObjectTrack]) -> bool:
    """Return whether a detection is of furniture, and known furniture of its type is at its place, as from above."""
    boxes = SeenBoxes([each for each in known if plain_type(each.types.best) == plain_type(seen.object_type)], 0)
    return plain_type(seen.object_type) in IMMOVABLE and boxes.overlaps(seen)


def _nested_share(seen: LocatedObject) -> float:
    return NESTED if plain_type(seen.object_type) in IMMOVABLE else _THINGS_NESTED


def is_of_type(track: ObjectTrack, seen: LocatedObject) -> bool:
    """Return whether a track and a detection are of one type."""
    return plain_type(track.types.best) == plain_type(seen.object_type)


def _same_type(tracks: Sequence[ObjectTrack], seen: LocatedObject) -> NDArray[np.bool_]:
    """Return for each track (N,) whether it and a detection are of one type."""
    kind = plain_type(seen.object_type)
    return np.array([plain_type(each.types.best) == kind for each in tracks], bool)


def _same_bar(tracks: Sequence[ObjectTrack], seen: Sequence[LocatedObject]) -> NDArray[np.bool_]:
    """Return (detections, tracks) whether the two are of one type and have the same bar of a handle."""
    mine = np.array([each.bar for each in tracks]).reshape(-1, 3)
    given = np.array([np.full(3, np.nan) if each.front is None else each.front.bar for each in seen]).reshape(-1, 3)
    away = np.linalg.norm(given[:, None] - mine[None], axis=2)
    other = _differ([plain_type(each.types.best) for each in tracks], [plain_type(each.object_type) for each in seen])
    return np.asarray((away < SAME_BAR_M) & ~other)  # NaN is not near


def displaced(tracks: Sequence[ObjectTrack], found: Sequence[ObjectTrack]) -> NDArray[np.bool_]:
    """Return for each track (N,) whether another object of about its size is seen where it would be.

    That object was known before.
    """
    if not tracks or not found:
        return np.zeros(len(tracks), bool)
    places, sizes = np.array([each.position for each in tracks]), np.array([each.size for each in tracks])
    others, other_sizes = np.array([each.position for each in found]), np.array([each.size for each in found])
    common = common_sides(places[:, None], sizes[:, None], others[None], other_sizes[None]).prod(axis=2)
    own, theirs = sizes.prod(axis=1)[:, None], other_sizes.prod(axis=1)[None]
    small, large = np.minimum(own, theirs), np.maximum(own, theirs)
    before = np.array([each.begun_ns for each in found])[None] <= _column([each.begun_ns for each in tracks])
    return np.asarray(((large < _ALIKE_VOLUME * small) & (common > _DISPLACED * small) & before).any(axis=1))


def _cheapest(cost: Numbers) -> dict[int, int]:
    rows, columns = linear_sum_assignment(np.minimum(cost, _NEW))
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return {row: column for row, column in pairs if cost[row, column] < _NEW}


def _distances(places: Sequence[Numbers], seen: Sequence[LocatedObject]) -> Numbers:
    there = np.array([each.position for each in seen])[:, None]
    return np.asarray(np.linalg.norm(there - np.array(places)[None], axis=2))


def _unlike(tracks: Sequence[ObjectTrack], seen: Sequence[LocatedObject], diagonals: Numbers) -> Numbers:
    types = _differ([plain_type(each.types.best) for each in tracks], [plain_type(each.object_type) for each in seen])
    others = np.linalg.norm([each.size for each in seen], axis=1)
    known = (diagonals[None] > 0.0) & (others[:, None] > 0.0)
    ratio = np.where(known, others[:, None] / np.where(known, diagonals[None], 1.0), 1.0)
    unlike = np.abs(np.log(ratio))
    other = types & (unlike > math.log(ALIKE_SIZE))  # a hand before a mug is not taken for that mug
    cost = _OTHER_TYPE * types + _OTHER_COLOR * _colors_differ(tracks, seen) + _OTHER_SIZE * unlike
    return np.asarray(np.where(other, _NEW, cost))


def _colors_differ(tracks: Sequence[ObjectTrack], seen: Sequence[LocatedObject]) -> NDArray[np.bool_]:
    mine = [each.color for each in tracks]
    given = [each.attributes.get("color", "") or each.attributes.get("colour", "") for each in seen]
    said = _column([bool(each) for each in given]) & np.array([bool(each) for each in mine])[None]
    return np.asarray(_differ(mine, given) & said)


def _differ(tracks: Sequence[str], seen: Sequence[str]) -> NDArray[np.bool_]:
    codes = {name: code for code, name in enumerate({*tracks, *seen})}
    return np.asarray(_column([codes[each] for each in seen]) != np.array([codes[each] for each in tracks])[None])


def _never_one(tracks: Sequence[ObjectTrack], seen: Sequence[LocatedObject]) -> NDArray[np.bool_]:
    """Return (detections, tracks) whether the two are two objects, wherever they are.

    One is a part of the other, or both are drawers at different heights: a drawer slides, it never rises. Where the
    bars of both were seen, these decide: depth shows them, and the middle of a drawer is inside.
    """
    mine, given = [plain_type(each.types.best) for each in tracks], [plain_type(each.object_type) for each in seen]
    sliding, whole = (np.array([each == kind for each in mine], bool)[None] for kind in (PART, WHOLE))
    slides, is_whole = (_column([each == kind for each in given]).astype(bool) for kind in (PART, WHOLE))
    parts = (sliding & is_whole) | (whole & slides)
    rooms = np.array([each.size[2] for each in tracks])
    apart = np.abs(_column([each.position[2] for each in seen]) - np.array([each.position[2] for each in tracks])[None])
    bars = np.abs(_column([_bar_height(each) for each in seen]) - np.array([each.bar_height for each in tracks])[None])
    by_place = apart > np.maximum(_LEAST_RISE_M, _RISE * rooms[None])
    return np.asarray(parts | (sliding & np.where(np.isnan(bars), by_place, bars > _LEAST_RISE_M)))


def _bar_height(seen: LocatedObject) -> float:
    return np.nan if seen.front is None else seen.front.bar[2]


def _column(values: Sequence[float]) -> NDArray[np.generic]:
    return np.array(values)[:, None]
