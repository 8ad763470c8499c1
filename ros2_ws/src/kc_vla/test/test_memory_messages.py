"""Between the messages of the memories and what they are."""

from __future__ import annotations

import math
from typing import Any

import pytest
from diagnostic_msgs.msg import KeyValue
from geometry_msgs.msg import Point
from hypothesis import given
from hypothesis import strategies as st
from nav_msgs.msg import OccupancyGrid
from std_msgs.msg import Header

from kc_vla.core.errors import StackError
from kc_vla.memory.live_units import News, Standing
from kc_vla.memory.long_term.graph import SceneGraph
from kc_vla.memory.long_term.nodes import Area, Floor, SceneObject
from kc_vla.memory.short_term.memory import UnitEvent
from kc_vla.memory.short_term.unit import MOST_LETTERS, ObjectState, Position, Unit
from kc_vla.ros.scene import fields_from, query_from, spread_from
from kc_vla.ros.scene_markers import MOST_OBJECTS, markers
from kc_vla.ros.scene_nodes import object_message
from kc_vla.ros.units import change_message, filters_from, unit_message, units_from
from kc_vla_msgs.msg import MemoryChange, MemoryUnit
from kc_vla_msgs.msg import SceneObject as SceneObjectMessage
from kc_vla_msgs.srv import EditScene, QueryScene, RecallUnits, SetAreas

NOW_NS = 1_800_000_000 * 10**9
TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=20)
NAME = TEXT.filter(str.strip)
NUMBER = st.floats(-1e6, 1e6)
UNITS = st.builds(
    Unit,
    NAME,
    NAME,
    st.builds(Position, NUMBER, NUMBER, NUMBER, NAME),
    st.integers(1, NOW_NS // 10**9).map(float),
    st.sampled_from(ObjectState),
    TEXT,
    st.dictionaries(NAME, TEXT, max_size=3),
    TEXT,
)


@given(UNITS)
def test_a_unit_comes_back_from_its_message_as_it_was(unit: Unit) -> None:
    message = unit_message(Standing(unit, "window", 3))
    assert (message.segment, message.frequency) == ("window", 3)
    assert units_from([message], message.header.frame_id, NOW_NS) == [unit]


def test_a_unit_without_a_stamp_was_seen_now() -> None:
    message = MemoryUnit(object_id="m", object_type="mug")
    message.header.frame_id = "map"
    assert units_from([message], message.header.frame_id, NOW_NS)[0].stamp == NOW_NS / 1e9


@pytest.mark.parametrize(
    ("said", "frame", "sec", "told"),
    [
        ({"state": "melted"}, "map", 1, "there is no state 'melted'"),
        ({}, "mars", 1, "the unit 'm' is in the frame 'mars': give its position in 'map'"),
        ({}, "", 1, "the unit 'm' has no frame_id"),
        ({}, "map", 2_000_000_000, "ahead of this node's clock"),
        ({"position": Point(x=math.nan)}, "map", 1, "a position or stamp that is no number"),
        ({"area": "a" * 1_000_000}, "map", 1, f"a text of more than {MOST_LETTERS} letters"),
        ({"attributes": [KeyValue(key=str(at)) for at in range(100)]}, "map", 1, "more than 16 attributes"),
    ],
)
def test_a_unit_that_cannot_be_is_refused_in_a_line(said: dict[str, Any], frame: str, sec: int, told: str) -> None:
    message = MemoryUnit(object_id="m", object_type="mug", **said)
    message.header.frame_id, message.header.stamp.sec = frame, sec
    with pytest.raises(StackError, match=told) as refused:
        units_from([message], "map", NOW_NS)
    assert len(str(refused.value).splitlines()) == 1
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize("count", [0, 1001])
def test_no_units_and_too_many_are_refused(count: int) -> None:
    with pytest.raises(StackError, match="give 1 to 1000"):
        units_from([MemoryUnit()] * count, "map", NOW_NS)


def test_every_happening_has_its_number() -> None:
    standing = Standing(Unit("mug", "m", Position(0.0, 0.0, 0.0), 1.0), "window", 1)
    numbers = {each: change_message(News(each, "why", standing)).type for each in (*UnitEvent, None)}
    assert {each.name: number for each, number in numbers.items() if each is not None} == {
        each.name: getattr(MemoryChange, each.name) for each in UnitEvent
    }
    assert numbers[None] == MemoryChange.EVICTED


def test_what_is_not_asked_filters_nothing() -> None:
    asked = filters_from(RecallUnits.Request(text="a mug"), "map", NOW_NS)
    assert asked.accept(Unit("mug", "m", Position(1e6, 0.0, 0.0), 0.0))


def test_filters_by_age_and_place_are_taken_as_they_are() -> None:
    request = RecallUnits.Request(text="a mug", types=["Mug"], radius=1.0, most_age=10.0)
    request.near.header.frame_id = "map"
    asked = filters_from(request, "map", NOW_NS)
    now = NOW_NS / 1e9
    assert asked.accept(Unit("mug", "m", Position(0.5, 0.0, 0.0), now - 5))
    assert not asked.accept(Unit("mug", "m", Position(0.5, 0.0, 0.0), now - 50))
    assert not asked.accept(Unit("mug", "m", Position(1.5, 0.0, 0.0), now))
    assert not asked.accept(Unit("cup", "m", Position(0.5, 0.0, 0.0), now))


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"radius": 1.0}, "near has no frame_id"),
        ({"radius": math.nan}, "near has no frame_id|finite"),
        ({"most_age": math.inf}, "finite"),
        ({"types": ["mug"] * 101}, "100 are the most"),
        ({"types": ["m" * 201]}, "of 200 letters each"),
    ],
)
def test_filters_that_make_no_sense_are_refused(asked: dict[str, Any], told: str) -> None:
    with pytest.raises(StackError, match=told):
        filters_from(RecallUnits.Request(text="a mug", **asked), "map", NOW_NS)


