"""Areas spread over what can be reached, and the ways between them."""

from __future__ import annotations

import math
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried
from scipy.sparse.csgraph import dijkstra

from kc_vla.memory.long_term.errors import GraphError
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.nodes import MOST_EDGE, Area, Floor
from kc_vla.memory.long_term.reachable import Reachable, from_grid, from_points
from kc_vla.memory.long_term.spreading import Spread, spread
from kc_vla.memory.long_term.store import Store


def two_rooms() -> np.ndarray:
    """Two rooms of 6 x 6 m at 10 cm, with a wall between them and a door of 1 m; unknown around."""
    grid = np.full((64, 126), -1)
    grid[2:62, 2:124] = 0
    grid[:, 62:64] = 100
    grid[30:40, 62:64] = 0
    return grid


def network(found: Spread) -> nx.Graph:
    graph = nx.Graph()
    graph.add_nodes_from(range(len(found.positions)))
    graph.add_edges_from(found.ways)
    return graph


def test_areas_are_spread_evenly_over_free_cells_alone() -> None:
    reachable = from_grid(two_rooms(), 0.1)
    found = spread(reachable, 1.5)
    assert 25 <= len(found.positions) <= 45  # 72 m2 at 1.5 m x 1.5 m are 32
    cells = np.floor(found.positions[:, :2] / 0.1).astype(int)
    assert (two_rooms()[cells[:, 1], cells[:, 0]] == 0).all()
    apart = np.linalg.norm(found.positions[:, None] - found.positions[None], axis=2)
    gaps = np.sort(apart, axis=1)[:, 1]
    assert gaps.min() > 0.75
    assert np.std(gaps) < 0.25 * np.mean(gaps)


def test_the_way_to_the_other_room_goes_through_the_door() -> None:
    found = spread(from_grid(two_rooms(), 0.1), 1.5)
    assert nx.is_connected(network(found))
    across = [pair for pair in found.ways if len({bool(found.positions[each][0] > 6.3) for each in pair}) == 2]
    for one, other in across:  # straight through the wall is no way: either near the door, or longer than straight
        middle = (found.positions[one] + found.positions[other]) / 2
        straight = math.dist(found.positions[one], found.positions[other])
        assert 2.5 < middle[1] < 4.5 or found.ways[one, other] > 1.1 * straight


def test_what_cannot_be_reached_has_no_areas() -> None:
    grid = two_rooms()
    grid[:, 62:64] = 100
    for start, left in (((3.0, 3.0), True), ((9.0, 3.0), False)):
        found = spread(from_grid(grid, 0.1, start=start), 1.5)
        assert {bool(x < 6.3) for x in found.positions[:, 0]} == {left}


def test_a_door_is_no_way_for_a_robot_that_does_not_fit() -> None:
    narrow = from_grid(two_rooms(), 0.1, clearance_m=0.3, start=(3.0, 3.0))
    assert narrow.points[:, 0].max() > 7.0
    wide = from_grid(two_rooms(), 0.1, clearance_m=0.6, start=(3.0, 3.0))
    assert wide.points[:, 0].max() < 6.3


def test_a_grid_lies_where_its_origin_says() -> None:
    grid = np.full((10, 20), 0)
    points = from_grid(grid, 0.5, (1.0, 2.0, math.pi / 2), height_m=3.0).points
    assert points.min(axis=0) == pytest.approx((1.0 - 10 * 0.5 + 0.25, 2.25, 3.0))
    assert points.max(axis=0) == pytest.approx((0.75, 2.0 + 20 * 0.5 - 0.25, 3.0))


def test_points_that_a_simulator_names_give_areas_too() -> None:
    x, y = np.meshgrid(np.arange(0, 5, 0.25), np.arange(0, 4, 0.25))
    points = np.column_stack([x.ravel(), y.ravel(), np.full(x.size, 0.9)])
    found = spread(from_points(points), 1.0)
    assert 14 <= len(found.positions) <= 28
    assert {tuple(each) for each in found.positions} <= {tuple(each) for each in points}
    assert nx.is_connected(network(found))


@tried(40, 200)
@given(st.integers(0, 2**32 - 1), st.floats(0.3, 3.0))
def test_every_reachable_place_is_near_an_area_and_all_areas_hang_together(seed: int, spacing_m: float) -> None:
    chance = np.random.default_rng(seed)
    grid = np.where(chance.random((30, 30)) < 0.3, 100, 0)
    grid[chance.random((30, 30)) < 0.1] = -1
    grid[15, 15] = 0
    reachable = from_grid(grid, 0.1, start=(1.55, 1.55))
    found = spread(reachable, spacing_m)
    assert nx.is_connected(network(found))
    assert all(length > 0 for length in found.ways.values())
    seeds = [int(np.linalg.norm(reachable.points - each, axis=1).argmin()) for each in found.positions]
    far = np.atleast_2d(dijkstra(reachable.ways, indices=seeds))
    assert far.min(axis=0).max() <= 1.25 * spacing_m + 1e-9
    for (one, other), length in found.ways.items():
        assert length >= far[one, seeds[other]] - 1e-9  # no way is shorter than there is


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: from_grid(np.full((9, 9), -1), 0.1), "no cell of the grid is free"),
        (lambda: from_grid(np.zeros((3, 3, 3)), 0.1), "rows and columns"),
        (lambda: from_grid(np.zeros((3, 3)), 0.0), "resolution of 0.0 m"),
        (lambda: from_points(np.zeros((0, 3))), "points of shape"),
        (lambda: from_points([[0.0, math.nan, 0.0]]), "not finite"),
        (lambda: spread(from_grid(np.zeros((3, 3)), 0.1), 0.0), "spacing of 0.0 m"),
        (lambda: spread(from_grid(np.zeros((99, 99)), 9.9), 1e-3), "choose a larger one"),
    ],
)
def test_what_can_be_no_ground_is_refused(make: object, word: str) -> None:
    with pytest.raises(GraphError, match=word):
        make()  # type: ignore[operator]


