"""Stairs, lifts and ramps between the floors of a map: who makes them, the ways over them, and that they stay."""

from __future__ import annotations

import itertools
import json
import math
import sqlite3
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried

from kc_vla.cli import main
from kc_vla.memory.floors import floors_called, with_floor_as_one_word, without_floor
from kc_vla.memory.live_scene import LiveScene
from kc_vla.memory.long_term.describe import describe
from kc_vla.memory.long_term.detections import Detection
from kc_vla.memory.long_term.errors import GraphError
from kc_vla.memory.long_term.exchange import form_of
from kc_vla.memory.long_term.graph import SceneGraph
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.nodes import Area, Connection, Floor, SceneObject
from kc_vla.memory.long_term.plot import draw_graph
from kc_vla.memory.long_term.query import neighbours
from kc_vla.memory.long_term.spreading import Spread
from kc_vla.memory.long_term.store import Store
from kc_vla.memory.long_term.ways import way

FLOORS = [Floor("ground", 0.0), Floor("upper", 3.0, "attic")]
STAIRS = Connection("stairs_7", "stairs", ("hall", "landing"), ((2.0, 0.0, 0.0), (2.0, 0.0, 3.0)), 5.0)


def house(*more: Connection | SceneObject) -> SceneGraph:
    """A kitchen and a hall, and above them a landing with a bath on each side."""
    return SceneGraph(
        "home",
        [
            *FLOORS,
            Area("cook", "ground", (0.0, 0.0, 0.0), {"hall": 2.0}, "kitchen"),
            Area("hall", "ground", (2.0, 0.0, 0.0), {"cook": 2.0}, "hall"),
            Area("landing", "upper", (2.0, 0.0, 3.0), {"east": 3.0, "west": 1.0}, "hall"),
            Area("east", "upper", (5.0, 0.0, 3.0), {"landing": 3.0}, "bathroom"),
            Area("west", "upper", (1.0, 0.0, 3.0), {"landing": 1.0}, "bathroom"),
            *more,
        ],
        8,
    )


def put(store: Store, graph: SceneGraph) -> LongTermMemory:
    memory = LongTermMemory(store)
    memory.take(graph)
    return memory


def test_a_way_goes_over_what_connects_the_floors_and_waits_for_no_slow_lift() -> None:
    with pytest.raises(GraphError, match="no way is known from 'cook' to 'east': connect their floors"):
        way(house(), "cook", "east")
    found = way(house(STAIRS), "cook", "east")
    assert (found.areas, found.length_m, found.over) == (("cook", "hall", "landing", "east"), 10.0, ("stairs_7",))
    lift = replace(STAIRS, id="lift_8", kind="lift", length_m=3.0, wait_m=10.0)
    assert way(house(STAIRS, lift), "cook", "east").over == ("stairs_7",)
    quick = way(house(STAIRS, replace(lift, wait_m=1.0)), "cook", "east")
    assert (quick.over, quick.length_m, quick.cost_m) == (("lift_8",), 8.0, 9.0)
    assert way(house(replace(STAIRS, forgotten=True), lift), "cook", "east").over == ("lift_8",)


def test_a_way_takes_the_names_of_rooms_floors_and_things() -> None:
    graph = house(STAIRS, SceneObject("mug_3", "Mug", (5.0, 0.0, 3.8), area="east"))
    assert way(graph, "kitchen", "mug").areas[-1] == "east"
    assert way(graph, "kitchen", "attic").areas == ("cook", "hall", "landing")
    assert way(graph, "the kitchen", "upstairs").areas[-1] == "landing"
    assert way(graph, "upstairs", "cook").areas == ("landing", "hall", "cook")
    assert way(graph, "hall", "cook").length_m == 2.0  # an id is no other room's name
    assert way(graph, "mug_3", "ground floor").areas[-1] == "hall"
    assert way(graph, "hall downstairs", "hall on the second floor").areas == ("hall", "landing")


@pytest.mark.parametrize(
    ("begin", "end", "why"),
    [
        ("cook", "bathroom", "'bathroom' is the name of 2 rooms: .*east on 'upper', west on 'upper'"),
        ("kitchen", "mug", "'mug' can be 2 objects: say which by its id: mug_3 in 'east', mug_4 in 'cook'"),
        ("kitchen", "garage", "there is no object 'garage' in map 'home', nor an area, room or floor"),
        ("kitchen", "third floor", "there is no third floor: the map has 'ground', 'attic'"),
        ("upstairs", "downstairs", "name a floor or an area for one of both"),
    ],
)
def test_a_name_that_can_be_several_places_is_refused_with_their_ids(begin: str, end: str, why: str) -> None:
    mugs = (
        SceneObject("mug_3", "Mug", (5.0, 0.0, 3.8), area="east"),
        SceneObject("mug_4", "mug", (0.0,) * 3, area="cook"),
    )
    with pytest.raises(GraphError, match=why):
        way(house(STAIRS, *mugs), begin, end)


