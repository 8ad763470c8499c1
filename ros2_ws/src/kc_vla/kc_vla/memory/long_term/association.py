"""Which detection is which object: by what the detector calls it, else by class, distance, size and looks.

Each detection is at most one object and each object at most one detection, so that the sum of the costs is least
(Kuhn: The Hungarian method, 1955). What could be nothing known is new.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from heapq import nsmallest

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from kc_vla.memory.long_term.detections import Detection, FusionSettings, plain_type
from kc_vla.memory.long_term.graph import SceneGraph
from kc_vla.memory.long_term.nodes import SceneObject

_NEVER = 1e6
_NEW = 1.5
"""What it costs that a detection is something new: a poor match of two costs more than a good one and something new."""
_FARTHEST_M = 20.0
"""No object is so large that a detection further from its middle could be it."""
_ONE_THING = 0.3
"""Share of the mean diagonal; two solid things of one class are never nearer than that."""
_POINT_M = 0.02
"""Likewise, of things whose size nobody knows."""
_MOST_CANDIDATES = 24
"""Nearest objects of a class that a detection is compared with; where more stand, the others are too far."""


def associate(graph: SceneGraph, detections: Sequence[Detection], settings: FusionSettings) -> dict[int, SceneObject]:
    """Return for each detection that is a known object, by its place in the list, that object."""
    found = _by_name(graph, detections, settings) if settings.trust_source_ids else {}
    taken = {each.id for each in found.values()}
    left = [number for number in range(len(detections)) if number not in found]
    around: dict[str, SceneObject] = {}
    costs: list[dict[str, float]] = []
    for number in left:
        row: dict[str, float] = {}
        for known in _candidates(graph, detections[number], settings):
            if known.id in taken or (settings.trust_source_ids and _is_another(detections[number], known)):
                continue
            if _on_another_floor(graph, detections[number], known):
                continue
            if (cost := _cost(detections[number], known, settings)) < _NEVER:
                row[known.id] = cost
                around[known.id] = known
        costs.append(row)
    if not around:
        return found
    return found | {left[row]: around[name] for row, name in _cheapest(costs)}


def distinct(detections: Sequence[Detection]) -> list[Detection]:
    """Return the detections without those that see what a surer one sees: same class, same place."""
    kept: list[Detection] = []
    places: dict[str, _Places] = {}
    for each in sorted(detections, key=lambda detection: -detection.confidence):
        known = places.setdefault(plain_type(each.object_type), _Places())
        ones = known.ones_with(each)
        named = {other.source_id for other in ones if other.source_id}
        # Of two that bear names the detector knows which is which.
        if not ones or (each.source_id and named and each.source_id not in named):
            kept.append(each)
            known.put(each)
    return kept


class _Places:
    """Detections of one class, so that those in one place with another are found at once."""

    def __init__(self) -> None:
        self._known: list[Detection] = []
        self._numbers = np.zeros((16, 4))
        """Position and diagonal of each, m."""

    def put(self, each: Detection) -> None:
        if len(self._known) == len(self._numbers):
            self._numbers = np.vstack([self._numbers, np.zeros_like(self._numbers)])
        self._numbers[len(self._known)] = *each.position, math.hypot(*each.size)
        self._known.append(each)

    def ones_with(self, each: Detection) -> list[Detection]:
        """Return those that are one thing with a detection, see `is_one`."""
        known = self._numbers[: len(self._known)]
        away = np.linalg.norm(known[:, :3] - each.position, axis=1)
        mean_m = (known[:, 3] + math.hypot(*each.size)) / 2
        return [self._known[at] for at in np.flatnonzero(away <= np.maximum(_ONE_THING * mean_m, _POINT_M)).tolist()]


def is_one(one: Detection | SceneObject, other: Detection | SceneObject) -> bool:
    """Return whether two of one class are so near that they are the same thing."""
    if plain_type(one.object_type) != plain_type(other.object_type):
        return False
    mean_m = (math.hypot(*one.size) + math.hypot(*other.size)) / 2
    return math.dist(one.position, other.position) <= max(_ONE_THING * mean_m, _POINT_M)


def gate_of(one: Detection | SceneObject, other: Detection | SceneObject, settings: FusionSettings) -> float:
    """Return how far apart, m, two can be seen and still be the same thing."""
    return max(settings.gate_m, settings.gate_share * (math.hypot(*one.size) + math.hypot(*other.size)) / 2)


def likeness(one: bytes, other: bytes) -> float | None:
    """Return the cosine of two embeddings; None where one is missing or they are of two kinds."""
    if not one or len(one) != len(other):
        return None
    first, second = np.frombuffer(one, np.float32), np.frombuffer(other, np.float32)
    length = float(np.linalg.norm(first) * np.linalg.norm(second))
    return float(first @ second) / length if math.isfinite(length) and length > 0 else None


def _candidates(graph: SceneGraph, detection: Detection, settings: FusionSettings) -> list[SceneObject]:
    """Return the objects that a detection may be, the nearest where there are very many."""
    near = graph.near(detection.position, _search_m(graph, detection, settings))
    kind = plain_type(detection.object_type)
    alike = [each for each in near if plain_type(each.object_type) == kind]
    # What the detector calls otherwise can be the same thing by its looks alone.
    others = [each for each in near if plain_type(each.object_type) != kind] if detection.embedding else []

    def nearest(found: list[SceneObject]) -> list[SceneObject]:
        if len(found) <= _MOST_CANDIDATES:
            return found
        return nsmallest(
            _MOST_CANDIDATES, found, key=lambda each: (math.dist(each.position, detection.position), each.id)
        )

    return [*nearest(alike), *nearest(others)]


def _by_name(graph: SceneGraph, detections: Sequence[Detection], settings: FusionSettings) -> dict[int, SceneObject]:
    """Return those whose name the detector gave before, for an object of that class, or of another one at its place.

    A tracker that has looked longer can know the class of an object better.
    """
    wanted: Mapping[str, int] = {each.source_id: number for number, each in enumerate(detections) if each.source_id}
    found: dict[int, SceneObject] = {}
    for name, number in wanted.items():
        known = graph.named(name)
        if known is None:
            continue
        seen = detections[number]
        alike = plain_type(known.object_type) == plain_type(seen.object_type)
        if alike or (not known.by_hand and math.dist(known.position, seen.position) <= gate_of(seen, known, settings)):
            found[number] = known
    return found


def _is_another(detection: Detection, known: SceneObject) -> bool:
    """Return whether the detector knows the two apart, where a person's word would go over to the wrong one.

    Of other things it does no harm: a detector that has lost something may find it again by another name.
    """
    named = bool(known.by_hand and detection.source_id and known.source_id)
    return named and detection.source_id != known.source_id and not is_one(detection, known)


def _on_another_floor(graph: SceneGraph, detection: Detection, known: SceneObject) -> bool:
    """Return whether furniture is seen on another floor than a known piece: stairs are on both, one above the other."""
    if len(graph.floors) < 2 or detection.can_be_moved or known.movable or not graph.floor_of(known.area):
        return False
    return graph.floor_of(graph.area_at(detection.position)) != graph.floor_of(known.area)


def _search_m(graph: SceneGraph, detection: Detection, settings: FusionSettings) -> float:
    return min(
        max(settings.gate_m, settings.gate_share * (math.hypot(*detection.size) + graph.largest_m) / 2), _FARTHEST_M
    )


def _cost(detection: Detection, known: SceneObject, settings: FusionSettings) -> float:
    gate_m = gate_of(detection, known, settings)
    far_m = math.dist(detection.position, known.position)
    alike = likeness(detection.embedding, known.embedding)
    if far_m > gate_m or (alike is not None and alike < settings.alike):
        return _NEVER
    cost = far_m / gate_m + (1.0 - alike if alike is not None else 0.0)
    if plain_type(detection.object_type) != plain_type(known.object_type):
        if alike is None or alike < settings.same:
            return _NEVER
        cost += 0.5
    small, large = sorted((math.hypot(*detection.size), known.diagonal_m))
    if small > 0.0:
        if large > settings.size_ratio * small:
            return _NEVER
        cost += 0.3 * math.log(large / small)
    return cost


def _cheapest(costs: Sequence[Mapping[str, float]]) -> list[tuple[int, str]]:
    """Return rows with their names, so that the sum is least; rows that share no name are looked at apart."""
    found: list[tuple[int, str]] = []
    for rows in _groups(costs):
        names = list(dict.fromkeys(name for row in rows for name in costs[row]))
        columns = {name: column for column, name in enumerate(names)}
        matrix: NDArray[np.float64] = np.full((len(rows), len(names) + len(rows)), _NEVER)
        matrix[:, len(names) :] = _NEW
        for number, row in enumerate(rows):
            for name, cost in costs[row].items():
                matrix[number, columns[name]] = cost
        chosen = zip(*linear_sum_assignment(matrix), strict=True)
        found += [(rows[int(number)], names[column]) for number, column in chosen if column < len(names)]
    return found


def _groups(costs: Sequence[Mapping[str, float]]) -> list[list[int]]:
    """Return the rows that have a name at all, in groups of those that share some, directly or through other rows."""
    of_name: dict[str, list[int]] = {}
    for row, names in enumerate(costs):
        for name in names:
            of_name.setdefault(name, []).append(row)
    groups, left = [], {row for row, names in enumerate(costs) if names}
    while left:
        group, waiting = [], [min(left)]
        left.discard(waiting[0])
        while waiting:
            group.append(waiting.pop())
            for name in costs[group[-1]]:
                for row in of_name.pop(name, ()):
                    if row in left:
                        left.discard(row)
                        waiting.append(row)
        groups.append(sorted(group))
    return groups