THING = SceneObject(
    "mug_1", "mug", (1.0, 2.0, 3.0), (0.1, 0.2, 0.3), attributes={"of": "Ada"}, by_hand=frozenset({"size"})
)


def test_an_object_is_told_with_all_that_is_known_of_it() -> None:
    message = object_message(THING)
    assert (message.id, message.object_type, message.position.y, message.size.z) == ("mug_1", "mug", 2.0, 0.3)
    assert [(each.key, each.value) for each in message.attributes] == [("of", "Ada")]
    assert (list(message.by_hand), message.movable, message.confidence) == (["size"], True, 1.0)


def test_only_the_fields_that_are_named_are_set() -> None:
    thing = object_message(THING)
    thing.placed, thing.holder = "on", "table_1"
    assert fields_from(EditScene.Request(object=thing)) == {}
    assert fields_from(EditScene.Request(object=thing, fields=["size"])) == {"size": (0.1, 0.2, 0.3)}
    assert fields_from(EditScene.Request(object=thing, fields=["holder"])) == {"holder": "table_1", "placed": "on"}
    assert fields_from(EditScene.Request(object=thing, fields=["colour"])) == {"colour": None}  # refused by who sets it
    with pytest.raises(StackError, match="one of both"):
        fields_from(EditScene.Request(object=SceneObjectMessage(), fields=["size"], name="kitchen"))


def test_an_unbounded_radius_asks_for_the_nearest_first() -> None:
    query = query_from(QueryScene.Request(radius=math.inf, near=Point(x=1.0)))
    assert (query.near, query.radius_m, query.limit, query.least) == ((1.0, 0.0, 0.0), None, 20, 0.2)
    assert query_from(QueryScene.Request(near=Point(x=1.0))).near is None


def grid(width: int = 40, cells: int = 40 * 20, **turn: float) -> OccupancyGrid:
    made = OccupancyGrid(data=[0] * cells)
    made.info.width, made.info.height, made.info.resolution = width, 20, 0.1
    made.info.origin.position.x = 5.0
    for name, value in ({"w": 1.0} | turn).items():
        setattr(made.info.origin.orientation, name, value)
    return made


def test_a_grid_is_where_its_origin_says() -> None:
    floor, found = spread_from(SetAreas.Request(grid=grid(), spacing=1.0, height=0.5))
    assert (floor.id, floor.height_m) == ("ground", 0.5)
    assert found.positions[:, 0].min() >= 5.0
    assert found.positions[:, 0].max() <= 9.0
    turned = grid(z=math.sqrt(0.5), w=math.sqrt(0.5))
    _, found = spread_from(SetAreas.Request(grid=turned, spacing=1.0))
    assert found.positions[:, 0].max() <= 5.0
    assert found.positions[:, 1].max() > 2.0


def test_points_give_the_ground_of_their_floor() -> None:
    points = [Point(x=float(x), y=float(y), z=2.5) for x in range(4) for y in range(4)]
    floor, found = spread_from(SetAreas.Request(points=points, floor="upper"))
    assert (floor.id, floor.height_m) == ("upper", 2.5)
    assert len(found.positions) > 0


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"grid": grid(cells=7)}, "says 40 x 20 cells and carries 7"),
        ({"grid": grid(x=1.0)}, "must lie level"),
        ({"grid": grid(w=math.nan)}, "must lie level"),
        ({"grid": grid(), "spacing": math.nan}, "spacing of nan"),
        ({"grid": grid(), "use_start": True, "start": Point(x=math.nan)}, "no finite number"),
        ({"grid": grid(), "points": [Point()]}, "one of both"),
    ],
)
def test_a_floor_that_cannot_be_is_refused(asked: dict[str, Any], told: str) -> None:
    with pytest.raises(StackError, match=told):
        spread_from(SetAreas.Request(**asked))


def test_a_map_is_drawn_whole_and_not_without_end() -> None:
    areas = [Area("a", "g", (0.0, 0.0, 0.0), {"b": 1.0}), Area("b", "g", (1.0, 0.0, 0.0), {"a": 1.0}, "hall")]
    things = [SceneObject(f"mug_{at}", "mug", (0.0, 0.0, 0.0)) for at in range(MOST_OBJECTS + 5)]
    sure = SceneObject("x_1", "x\n\x1b[2J", (0.0, 0.0, 0.0), state="on")
    gone = SceneObject("y_1", "y", (0.0, 0.0, 0.0), forgotten=True)
    drawn = markers(SceneGraph("home", [Floor("g", 0.0), *areas, sure, gone, *things]), Header(frame_id="map")).markers
    by_name = {name: [each for each in drawn if each.ns == name] for name in {each.ns for each in drawn}}
    assert len(by_name["objects"]) == len(by_name["object_names"]) == MOST_OBJECTS
    assert len(by_name["areas"][0].points) == 2
    assert len(by_name["ways"][0].points) == 2  # each way once
    assert [each.text for each in by_name["area_names"]] == ["a", "hall"]
    assert by_name["object_names"][0].text == '"x\\u000a\\u001b[2J" on'
    assert all(each.text.isprintable() for each in drawn)
    assert {each.header.frame_id for each in drawn} == {"map"}
    assert all(each.scale.x > 0 for each in drawn if each.ns == "objects")