def test_objects_are_in_the_nearest_area_of_their_floor_and_follow_new_areas(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        memory = LongTermMemory(store)
        ground = memory.upsert("home", object_type="bed", position=(3.0, 3.0, 0.4))
        above = memory.upsert("home", object_type="lamp", position=(3.0, 3.0, 4.0))
        grid = np.zeros((60, 60))
        for floor, height in (("ground", 0.0), ("attic", 2.8)):
            memory.set_areas("home", Floor(floor, height), spread(from_grid(grid, 0.1, height_m=height), 2.0))
        graph = memory.graph("home")
        assert graph.areas[graph.object(ground).area].floor == "ground"
        assert graph.areas[graph.object(above).area].floor == "attic"
        nearest = min(graph.areas.values(), key=lambda area: math.dist(area.position, (3.0, 3.0, 0.0)))
        assert graph.object(ground).area == nearest.id
        before = set(graph.areas)
        named = graph.areas[graph.object(ground).area]
        memory.edit("home", named.id, name="bedroom")
        memory.edit("home", "ground", name="downstairs")
        memory.set_areas("home", Floor("ground", 0.0), spread(from_grid(grid, 0.1), 3.0))
        assert graph.object(ground).area in set(graph.areas) - before
        (again,) = (area for area in graph.areas.values() if area.name == "bedroom")
        below = [area for area in graph.areas.values() if area.floor == "ground"]
        assert again == min(below, key=lambda area: math.dist(area.position, named.position))
        assert graph.floors["ground"].name == "downstairs"
        assert sum(area.floor == "ground" for area in graph.areas.values()) < 9
        assert {node for node in graph.network} == {each.id for each in graph.nodes()}
        assert [each for each in graph.network[graph.object(ground).area] if each in graph.objects] == [ground]
    with Store(tmp_path / "memory.db") as store:
        again = store.load("home")
        assert list(again.nodes()) == list(sorted_like(again, graph))
        assert set(again.network.edges) == set(graph.network.edges)


def test_a_shelf_at_a_wall_is_in_its_own_room_whatever_area_is_near_behind_the_wall(tmp_path: Path) -> None:
    """Rooms of 6 x 6 and 6 x 2 m: the long one has areas in its middle, the narrow one beside the wall."""
    grid = np.full((64, 86), -1)
    grid[2:62, 2:84] = 0
    grid[:, 62:64] = 100
    grid[52:62, 62:64] = 0
    grid[2:30, 58:62] = 100  # a shelf 40 cm deep
    with Store(tmp_path / "memory.db") as store:
        memory = LongTermMemory(store)
        memory.set_areas("home", Floor("ground", 0.0), spread(from_grid(grid, 0.1), 4.0))
        on_shelf = [memory.upsert("home", object_type="box", position=(5.9, y, 1.2)) for y in (0.5, 1.0, 1.5, 2.0, 2.5)]
    with Store(tmp_path / "memory.db") as store:
        graph = store.load("home")
        behind = 0
        for name in on_shelf:
            box = graph.object(name)
            nearest = min(graph.areas.values(), key=lambda area: math.dist(area.position[:2], box.position[:2]))
            behind += nearest.position[0] > 6.3
            assert graph.areas[box.area].position[0] < 6.2
        assert behind, "the nearest middle is in the right room: the test shows nothing"


def test_what_is_no_edge_is_refused() -> None:
    for edge in (b"abc", np.array([np.nan, 0], np.float32).tobytes(), bytes(MOST_EDGE + 8)):
        with pytest.raises(GraphError, match="the edge of an area"):
            Area("node_1", "ground", (0.0, 0.0, 0.0), edge=edge)


def test_the_edge_of_an_area_too_large_for_all_of_it_is_told_more_thinly(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        memory = LongTermMemory(store)
        edge = np.arange(2.0 * (MOST_EDGE // 8 + 100)).reshape(-1, 2)
        memory.set_areas("road", Floor("ground", 0.0), Spread(np.zeros((1, 3)), {}, (edge,)))
        (area,) = memory.graph("road").areas.values()
        assert MOST_EDGE / 3 < len(area.edge) <= MOST_EDGE


def sorted_like(wanted: object, graph: object) -> list[object]:
    known = {each.id: each for each in graph.nodes()}  # type: ignore[attr-defined]
    return [known[each.id] for each in wanted.nodes()]  # type: ignore[attr-defined]


def test_a_single_point_is_an_area() -> None:
    assert len(spread(Reachable(*vars(from_points([[1.0, 2.0, 0.0]])).values()), 1.0).positions) == 1