LENGTHS = st.floats(0.1, 50.0)


@st.composite
def buildings(draw: st.DrawFn) -> SceneGraph:
    """Floors with areas here and there, ways between some of them, and connections between any two floors."""
    floors = draw(st.integers(2, 4))
    areas = [(f"a{floor}_{at}", floor) for floor in range(floors) for at in range(draw(st.integers(1, 5)))]
    adjacent: dict[str, dict[str, float]] = {name: {} for name, _ in areas}
    level = [(a, b) for a, one in areas for b, other in areas if a < b and one == other]
    for one, other in draw(st.lists(st.sampled_from(level), unique=True)) if level else ():
        adjacent[one][other] = adjacent[other][one] = draw(LENGTHS)
    between = [(a, b) for a, one in areas for b, other in areas if one < other]
    ends = draw(st.lists(st.sampled_from(between), max_size=8))
    zero = ((0.0, 0.0, 0.0),) * 2
    connections = [
        Connection(
            f"c_{at}", draw(st.sampled_from(["stairs", "lift", "ramp"])), pair, zero, draw(LENGTHS), draw(LENGTHS)
        )
        for at, pair in enumerate(ends)
    ]
    return SceneGraph(
        "home",
        [
            *(Floor(f"f{floor}", 3.0 * floor) for floor in range(floors)),
            *(Area(name, f"f{floor}", (0.0, 0.0, 3.0 * floor), adjacent[name]) for name, floor in areas),
            *connections,
        ],
        99,
    )


@given(buildings(), st.data())
@tried(60, 600)
def test_the_way_is_the_shortest_one_that_networkx_finds(graph: SceneGraph, data: st.DataObject) -> None:
    plain = nx.MultiGraph()
    plain.add_nodes_from(graph.areas)
    for area in graph.areas.values():
        plain.add_weighted_edges_from((area.id, other, way_m) for other, way_m in area.adjacent.items())
    plain.add_weighted_edges_from((*each.areas, each.length_m + each.wait_m) for each in graph.connections.values())
    begin, end = (data.draw(st.sampled_from(sorted(graph.areas))) for _ in range(2))
    if not nx.has_path(plain, begin, end):
        with pytest.raises(GraphError, match="no way is known"):
            way(graph, begin, end)
        return
    found = way(graph, begin, end)
    assert found.cost_m == pytest.approx(nx.shortest_path_length(plain, begin, end, weight="weight"))
    assert (found.areas[0], found.areas[-1]) == (begin, end)
    waits_m = sum(graph.connections[each].wait_m for each in found.over)
    assert found.length_m == pytest.approx(found.cost_m - waits_m)


@pytest.mark.parametrize("form", ["json", "graphml", "spark-dsg"])
@given(buildings())
@tried(15, 150)
def test_connections_survive_the_store_and_every_form_of_file(
    tmp_path_factory: pytest.TempPathFactory, form: str, graph: SceneGraph
) -> None:
    if form == "spark-dsg":
        pytest.importorskip("spark_dsg")
    folder = tmp_path_factory.mktemp("map")
    with Store(folder / "memory.db") as store:
        put(store, graph)
    with Store(folder / "memory.db", read_only=True) as store:
        again = store.load("home")
    form_of(folder / "map", form).write(again, folder / "map")
    back = form_of(folder / "map", form).read(folder / "map", "")
    assert list(back.nodes()) == list(graph.nodes())
    assert set(back.network.edges(data="way_m")) == set(graph.network.edges(data="way_m"))


def test_a_map_without_connections_is_written_as_before_and_older_ones_are_read(tmp_path: Path) -> None:
    path = tmp_path / "map.json"
    form_of(path).write(house(), path)
    told = json.loads(path.read_text())
    assert (told["version"], "connections" in told) == (1, False)
    form_of(path).write(house(STAIRS), path)
    assert json.loads(path.read_text())["version"] == 2


