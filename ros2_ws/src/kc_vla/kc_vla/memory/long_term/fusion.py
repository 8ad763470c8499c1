"""An object after another look at it: where it is, how large, and how sure that is."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kc_vla.memory.long_term.association import gate_of, likeness
from kc_vla.memory.long_term.detections import Detection, FusionSettings, plain_type
from kc_vla.memory.long_term.nodes import MOST_ATTRIBUTES, SceneObject, Vector
from kc_vla.memory.long_term.relations import without_place

_LEAST_STILL, _LEAST_CARRIED = 0.05, 0.3
"""Weight of the newest look at where something is, that nobody carries or that may be."""
_MOVED_M, _MOVED_SHARE = 0.1, 0.5
"""What may be carried and is seen further off has been moved: the larger of this and the share of its diagonal."""
_LEAST_SLIDING = 0.5
_SLIDING = frozenset({"drawer", "door"})
"""Types that nobody carries elsewhere, but whose middle moves when they are opened; a tracker knows them again."""
_SUREST = 0.99
_SAME_SIZE = 1.5


@dataclass(frozen=True)
class Dispute:
    """What a detection says against what a person has set; the person's word stays.

    Attributes:
        object_id: of which object.
        field: what of it; `confidence`: whether it is there at all.
        by_hand: what the person has set.
        seen: what was seen, in words.
    """

    object_id: str
    field: str
    by_hand: Any
    seen: str


def begun(object_id: str, seen: Detection, stamp_ns: int, settings: FusionSettings) -> SceneObject:
    """Return a new object of which one detection is known.

    A single one may be an error, so it is not believed in full.
    """
    return SceneObject(
        object_id,
        seen.object_type,
        seen.position,
        seen.size,
        movable=seen.can_be_moved,
        state=seen.state,
        attributes=dict(seen.attributes),
        confidence=settings.learn * seen.confidence,
        first_seen_ns=stamp_ns,
        last_seen_ns=stamp_ns,
        sightings=1,
        source_id=seen.source_id,
        embedding=seen.embedding,
    )


def seen_again(
    known: SceneObject, seen: Detection, stamp_ns: int, settings: FusionSettings
) -> tuple[SceneObject, list[Dispute]]:
    """Return an object after a detection of it, and what a person has set otherwise.

    A detection that is no newer than the last one is one that came twice, or too late: it changes nothing.
    """
    if stamp_ns <= known.last_seen_ns:
        return known, []
    weight = 1.0 / (known.sightings + 1)
    still = max(weight, _LEAST_STILL)
    found: dict[str, Any] = {
        "position": _mean(known.position, seen.position, _weight_of_place(known, seen, weight)),
        "size": _size(known.size, seen.size, still),
        "object_type": seen.object_type if _is_renamed(known, seen) else known.object_type,
        "state": seen.state or known.state,
        "attributes": _attributes(known, seen),
        "confidence": min(1.0 - (1.0 - known.confidence) * (1.0 - settings.learn * seen.confidence), _SUREST),
    }
    disputes = [] if known.forgotten else _disputes(known, seen, settings)
    changed = {name: value for name, value in found.items() if name not in known.by_hand}
    after = replace(
        known,
        **changed,
        first_seen_ns=known.first_seen_ns or stamp_ns,
        last_seen_ns=stamp_ns,
        sightings=known.sightings + 1,
        source_id=seen.source_id or known.source_id,
        embedding=_mixed(known.embedding, seen.embedding, still),
    )
    return after, disputes


def not_seen(known: SceneObject, settings: FusionSettings) -> SceneObject:
    """Return an object after a look at its place that did not find it; what a person has set is as sure as before."""
    if known.by_hand and not known.forgotten:
        return known
    return replace(known, confidence=known.confidence * settings.keep)


def merged(older: SceneObject, newer: SceneObject) -> SceneObject:
    """Return one object of two that turned out to be the same."""
    earlier, later = sorted((older, newer), key=lambda each: each.last_seen_ns)
    both = {**earlier.attributes, **later.attributes}
    return replace(
        older,
        attributes=both if len(both) <= MOST_ATTRIBUTES else older.attributes,
        sightings=older.sightings + newer.sightings,
        first_seen_ns=min(older.first_seen_ns, newer.first_seen_ns),
        last_seen_ns=max(older.last_seen_ns, newer.last_seen_ns),
        confidence=max(older.confidence, newer.confidence),
        source_id=older.source_id or newer.source_id,
        embedding=older.embedding or newer.embedding,
    )


def _is_renamed(known: SceneObject, seen: Detection) -> bool:
    """Return whether the detector that knows an object again says that it is something else."""
    same = bool(seen.source_id) and seen.source_id == known.source_id
    return same and plain_type(seen.object_type) != plain_type(known.object_type)


def _weight_of_place(known: SceneObject, seen: Detection, weight: float) -> float:
    if not known.movable:
        slides = plain_type(known.object_type) in _SLIDING and bool(seen.source_id)
        return max(weight, _LEAST_SLIDING if slides else _LEAST_STILL)
    return 1.0 if _was_moved(known, seen) else max(weight, _LEAST_CARRIED)


def _was_moved(known: SceneObject, seen: Detection) -> bool:
    off_m = math.dist(known.position, seen.position)
    return known.movable and off_m > max(_MOVED_M, _MOVED_SHARE * known.diagonal_m)


def _mean(known: Vector, seen: Vector, weight: float) -> Vector:
    x, y, z = (before + weight * (now - before) for before, now in zip(known, seen, strict=True))
    return x, y, z


def _size(known: Vector, seen: Vector, weight: float) -> Vector:
    if not any(seen):
        return known
    return _mean(known, seen, weight) if any(known) else seen


def _attributes(known: SceneObject, seen: Detection) -> dict[str, str]:
    """Merge the attributes of an object and a detection of it, where the newer value holds.

    An object that was moved loses the attributes of its place. The new ones are ignored if there would be too many.
    """
    before = without_place(known.attributes) if _was_moved(known, seen) else known.attributes
    both = {**before, **seen.attributes}
    return both if len(both) <= MOST_ATTRIBUTES else dict(before)


def _mixed(known: bytes, seen: bytes, weight: float) -> bytes:
    if likeness(known, seen) is None:
        return seen or known
    first, second = np.frombuffer(known, np.float32), np.frombuffer(seen, np.float32)
    mean = (1 - weight) * first / np.linalg.norm(first) + weight * second / np.linalg.norm(second)
    return mean.astype(np.float32).tobytes()


def _disputes(known: SceneObject, seen: Detection, settings: FusionSettings) -> list[Dispute]:
    found: dict[str, str] = {}
    off_m = math.dist(known.position, seen.position)
    if off_m > gate_of(known, seen, settings) / 2:
        found["position"] = f"{off_m:.2f} m off, at {seen.position}"
    small, large = sorted((known.diagonal_m, math.hypot(*seen.size)))
    if small and large > _SAME_SIZE * small:
        found["size"] = f"{seen.size}"
    if plain_type(seen.object_type) != plain_type(known.object_type):
        found["object_type"] = seen.object_type
    if seen.state and seen.state != known.state:
        found["state"] = seen.state
    if any(known.attributes.get(name) != value for name, value in seen.attributes.items()):
        found["attributes"] = str(dict(seen.attributes))
    return [
        Dispute(known.id, name, getattr(known, name), text) for name, text in found.items() if name in known.by_hand
    ]
