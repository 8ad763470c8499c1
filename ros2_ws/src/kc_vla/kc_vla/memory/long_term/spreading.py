"""Area nodes, spread evenly over what can be reached, with an edge where one leads to the other.

KARMA, section 3.3, takes its area nodes from a simulator; here they are the middles of a Voronoi partition along free
ways, moved until each is in the middle of its part (Lloyd: Least squares quantization in PCM, 1982).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import dijkstra

from kc_vla.memory.long_term.errors import GraphError
from kc_vla.memory.long_term.reachable import Reachable

MOST_AREAS = 10_000
_EDGE_M = 0.1
"""Distance between the places of an edge that are returned, m."""
_ROUNDS = 8
_FAR = 1.25
"""Multiple of the spacing; no place is further from its area along free ways."""


@dataclass(frozen=True)
class Spread:
    """Areas that were spread over reachable places.

    Attributes:
        positions: positions of the areas, m, (N, 3).
        ways: length of the way between two neighboring areas, m.
        edges: the places of each from which a step leads out of it or nowhere, m, (M, 2); none where that is not known.
    """

    positions: NDArray[np.float64]
    ways: dict[tuple[int, int], float]
    edges: tuple[NDArray[np.float64], ...] = ()


def spread(reachable: Reachable, spacing_m: float) -> Spread:
    """Spread areas over what can be reached.

    Args:
        reachable: points and ways.
        spacing_m: about so far apart.

    Raises:
        GraphError: the spacing is none, or it takes too many areas.
    """
    points, size = reachable.points, np.ptp(reachable.points[:, :2], axis=0)
    if not spacing_m > 0 or len(points) == 0 or (size / spacing_m + 1).prod() > 100 * MOST_AREAS:
        raise GraphError(f"a spacing of {spacing_m} m over {size[0]:.1f} x {size[1]:.1f} m: choose a larger one")
    seeds = _first(points, spacing_m)
    for _ in range(_ROUNDS):
        far_m, owner = _partition(reachable, seeds)
        moved = _middles(points, far_m, owner, seeds)
        if moved == seeds:
            break
        seeds = moved
    while True:
        far_m, owner = _partition(reachable, seeds)
        furthest = int(far_m.argmax())
        if far_m[furthest] <= _FAR * spacing_m:
            break
        seeds.append(furthest)
        if len(seeds) > MOST_AREAS:
            raise GraphError(f"a spacing of {spacing_m} m takes more than {MOST_AREAS} areas: choose a larger one")
    return Spread(points[seeds], _ways(reachable, far_m, owner, seeds), _edges(reachable, owner, seeds))


def _first(points: NDArray[np.float64], spacing_m: float) -> list[int]:
    """Return for each square of that side that is not nearly empty the point nearest to the middle of its points."""
    squares = np.floor((points[:, :2] - points[:, :2].min(axis=0)) / spacing_m).astype(int)
    _, square, counts = np.unique(squares, axis=0, return_inverse=True, return_counts=True)
    square = square.ravel()
    wanted = np.nonzero(counts >= counts.max() / 3)[0]
    middles = np.stack([np.bincount(square, column) / counts for column in points.T], axis=1)
    far = np.linalg.norm(points - middles[square], axis=1)
    order = np.lexsort((far, square))
    first = order[np.searchsorted(square[order], wanted)]
    return [int(each) for each in first]


def _partition(reachable: Reachable, seeds: Sequence[int]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return for each point the way to its nearest seed, m, and that seed, as a number of a point."""
    far_m, _, owner = dijkstra(reachable.ways, indices=seeds, min_only=True, return_predecessors=True)
    return far_m, owner


def _middles(
    points: NDArray[np.float64], far_m: NDArray[np.float64], owner: NDArray[np.int64], seeds: Sequence[int]
) -> list[int]:
    """Return the point of each part that is nearest to the part's middle."""
    place = {seed: number for number, seed in enumerate(seeds)}
    part = np.array([place[int(each)] for each in owner])
    counts = np.bincount(part, minlength=len(seeds))
    middles = np.stack([np.bincount(part, column, len(seeds)) / counts for column in points.T], axis=1)
    off = np.linalg.norm(points - middles[part], axis=1)
    order = np.lexsort((off, part))
    first = order[np.searchsorted(part[order], np.arange(len(seeds)))]
    return [int(each) for each in first]


def _ways(
    reachable: Reachable, far_m: NDArray[np.float64], owner: NDArray[np.int64], seeds: Sequence[int]
) -> dict[tuple[int, int], float]:
    """Return where two parts touch, the shortest way from seed to seed that goes through no third one."""
    place = {seed: number for number, seed in enumerate(seeds)}
    ways = reachable.ways.tocoo()
    across = owner[ways.row] < owner[ways.col]
    here, there = ways.row[across], ways.col[across]
    found: dict[tuple[int, int], float] = {}
    for one, other, way_m in zip(
        owner[here].tolist(),
        owner[there].tolist(),
        (far_m[here] + ways.data[across] + far_m[there]).tolist(),
        strict=True,
    ):
        pair = place[one], place[other]
        found[pair] = min(way_m, found.get(pair, np.inf))
    return found


def _edges(reachable: Reachable, owner: NDArray[np.int64], seeds: Sequence[int]) -> tuple[NDArray[np.float64], ...]:
    """Return the points at the edge of each part, at most one in a square of 10 cm.

    A point is at the edge if it has fewer neighbors than others, or one in another part.
    """
    ways = reachable.ways.tocoo()
    within = np.bincount(ways.row[owner[ways.row] == owner[ways.col]], minlength=len(owner))
    at_edge = np.flatnonzero(within < within.max(initial=0) if len(owner) > 1 else np.ones(1, bool))
    ground = reachable.points[:, :2]
    squares = np.floor(ground[at_edge] / _EDGE_M).astype(np.int64)
    _, first = np.unique(np.column_stack([owner[at_edge], squares]), axis=0, return_index=True)
    kept = at_edge[first]  # sorted by owner
    bounds = np.searchsorted(owner[kept], np.sort(seeds), side="left").tolist()
    parts = dict(zip(sorted(seeds), np.split(ground[kept], bounds[1:]), strict=True))
    return tuple(parts[seed] for seed in seeds)