def test_a_store_of_the_version_before_is_read_as_it_is_and_opened_for_writing(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Store(path) as store:
        put(store, house())
    with sqlite3.connect(path) as connection:
        connection.executescript("DROP TABLE keyframe; DROP TABLE keyframe_count; PRAGMA user_version = 3")
    connection.close()
    with Store(path, read_only=True) as store:
        assert len(store.load("home").areas) == 5
    with Store(path) as store:
        memory = LongTermMemory(store)
        assert memory.connect("home", "kitchen", "landing", "stairs", 5.0) == "stairs_8"
        assert store.mended == ""


@given(st.lists(st.tuples(st.floats(-5.0, 5.0), st.floats(-5.0, 5.0)), min_size=1, max_size=6), st.booleans())
@tried(25, 250)
def test_a_connection_goes_to_the_nearest_area_when_a_floor_gets_other_ones(
    tmp_path_factory: pytest.TempPathFactory, places: list[tuple[float, float]], upper: bool
) -> None:
    floor = FLOORS[upper]
    spread = Spread(np.array([(x, y, floor.height_m) for x, y in places]), {})
    with Store(tmp_path_factory.mktemp("map") / "memory.db") as store:
        memory = put(store, house(STAIRS))
        for _ in range(3):  # the places of its ends stay: nothing drifts
            memory.set_areas("home", floor, spread)
        graph = memory.graph("home")
        (kept,) = graph.connections.values()
        at = kept.areas[upper]
        assert graph.areas[at].floor == floor.id
        far = [math.dist(place, STAIRS.places[upper][:2]) for place in places]
        assert math.dist(graph.areas[at].position, STAIRS.places[upper]) == pytest.approx(min(far), abs=1e-5)
        assert kept.areas[not upper] == STAIRS.areas[not upper]
        assert way(graph, *kept.areas).over == ("stairs_7",)


def test_ways_of_unknown_kind_between_floors_are_kept_too(tmp_path: Path) -> None:
    graph = SceneGraph(
        "home",
        [
            *FLOORS,
            Area("one", "ground", (0.0, 0.0, 0.0), {"two": 4.0}),
            Area("two", "upper", (0.0, 0.0, 3.0), {"one": 4.0}),
        ],
    )
    with Store(tmp_path / "memory.db") as store:
        memory = put(store, graph)
        memory.set_areas("home", FLOORS[1], Spread(np.array([(9.0, 0.0, 3.0), (0.5, 0.0, 3.0)]), {(0, 1): 8.5}))
        assert way(memory.graph("home"), "one", "node_2").areas == ("one", "node_2")
        assert way(memory.graph("home"), "node_1", "one").length_m == 12.5
        path = tmp_path / "map.json"
        form_of(path).write(memory.graph("home"), path)
        assert len(form_of(path).read(path, "").areas) == 3


def seen(kind: str, x: float, z: float, size: float = 2.0) -> Detection:
    return Detection(kind, (x, 0.0, z), (size, 1.0, 1.0), source_id=f"{kind}_{z}")


def test_stairs_that_are_seen_on_two_floors_at_one_place_connect_them(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        memory = put(store, house())
        memory.observe("home", [seen("Staircase", 2.0, 0.5)], 1)
        assert not memory.graph("home").connections
        memory.observe("home", [seen("stairs", 2.5, 3.5)], 2)
        (made,) = memory.graph("home").connections.values()
        assert (made.kind, made.detected, made.areas) == ("stairs", True, ("hall", "landing"))
        assert made.length_m == pytest.approx(math.hypot(3.0, 2.0))
        for stamp in range(3, 6):
            memory.observe("home", [seen("Staircase", 2.0, 0.5), seen("stairs", 2.5, 3.5)], stamp)
        assert len(memory.graph("home").connections) == 1
        memory.disconnect("home", made.id)
        memory.observe("home", [seen("stairs", 2.5, 3.5)], 7)
        with pytest.raises(GraphError, match="no way is known"):
            way(memory.graph("home"), "cook", "landing")


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        (seen("elevator", 2.0, 0.5), seen("Lift", 2.4, 3.5), True),
        (seen("stairs", 2.0, 0.5), seen("stairs", 4.5, 3.5), False),  # further apart than their sizes
        (seen("stairs", 2.0, 0.5), seen("lift", 2.0, 3.5), False),
        (seen("sofa", 2.0, 0.5), seen("sofa", 2.0, 3.5), False),
        (seen("stairs", 2.0, 0.5), seen("stairs", 3.0, 0.6), False),  # on one floor
    ],
)
def test_only_one_kind_of_thing_one_above_the_other_connects_floors(
    tmp_path: Path, one: Detection, other: Detection, found: bool
) -> None:
    with Store(tmp_path / "memory.db") as store:
        memory = put(store, house())
        memory.observe("home", [one, other], 1)
        assert [each.wait_m for each in memory.graph("home").connections.values()] == [10.0] * found


