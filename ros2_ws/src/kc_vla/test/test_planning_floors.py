"""Floors in instructions and references, and where a robot goes for them."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from nightly import tried

from kc_vla.memory.embedding.models import shared_embedder
from kc_vla.memory.long_term.errors import GraphError
from kc_vla.memory.long_term.nodes import Area, Connection
from kc_vla.memory.navigation_map import NavigationMap
from kc_vla.memory.references.reference import read
from kc_vla.memory.robot.robot_memory import NONE, open_robot_memory
from kc_vla.memory.things import ObservedThing
from kc_vla.planning.execution.search_places import Search
from kc_vla.planning.grammar.planner import GrammarPlanner
from kc_vla.planning.interface import PlanningError, Request
from kc_vla.planning.prompt import messages_for

AREAS = [
    Area("cook", "ground", (0.0, 0.0, 0.0), {"hall": 2.0}, "kitchen"),
    Area("hall", "ground", (2.0, 0.0, 0.0), {"cook": 2.0}, "hall"),
    Area("landing", "upper", (2.0, 0.0, 3.0), {"bath": 3.0}, "hall"),
    Area("bath", "upper", (5.0, 0.0, 3.0), {"landing": 3.0}, "bathroom"),
]
STAIRS = Connection("stairs_7", "stairs", ("hall", "landing"), ((2.0, 0.0, 0.0), (2.0, 0.0, 3.0)), 6.0, 1.0)
HOUSE = NavigationMap(AREAS, [STAIRS])


def test_distances_go_over_connections_by_what_they_cost() -> None:
    assert HOUSE.distance("cook", "bath") == 12.0
    assert NavigationMap(AREAS).distance("cook", "bath") == float("inf")
    quick = Connection("lift_8", "lift", ("landing", "hall"), STAIRS.places, 3.0)
    assert NavigationMap(AREAS, [STAIRS, quick]).distance("cook", "bath") == 8.0
    assert NavigationMap(AREAS, [quick, STAIRS]).distance("cook", "bath") == 8.0


def test_floors_are_in_order_of_height_and_names_can_say_which() -> None:
    assert [(floor.id, floor.height_m) for floor in HOUSE.floors] == [("ground", 0.0), ("upper", 3.0)]
    assert HOUSE.called("hall", "cook") == "hall"
    assert HOUSE.called("hall upstairs", "cook") == HOUSE.called("upper-floor hall", "cook") == "landing"
    assert HOUSE.called("upstairs", "cook") == "landing"
    assert HOUSE.called("downstairs", "bath") == "hall"
    assert HOUSE.called("second floor", "bath") == "bath"
    assert HOUSE.called("upstairs", "bath", "cook") == "bath"
    for wrong in ("kitchen upstairs", "third floor", "cellar", "the"):
        with pytest.raises(GraphError):
            HOUSE.called(wrong, "cook")
    flat = NavigationMap(AREAS[:2])
    with pytest.raises(GraphError, match="the map has only one"):
        flat.called("upstairs", "cook")


@pytest.mark.parametrize(
    ("text", "words", "floor"),
    [
        ("the red mug upstairs", ("red", "mug"), "upstairs"),
        ("second-floor mug", ("mug",), "second floor"),
        ("the second mug on the ground floor", ("mug",), "ground floor"),
        ("floor lamp", ("floor", "lamp"), ""),
    ],
)
def test_a_reference_has_its_floor_apart_from_its_name(text: str, words: tuple[str, ...], floor: str) -> None:
    reference = read(text)
    assert (reference.words, reference.floor) == (words, floor)
    assert reference.further == ("second mug" in text)


def test_a_thing_of_another_floor_is_another_thing() -> None:
    assert read("mug upstairs").key != read("mug downstairs").key != read("mug").key


@pytest.mark.parametrize(
    ("said", "plan"),
    [
        ("bring me a book from upstairs", "PickupObject(upstairs book)"),
        ("fetch the mug on the second floor", "PickupObject(second-floor mug)"),
        ("get a mug and wash it", "PickupObject(mug), PutObject(mug, sink), SwitchOn(faucet), SwitchOff(faucet), "),
        ("put the mug on the desk upstairs", "PickupObject(mug), PutObject(mug, upstairs desk)"),
        ("put the mug upstairs on the desk", "PickupObject(mug), PutObject(mug, upstairs desk)"),
        (
            "put the mug that is upstairs on the desk downstairs",
            "PickupObject(upstairs mug), PutObject(upstairs mug, downstairs desk)",
        ),
        ("bring the book upstairs", "PickupObject(book), GoToPlace(upstairs)"),
        (
            "take the book upstairs and put it on the bed",
            "PickupObject(book), GoToPlace(upstairs), PutObject(book, bed)",
        ),
        ("go to the second floor", "GoToPlace(second-floor)"),
        ("look for a mug downstairs", "GoToObject(downstairs mug)"),
        ("turn on the lamp upstairs", "SwitchOn(upstairs lamp)"),
        (
            "get two mugs from upstairs and put them in the sink",
            "PickupObject(upstairs mug), PutObject(upstairs mug, sink), "
            "PickupObject(second upstairs mug), PutObject(second upstairs mug, sink)",
        ),
        ("turn on the floor lamp", "SwitchOn(floor lamp)"),
    ],
)
def test_a_plan_names_things_and_places_with_their_floors(said: str, plan: str) -> None:
    assert ", ".join(map(str, GrammarPlanner().plan(Request(said)).calls)).startswith(plan)


_WORDS = "put bring get the a that mug desk me it two upstairs downstairs on from to in second ground floor and of is"


@given(st.lists(st.sampled_from(_WORDS.split()), min_size=1, max_size=12).map(" ".join))
@example("put and a that")
@tried(150, 5000)
def test_any_words_of_floors_are_planned_or_refused_in_a_line(said: str) -> None:
    read(said)
    calls, refused = (), ""
    try:
        calls = GrammarPlanner().plan(Request(said)).calls
    except PlanningError as error:
        refused = str(error)
    assert bool(calls) != bool(refused)
    assert "\n" not in refused


def test_a_search_on_a_floor_looks_nowhere_else() -> None:
    memories = open_robot_memory(NONE, shared_embedder(), HOUSE)
    search, stops = Search({"Apple": 1.0}, memories, HOUSE, HOUSE.on_floor("upstairs", "cook")), []
    while (stop := search.next("cook", 1.0)) is not None:
        stops.append(stop.area)
        search.done(stop)
    assert sorted(stops) == ["bath", "landing"]


def test_the_prompt_of_a_language_model_names_room_and_floor_of_the_areas_of_things() -> None:
    grounds = NavigationMap(
        [
            Area("area_1", "g", (0.0, 0.0, 0.1), {}, "kitchen"),
            Area("area_2", "u", (0.0, 0.0, 3.0), {}, "bathroom\u202e"),
            Area("area_3", "u", (3.0, 0.0, 3.0), {}, ""),
            Area("area_4", "c", (0.0, 0.0, -2.6), {}, "cellar"),
        ]
    )

    def mug(number: int, area: str) -> ObservedThing:
        return ObservedThing("Mug", f"Mug_{number}", (0.0, 0.0, 0.0), (0.1, 0.1, 0.1), "", {}, "", "", area, True)

    known = (mug(1, "area_2"), mug(2, "area_3"), mug(3, "area_9"))
    request = Request("bring the mug upstairs", known=known, areas=grounds.area_names(), at="area_1")
    role, given = messages_for(request)
    content = json.loads(given["content"])
    assert content["at"] == "area_1"
    assert content["areas"] == {
        "area_1": {"room": "kitchen", "floor": "first floor"},
        "area_2": {"room": "bathroom", "floor": "second floor"},
        "area_3": {"floor": "second floor"},
    }
    assert [each["area"] for each in content["surroundings"]] == ["area_2", "area_3", "area_9"]
    assert "upstairs and downstairs are as seen from there" in role["content"]
    assert grounds.area_names()["area_4"] == ("cellar", "c")
    assert "areas" not in json.loads(messages_for(Request("bring the mug upstairs"))[1]["content"])
