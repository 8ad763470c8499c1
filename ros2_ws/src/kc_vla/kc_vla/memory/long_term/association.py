"""Which detection is which object: by what the detector calls it, else by class, distance, size and looks.

Each detection is at most one object and each object at most one detection, so that the sum of the costs is least
(Kuhn: The Hungarian method, 1955). What could be nothing known is new.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from kc_vla.memory.long_term.detections import Detection, Settings, plain_type
from kc_vla.memory.long_term.graph import SceneGraph
from kc_vla.memory.long_term.nodes import SceneObject

_NEVER = 1e6
_NEW = 1.5
"""What it costs that a detection is something new: a poor match of two costs more than a good one and something new."""
_FARTHEST_M = 20.0
"""No object is so large that a detection further from its middle could be it."""
_ONE_THING = 0.3
"""Of the mean diagonal: two solid things of one class are not nearer."""


def associate(graph: SceneGraph, detections: Sequence[Detection], settings: Settings) -> dict[int, SceneObject]:
    """For each detection that is a known object, by its place in the list, that object."""
    found = _by_name(graph, detections) if settings.trust_source_ids else {}
    taken = {each.id for each in found.values()}
    left = [number for number in range(len(detections)) if number not in found]
    around: dict[str, SceneObject] = {}
    costs: list[dict[str, float]] = []
    for number in left:
        row: dict[str, float] = {}
        for known in graph.near(detections[number].position, _search_m(graph, detections[number], settings)):
            if known.id in taken or (settings.trust_source_ids and _is_another(detections[number], known)):
                continue
            if (cost := _cost(detections[number], known, settings)) < _NEVER:
                row[known.id] = cost
                around[known.id] = known
        costs.append(row)
    if not around:
        return found
    return found | {left[row]: around[name] for row, name in _cheapest(costs, list(around))}


def distinct(detections: Sequence[Detection]) -> list[Detection]:
    """The detections without those that see what a surer one sees: same class, same place."""
    kept: list[Detection] = []
    for each in sorted(detections, key=lambda detection: -detection.confidence):
        named = [other.source_id for other in kept if other.source_id and is_one(each, other)]
        if each.source_id and named and each.source_id not in named:
            kept.append(each)  # the detector knows them apart
        elif not any(is_one(each, other) for other in kept):
            kept.append(each)
    return kept


def is_one(one: Detection | SceneObject, other: Detection | SceneObject) -> bool:
    """Whether two of one class are so near that they are the same thing."""
    if plain_type(one.object_type) != plain_type(other.object_type):
        return False
    mean_m = (math.hypot(*one.size) + math.hypot(*other.size)) / 2
    return math.dist(one.position, other.position) <= max(_ONE_THING * mean_m, 0.02)


def gate_of(one: Detection | SceneObject, other: Detection | SceneObject, settings: Settings) -> float:
    """How far apart, m, two can be seen and still be the same thing."""
    return max(settings.gate_m, settings.gate_share * (math.hypot(*one.size) + math.hypot(*other.size)) / 2)


def likeness(one: bytes, other: bytes) -> float | None:
    """The cosine of two embeddings; None where one is missing or they are of two kinds."""
    if not one or len(one) != len(other):
        return None
    first, second = np.frombuffer(one, np.float32), np.frombuffer(other, np.float32)
    length = float(np.linalg.norm(first) * np.linalg.norm(second))
    return float(first @ second) / length if math.isfinite(length) and length > 0 else None


def _by_name(graph: SceneGraph, detections: Sequence[Detection]) -> dict[int, SceneObject]:
    """Those whose name the detector gave before, for an object of that class."""
    wanted: Mapping[str, int] = {each.source_id: number for number, each in enumerate(detections) if each.source_id}
    found: dict[int, SceneObject] = {}
    for name, number in wanted.items():
        known = graph.named(name)
        if known is not None and plain_type(known.object_type) == plain_type(detections[number].object_type):
            found[number] = known
    return found


def _is_another(detection: Detection, known: SceneObject) -> bool:
    """Whether the detector knows the two apart, where a person's word would go over to the wrong one.

    Of other things it does no harm: a detector that has lost something may find it again by another name.
    """
    named = bool(known.by_hand and detection.source_id and known.source_id)
    return named and detection.source_id != known.source_id and not is_one(detection, known)


def _search_m(graph: SceneGraph, detection: Detection, settings: Settings) -> float:
    return min(
        max(settings.gate_m, settings.gate_share * (math.hypot(*detection.size) + graph.largest_m) / 2), _FARTHEST_M
    )


def _cost(detection: Detection, known: SceneObject, settings: Settings) -> float:
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


def _cheapest(costs: Sequence[Mapping[str, float]], names: Sequence[str]) -> list[tuple[int, str]]:
    """Rows with their names, so that the sum is least."""
    columns = {name: column for column, name in enumerate(names)}
    matrix: NDArray[np.float64] = np.full((len(costs), len(names) + len(costs)), _NEVER)
    matrix[:, len(names) :] = _NEW
    for number, row in enumerate(costs):
        for name, cost in row.items():
            matrix[number, columns[name]] = cost
    rows, chosen = linear_sum_assignment(matrix)
    return [(int(row), names[column]) for row, column in zip(rows, chosen, strict=True) if column < len(names)]