def test_large_stairs_without_names_are_two_objects_one_on_each_floor(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        memory = put(store, house())
        for stamp, z in enumerate((1.4, 3.5, 1.4, 3.5), 1):
            memory.observe("home", [Detection("stairs", (2.0, 0.0, z), (4.0, 1.2, 2.0))], stamp)
        assert sorted(each.area for each in memory.objects("home")) == ["hall", "landing"]
        assert len(memory.graph("home").connections) == 1


def test_a_connection_whose_area_was_lost_is_in_nobodys_way_and_is_back_with_new_areas(tmp_path: Path) -> None:
    nodes = [each for each in house(STAIRS).nodes() if each.id != "landing"]
    with Store(tmp_path / "memory.db") as store:
        memory = put(store, SceneGraph("home", nodes, 8))
        memory.observe("home", [seen("stairs", 2.0, 0.5), seen("stairs", 2.0, 3.5)], 1)
        with pytest.raises(GraphError, match="no way is known"):
            way(memory.graph("home"), "hall", "east")
        draw_graph(memory.graph("home"), tmp_path / "map.png")
        assert "stairs to: landing" in memory.describe("home").text
        memory.set_areas("home", FLOORS[1], Spread(np.array([(2.0, 0.0, 3.0), (5.0, 0.0, 3.0)]), {(0, 1): 3.0}))
        assert way(memory.graph("home"), "cook", "upstairs").length_m == 7.0


def test_stairs_lead_to_the_next_floor_and_a_lift_to_each(tmp_path: Path) -> None:
    floors = [Floor(f"f{at}", 3.0 * at) for at in range(3)]
    areas = [Area(f"a{at}", f"f{at}", (2.0, 0.0, 3.0 * at)) for at in range(3)]
    for kind, pairs in (("stairs", {"f0f1", "f1f2"}), ("lift", {"f0f1", "f1f2", "f0f2"})):
        with Store(tmp_path / f"{kind}.db") as store:
            memory = put(store, SceneGraph("home", [*floors, *areas]))
            memory.observe("home", [seen(kind, 2.0, 3.0 * at + 0.5) for at in range(3)], 1)
            graph = memory.graph("home")
            made = {"".join(graph.areas[area].floor for area in each.areas) for each in graph.connections.values()}
            assert made == pairs


def test_stairs_that_were_seen_before_there_were_areas_connect_them_later(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        memory = LongTermMemory(store)
        memory.observe("home", [seen("stairs", 2.0, 0.5), seen("stairs", 2.0, 3.5)], 1)
        for floor in FLOORS:
            memory.set_areas("home", floor, Spread(np.array([(2.0, 0.0, floor.height_m)]), {}))
        (made,) = memory.graph("home").connections.values()
        assert way(memory.graph("home"), *made.areas).over == (made.id,)


def test_what_cannot_be_connected_is_refused_in_a_line(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        memory = put(store, house())
        for wrong, why in (
            (("cook", "hall", "stairs", 3.0), "on one floor"),
            (("cook", "landing", "rope", 3.0), "'rope' connects no floors: choose one of stairs, lift, ramp"),
            (("cook", "landing", "stairs", math.nan), "length is nan"),
            (("cook", "bathroom", "stairs", 3.0), "is the name of 2 rooms"),
            (("cook", "attic", "stairs", 3.0), "has 3 areas: name the one at the end of the way"),
        ):
            with pytest.raises(GraphError, match=why):
                memory.connect("home", *wrong)
        with pytest.raises(GraphError, match=r"no connection 'stairs_1'.*there are none"):
            memory.disconnect("home", "stairs_1")
        made = memory.connect("home", "cook", "landing", "lift", 3.0)
        assert memory.graph("home").connections[made].wait_m == 10.0
        with pytest.raises(GraphError, match="is a connection: remove it"):
            memory.edit("home", made, name="lift")


def test_a_scene_in_use_is_connected_and_goes_over_it(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        put(store, house())
    scene = LiveScene(tmp_path / "memory.db", "home")
    try:
        made = scene.connect("", "kitchen", "landing", "stairs", 5.0)
        found, places = scene.way("", "kitchen", "upstairs")
        assert (found.over, places) == ((made,), [(0.0, 0.0, 0.0), (2.0, 0.0, 3.0)])
        scene.disconnect("", made)
        assert scene.changes == 2
        with pytest.raises(GraphError, match="no way is known"):
            scene.way("home", "kitchen", "upstairs")
        with pytest.raises(GraphError, match="there is no map 'mars'"):
            scene.connect("mars", "kitchen", "landing", "stairs", 5.0)
    finally:
        scene.close()


def test_a_description_names_floors_by_height_and_where_stairs_lead(tmp_path: Path) -> None:
    text = describe(house(STAIRS)).text
    assert text.index("name: ground, type: Floor") < text.index("name: upper, type: Floor")
    assert "name: hall, type: Area, called: hall, contains: [], adjacent nodes: [cook], stairs to: landing" in text
    assert ("stairs", "stairs_7") in neighbours(house(STAIRS), "hall")
    assert ("stairs", "landing") in neighbours(house(STAIRS), "stairs_7")
    draw_graph(house(STAIRS), tmp_path / "map.png")
    assert (tmp_path / "map.png").stat().st_size > 10_000


def test_floors_are_connected_and_walked_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "memory.db")
    with Store(tmp_path / "memory.db") as store:
        put(store, house())
    assert main(["memory", "way", path, "kitchen", "upstairs"]) == 1
    assert main(["memory", "connect", path, "kitchen", "landing", "--kind", "lift", "--length", "3"]) == 0
    capsys.readouterr()
    assert main(["memory", "way", path, "kitchen", "upstairs"]) == 0
    assert capsys.readouterr().out == "cook landing\n3.00 m, over lift_8\n"
    assert main(["memory", "disconnect", path, "lift_8"]) == 0
    assert main(["memory", "way", path, "kitchen", "upstairs"]) == 1
    assert "no way is known" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("said", "rest", "floor"),
    [
        ("the mug on the second floor", "the mug", "second floor"),
        ("the red mug upstairs", "the red mug", "upstairs"),
        ("the mug that is on the 2nd floor", "the mug", "second floor"),
        ("second-floor bathroom", "bathroom", "second floor"),
        ("the second mug", "the second mug", ""),
        ("the floor lamp", "the floor lamp", ""),
        ("the stairs", "the stairs", ""),
    ],
)
def test_words_for_floors_are_taken_out_of_a_text(said: str, rest: str, floor: str) -> None:
    assert without_floor(said) == (rest, floor)
    assert bool(floor) == (with_floor_as_one_word(said) != said or "upstairs" in said)


def test_upstairs_is_above_and_on_the_top_floor_where_one_is() -> None:
    floors = [Floor("attic", 6.0), Floor("cellar", -2.5), Floor("g", 0.2, "ground"), Floor("m", 3.0)]
    called = {
        ("upstairs", "g"): ("m", "attic"),
        ("upstairs", "attic"): ("attic",),
        ("downstairs", "m"): ("cellar", "g"),
        ("downstairs", "cellar"): ("cellar",),
        ("first floor", ""): ("g",),
        ("the second floor", "attic"): ("m",),
        ("top floor", ""): ("attic",),
        ("cellar", ""): ("cellar",),
        ("ground floor", ""): ("g",),
        ("kitchen", ""): (),
    }
    assert {asked: floors_called(asked[0], floors, asked[1]) for asked in called} == called
    with pytest.raises(GraphError, match="the map has only one"):
        floors_called("upstairs", floors[:1])


def test_rooms_of_a_hydra_file_at_two_heights_are_on_two_floors_with_a_way_between(tmp_path: Path) -> None:
    dsg = pytest.importorskip("spark_dsg")
    hydra = dsg.DynamicSceneGraph()
    symbols = [dsg.NodeSymbol("R", at).value for at in range(4)]
    for symbol, z in zip(symbols, (0.1, 0.0, 2.9, 3.1), strict=True):
        room = dsg.RoomNodeAttributes()
        room.position = np.array([0.0, 0.0, z])
        hydra.add_node("ROOMS", symbol, room)
    for one, other in itertools.pairwise(symbols):
        hydra.insert_edge(one, other)
    hydra.save(str(tmp_path / "hydra.json"), False)
    graph = form_of(tmp_path / "hydra.json", "spark-dsg").read(tmp_path / "hydra.json", "home")
    assert [floor.height_m for floor in graph.floors.values()] == pytest.approx([0.0, 2.9])
    assert [area.floor for area in graph.areas.values()] == ["floor", "floor", "floor_2", "floor_2"]
    assert len(way(graph, next(iter(graph.areas)), "upstairs").areas) == 3
