"""In which area each of many things is: on its floor, the one with the nearest place; for all at once as one by one."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st
from nightly import tried

from kc_vla.memory.long_term.graph import SceneGraph
from kc_vla.memory.long_term.nodes import Area, Floor, SceneObject
from kc_vla.memory.robot.long_term import LongTermPart

HEIGHTS = {"cellar": -3.0, "ground": 0.0, "upper": 3.0}
METERS = st.floats(-9.0, 9.0)
PLACES = st.tuples(METERS, METERS, st.floats(-2.9, 5.0))
MIDDLES = st.lists(st.tuples(st.sampled_from(sorted(HEIGHTS)), METERS, METERS), max_size=8)


class Still:
    """A scene that does not change."""

    def __init__(self, graph: SceneGraph) -> None:
        self._graph = graph

    def graph(self) -> SceneGraph:
        return self._graph


def home(middles: list[tuple[str, float, float]]) -> SceneGraph:
    floors = [Floor(name, height) for name, height in HEIGHTS.items()]
    areas = [Area(f"area_{at}", floor, (x, y, HEIGHTS[floor])) for at, (floor, x, y) in enumerate(middles)]
    return SceneGraph("home", [*floors, *areas])


@tried(40, 1000)
@given(MIDDLES, st.lists(PLACES, max_size=12))
def test_the_areas_of_places_are_the_nearest_on_their_floors(
    middles: list[tuple[str, float, float]], places: list[tuple[float, float, float]]
) -> None:
    graph = home(middles)
    found = graph.areas_at(places)
    assert found == [graph.area_at(place) for place in places]
    for (x, y, z), name in zip(places, found, strict=True):
        if not middles:
            assert name == ""
            continue
        area = graph.areas[name]
        assert area.floor == graph.floor_at(z, {each.floor for each in graph.areas.values()})
        here = [each for each in graph.areas.values() if each.floor == area.floor]
        nearest = min(math.dist((x, y), each.position[:2]) for each in here)
        assert math.dist((x, y), area.position[:2]) <= nearest + 1e-9


def test_a_robot_knows_all_things_at_once_as_it_knows_each() -> None:
    graph = home([("ground", 0.0, 0.0), ("ground", 5.0, 0.0), ("upper", 0.0, 0.0)])
    table = SceneObject("table_1", "table", (0.5, 0.0, 0.4), (1.0, 1.0, 0.8), movable=False)
    plate = SceneObject("plate_1", "plate", (0.9, 0.0, 0.82), placed="on", holder="table_1")
    apple = SceneObject("apple_1", "apple", (3.0, 0.0, 0.9), placed="on", holder="plate_1")
    lamp = SceneObject("lamp_1", "lamp", (0.0, 0.2, 4.0), source_id="lamp of Ann")
    unsure = SceneObject("cup_1", "cup", (0.0, 0.0, 0.1), confidence=0.1)
    whole = SceneGraph("home", [*graph.nodes(), table, plate, apple, lamp, unsure])
    part = LongTermPart(Still(whole))  # type: ignore[arg-type]
    things = {each.object_id: each for each in part.things()}
    assert {name: each.area for name, each in things.items()} == {
        "table_1": "area_0",
        "plate_1": "area_0",
        "apple_1": "area_0",  # nearer to the other one, but what carries it stands here
        "lamp of Ann": "area_2",
    }
    assert things == {name: part.thing(name) for name in things}
    assert (things["apple_1"].relation, things["apple_1"].container) == ("on", "plate_1")
