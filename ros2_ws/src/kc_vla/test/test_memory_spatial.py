"""Relations of known things from their poses and sizes, and as seen from a viewpoint."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.memory.long_term.errors import GraphError
from kc_vla.memory.references.spatial import DIRECTIONAL, Spatial, Viewpoint, related
from kc_vla.memory.things import KnownThing

Place = tuple[float, float, float]
NORTH = Viewpoint((0.0, -2.0, 1.0), (0.0, 1.0, 0.0))
"""One who looks along y: x grows to the right."""
_M = st.floats(-2.0, 2.0).map(lambda value: round(value, 2))
PLACES = st.tuples(_M, _M, st.floats(0.5, 1.0).map(lambda value: round(value, 2)))


def thing(name: str, position: Place, size: Place = (0.1, 0.1, 0.1), held: str = "") -> KnownThing:
    relation, _, container = held.partition(" ")
    return KnownThing(
        name.partition("_")[0], name, position, "node_1", container=container, relation=relation, size=size
    )


def ids(found: list[KnownThing]) -> list[str]:
    return [each.object_id for each in found]


def kitchen() -> dict[str, KnownThing]:
    """A table with a mug in the middle, something on each side, a fridge with an apple in a bowl, and a lamp above."""
    all_of_it = [
        thing("Table_1", (0.0, 0.0, 0.4), (1.6, 1.0, 0.8)),
        thing("Mug_1", (0.0, 0.0, 0.85), held="on Table_1"),
        thing("Plate_1", (-0.4, 0.0, 0.82), held="on Table_1"),
        thing("Fork_1", (0.4, 0.0, 0.82), held="on Table_1"),
        thing("Book_1", (0.0, 0.35, 0.82), held="on Table_1"),
        thing("Spoon_1", (0.0, -0.35, 0.82), held="on Table_1"),
        thing("Lamp_1", (0.0, 0.0, 2.0), (0.3, 0.3, 0.3)),
        thing("Stool_1", (0.2, 0.1, 0.2), (0.3, 0.3, 0.4)),
        thing("Fridge_1", (1.6, 0.0, 0.9), (0.7, 0.7, 1.8)),
        thing("Bowl_1", (1.6, 0.0, 0.9), held="in Fridge_1"),
        thing("Apple_1", (1.6, 0.0, 0.95), held="in Bowl_1"),
        thing("Sink_1", (-1.6, 0.0, 0.9), (0.6, 0.5, 0.2)),
        thing("Cup_1", (-1.6, 0.0, 0.9)),
    ]
    return {each.object_id: each for each in all_of_it}


@pytest.mark.parametrize(
    ("relation", "others", "wanted"),
    [
        (Spatial.LEFT_OF, "Mug_1", ["Plate_1", "Sink_1", "Cup_1"]),
        (Spatial.RIGHT_OF, "Mug_1", ["Fork_1"]),
        (Spatial.BEHIND, "Mug_1", ["Book_1"]),
        (Spatial.IN_FRONT_OF, "Mug_1", ["Spoon_1"]),
        (Spatial.NEXT_TO, "Mug_1", ["Book_1", "Spoon_1", "Fork_1", "Plate_1"]),
        (Spatial.ON, "Table_1", ["Book_1", "Fork_1", "Mug_1", "Plate_1", "Spoon_1"]),
        (Spatial.IN, "Fridge_1", ["Bowl_1", "Apple_1"]),
        (Spatial.IN, "Bowl_1", ["Apple_1"]),
        (Spatial.ON, "Fridge_1", []),
        (Spatial.IN, "Sink_1", ["Cup_1"]),
        (Spatial.UNDER, "Table_1", ["Stool_1"]),
        (Spatial.UNDER, "Mug_1", ["Table_1"]),
        (Spatial.ABOVE, "Table_1", ["Lamp_1"]),
        (Spatial.BETWEEN, "Table_1 Sink_1", []),
        (Spatial.BETWEEN, "Plate_1 Fork_1", ["Mug_1"]),
    ],
)
def test_a_thing_stands_to_others_as_a_person_says(relation: Spatial, others: str, wanted: list[str]) -> None:
    home = kitchen()
    found = ids(related(list(home.values()), relation, [home[each] for each in others.split()], NORTH))
    if relation in DIRECTIONAL:  # the first few; what is behind them is in the same direction
        assert found[: len(wanted)] == wanted
    else:
        assert found == wanted


def test_what_holds_a_thing_is_not_the_nearest_to_it() -> None:
    home = kitchen()
    assert ids(related(list(home.values()), Spatial.NEAREST, [home["Mug_1"]], None))[:2] == ["Book_1", "Spoon_1"]
    assert ids(related(list(home.values()), Spatial.FARTHEST, [home["Mug_1"]], None))[0] in ("Cup_1", "Apple_1")


def test_without_others_the_viewer_is_meant() -> None:
    home = [thing("Mug_1", (-1.0, 0.0, 1.0)), thing("Mug_2", (1.0, 1.0, 1.0)), thing("Mug_3", (0.0, 1.0, 1.0))]
    assert ids(related(home, Spatial.NEAREST, [], NORTH)) == ["Mug_1", "Mug_3", "Mug_2"]
    assert ids(related(home, Spatial.IN_FRONT_OF, [], NORTH)) == ["Mug_3", "Mug_1"]
    assert ids(related(home, Spatial.BEHIND, [], NORTH)) == []
    beside = replace(NORTH, position=(0.0, 0.0, 1.0))
    assert ids(related(home, Spatial.LEFT_OF, [], beside)) == ["Mug_1"]
    with pytest.raises(GraphError, match="give the viewpoint a direction"):
        related(home, Spatial.LEFT_OF, [], Viewpoint((0.0, 0.0, 0.0)))
    with pytest.raises(GraphError, match="name another thing, or a viewpoint"):
        related(home, Spatial.NEAREST, [], None)


@pytest.mark.parametrize("relation", sorted(DIRECTIONAL, key=lambda each: each.value))
def test_a_direction_without_a_viewpoint_is_refused(relation: Spatial) -> None:
    with pytest.raises(GraphError, match="name a viewpoint"):
        related([thing("Mug_1", (0.0, 0.0, 0.0))], relation, [thing("Cup_1", (1.0, 0.0, 0.0))], None)


def test_between_needs_two() -> None:
    with pytest.raises(GraphError, match="name two things"):
        related([thing("Mug_1", (0.0, 0.0, 0.0))], Spatial.BETWEEN, [thing("Cup_1", (1.0, 0.0, 0.0))], None)


def test_a_viewpoint_is_made_of_numbers() -> None:
    with pytest.raises(GraphError, match="no number"):
        Viewpoint((0.0, math.nan, 0.0))


@given(PLACES, PLACES, _M, _M)
def test_one_who_looks_from_the_other_side_sees_left_and_right_exchanged(
    one: Place, two: Place, x: float, y: float
) -> None:
    mug, cup = thing("Mug_1", one), thing("Cup_1", two)
    ahead = Viewpoint((0.0, 0.0, 1.0), (x, y + 0.005, 0.0))
    back = replace(ahead, direction=(-x, -y - 0.005, 0.0))
    assert related([mug], Spatial.LEFT_OF, [cup], ahead) == related([mug], Spatial.RIGHT_OF, [cup], back)
    assert related([mug], Spatial.BEHIND, [cup], ahead) == related([mug], Spatial.IN_FRONT_OF, [cup], back)
    left = related([mug], Spatial.LEFT_OF, [cup], ahead)
    assert bool(left) == bool(related([cup], Spatial.RIGHT_OF, [mug], ahead))
    assert not (left and related([mug], Spatial.RIGHT_OF, [cup], ahead))


@given(st.lists(PLACES, min_size=3, max_size=6), _M, _M, st.floats(-math.pi, math.pi), st.sampled_from(Spatial))
def test_relations_move_and_turn_with_the_scene(
    places: list[Place], x: float, y: float, angle: float, relation: Spatial
) -> None:
    def moved(place: Place) -> Place:
        return (
            place[0] * math.cos(angle) - place[1] * math.sin(angle) + 10 * x,
            place[0] * math.sin(angle) + place[1] * math.cos(angle) + 10 * y,
            place[2],
        )

    def found(change: bool) -> set[str]:
        at = [moved(place) if change else place for place in places]
        things = [thing(f"Mug_{number}", place, (0.0, 0.0, 0.0)) for number, place in enumerate(at)]
        end = moved((0.0, 1.0, 0.0)) if change else (0.0, 1.0, 0.0)
        start = moved((0.0, 0.0, 0.0)) if change else (0.0, 0.0, 0.0)
        looking = Viewpoint(start, (end[0] - start[0], end[1] - start[1], 0.0))
        return set(ids(related(things, relation, things[:2], looking)))

    assert found(True) ^ found(False) <= _on_the_edge(places, relation)


def _on_the_edge(places: list[Place], relation: Spatial) -> set[str]:
    """Return what rounding may take to either side: what stands exactly at 45 degrees, or at a limit."""

    def near(value: float, limit: float) -> bool:
        return abs(value - limit) < 1e-6

    edge = set()
    for number, place in enumerate(places):
        for other in places[:2]:
            x, y, z = (abs(here - there) for here, there in zip(place, other, strict=True))
            gap = math.dist(place, other)
            if near(x, y) or any(near(each, limit) for each in (x, y, z, gap) for limit in (0.02, 0.15, 0.6, 1.0, 3.0)):
                edge.add(f"Mug_{number}")
    return edge | ({f"Mug_{number}" for number in range(len(places))} if relation is Spatial.BETWEEN else set())


@given(st.lists(PLACES, min_size=2, max_size=8), st.integers(2, 3), st.sampled_from(Spatial))
def test_others_are_never_found(places: list[Place], count: int, relation: Spatial) -> None:
    things = [thing(f"Mug_{number}", place) for number, place in enumerate(places)]
    others = things[:count]
    found = related(things, relation, others, NORTH)
    assert not {each.object_id for each in others} & set(ids(found))
    assert len(set(ids(found))) == len(found)


@given(st.lists(PLACES, min_size=2, max_size=8))
def test_the_nearest_comes_first_and_the_farthest_last(places: list[Place]) -> None:
    things = [thing(f"Mug_{number}", place, (0.0, 0.0, 0.0)) for number, place in enumerate(places)]
    near = related(things, Spatial.NEAREST, things[:1])
    gaps = [round(math.dist(each.position, things[0].position), 6) for each in near]
    assert gaps == sorted(gaps)
    assert len(near) == len(things) - 1
    far = related(things, Spatial.FARTHEST, things[:1])
    assert [round(math.dist(each.position, things[0].position), 6) for each in far] == sorted(gaps, reverse=True)
