"""Which of many known things are close to which, so that only those are compared."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from kc_vla.memory.long_term.relations import Boxed
from kc_vla.memory.things import KnownThing

_MOST_NEAR = 8
"""Others, the nearest by their middles, that a thing is compared with."""
_ROOM_M = 1.0
"""Around the middle between two things, beyond half their distance."""


def with_nearest(
    things: Sequence[KnownThing], others: Sequence[KnownThing], reach_m: float
) -> Iterator[tuple[KnownThing, list[KnownThing]]]:
    """Yield each thing with the nearest of the others, at most 8.

    Args:
        things: in any number.
        others: at least one.
        reach_m: of the gap between two boxes; a thing of which all others are farther away is left out.
    """
    if not things:
        return
    from scipy.spatial import KDTree  # here, since most texts have no relation

    reach = reach_m + max(map(_radius, others)) + max(map(_radius, things))
    count = min(_MOST_NEAR, len(others))
    far, near = KDTree([each.position for each in others]).query(
        np.array([each.position for each in things]), count, distance_upper_bound=reach if reach < math.inf else np.inf
    )
    far, near = far.reshape(len(things), count), near.reshape(len(things), count)
    for at in np.flatnonzero(np.isfinite(far[:, 0])).tolist():
        yield things[at], [others[number] for number in near[at][np.isfinite(far[at])]]


def around(things: Sequence[KnownThing], one: KnownThing, other: KnownThing) -> list[KnownThing]:
    """Return the things around the middle between two: all that can be between them."""
    if not things:
        return []
    places = np.array([each.position[:2] for each in things])
    middle = (np.array(one.position[:2]) + np.array(other.position[:2])) / 2
    radius = math.dist(one.position, other.position) / 2 + _ROOM_M
    return [things[at] for at in np.flatnonzero(np.linalg.norm(places - middle, axis=1) <= radius).tolist()]


def _radius(box: Boxed) -> float:
    return math.hypot(*box.size) / 2
