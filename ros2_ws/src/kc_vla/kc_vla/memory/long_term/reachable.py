"""Where a robot can go: from an occupancy grid or from a list of points, as points and the ways between them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import distance_transform_edt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree

from kc_vla.memory.long_term.errors import GraphError, told

MOST_POINTS = 4_000_000
_OCCUPIED = 50
"""Occupancy from which a cell is blocked, percent: the middle of nav_msgs/OccupancyGrid."""


@dataclass(frozen=True)
class Reachable:
    """Points that a robot can stand on, m, (N, 3), and the ways between neighbors, m, (N, N), both ways."""

    points: NDArray[np.float64]
    ways: csr_array


def from_grid(
    cells: ArrayLike,
    resolution_m: float,
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0),
    height_m: float = 0.0,
    clearance_m: float = 0.0,
    start: tuple[float, float] | None = None,
) -> Reachable:
    """Return the places that a robot can reach in an occupancy grid (nav_msgs/OccupancyGrid).

    Args:
        cells: (rows along y, columns along x), percent occupied, -1 where unknown; both unknown and occupied ones
            cannot be stood on.
        resolution_m: side of a cell.
        origin: pose of the corner of cell (0, 0) in the map: x and y in m, and the angle of the grid in rad.
        height_m: z of the ground.
        clearance_m: distance of a place to cells that are not free, such as the radius of the robot.
        start: a reachable place in the map, m; None: the largest connected part.

    Raises:
        GraphError: There is no free cell, or the grid is invalid.
    """
    grid = np.asarray(cells)
    if grid.ndim != 2 or not grid.size or grid.size > MOST_POINTS:
        raise GraphError(
            f"a grid of shape {grid.shape}: it must have rows and columns, and {MOST_POINTS} cells at most"
        )
    numbers = (resolution_m, *origin, height_m, clearance_m)
    if not (all(math.isfinite(each) for each in numbers) and resolution_m > 0 and clearance_m >= 0):
        raise GraphError(
            f"a grid with a resolution of {resolution_m} m, an origin {origin}, a clearance {clearance_m} m"
        )
    free = (grid >= 0) & (grid < _OCCUPIED)
    if clearance_m > 0:
        framed = np.pad(free, 1)  # beyond the grid nothing is known
        free &= distance_transform_edt(framed)[1:-1, 1:-1] * resolution_m > clearance_m
    if not free.any():
        raise GraphError("no cell of the grid is free: is it an occupancy grid, and the clearance not too large?")
    rows, columns = np.nonzero(free)
    turn = np.array([[math.cos(origin[2]), -math.sin(origin[2])], [math.sin(origin[2]), math.cos(origin[2])]])
    ground = (np.stack([columns, rows], axis=1) + 0.5) * resolution_m @ turn.T + origin[:2]
    points = np.column_stack([ground, np.full(len(ground), height_m)])
    return _from_start(Reachable(points, _ways_of_cells(free, resolution_m)), start)


def from_points(points: ArrayLike, step_m: float | None = None, start: tuple[float, float] | None = None) -> Reachable:
    """Return what can be reached of points that a robot can stand on, e.g. those that a simulator names.

    Args:
        points: (N, 3) or (N, 2), m.
        step_m: how far apart points are between which a robot can go straight; None: 1.5 times the usual distance of
            a point to its nearest one, which on a square grid takes its diagonals along.
        start: see `from_grid`.

    Raises:
        GraphError: there are no points, or some are not finite.
    """
    places = np.asarray(points, float)
    if places.ndim != 2 or places.shape[1] not in (2, 3) or not 0 < len(places) <= MOST_POINTS:
        raise GraphError(f"points of shape {places.shape}: they must be N times x, y, or x, y, z")
    if not np.isfinite(places).all():
        raise GraphError("points that are not finite")
    if places.shape[1] == 2:
        places = np.column_stack([places, np.zeros(len(places))])
    places = np.unique(places, axis=0)
    tree = KDTree(places)
    if step_m is None:
        step_m = 1.5 * float(np.median(tree.query(places, k=2)[0][:, 1])) if len(places) > 1 else 1.0
    if not step_m > 0:
        raise GraphError(f"a step of {told(step_m)} m: it must be more than 0")
    pairs = tree.query_pairs(step_m, output_type="ndarray")
    lengths = np.linalg.norm(places[pairs[:, 0]] - places[pairs[:, 1]], axis=1)
    return _from_start(Reachable(places, _both_ways(pairs, lengths, len(places))), start)


def _ways_of_cells(free: NDArray[np.bool_], resolution_m: float) -> csr_array:
    """Return the ways from each free cell to the eight around; slanted only where both cells beside are free."""
    number = np.full(free.shape, -1)
    number[free] = np.arange(free.sum())
    right, up = free[:, :-1] & free[:, 1:], free[:-1] & free[1:]
    square = right[:-1] & right[1:]
    pairs, lengths = [], []
    for here, there, length in (
        (number[:, :-1][right], number[:, 1:][right], 1.0),
        (number[:-1][up], number[1:][up], 1.0),
        (number[:-1, :-1][square], number[1:, 1:][square], math.sqrt(2)),
        (number[:-1, 1:][square], number[1:, :-1][square], math.sqrt(2)),
    ):
        pairs.append(np.stack([here, there], axis=1))
        lengths.append(np.full(len(here), length * resolution_m))
    return _both_ways(np.concatenate(pairs), np.concatenate(lengths), int(free.sum()))


def _both_ways(pairs: NDArray[np.int64], lengths: NDArray[np.float64], count: int) -> csr_array:
    here, there = pairs.T
    ends = np.concatenate([here, there]), np.concatenate([there, here])
    return csr_array((np.concatenate([lengths, lengths]), ends), shape=(count, count))


def _from_start(all_of_it: Reachable, start: tuple[float, float] | None) -> Reachable:
    """Return the part that hangs together with the start, or the largest one."""
    _, part = connected_components(all_of_it.ways, directed=False)
    if start is None:
        wanted = int(np.bincount(part).argmax())
    else:
        wanted = int(part[np.hypot(*(all_of_it.points[:, :2] - start).T).argmin()])
    kept = np.nonzero(part == wanted)[0]
    return Reachable(all_of_it.points[kept], csr_array(all_of_it.ways[kept][:, kept]))
