"""Words for floors mean the same floors in questions, in the area of a query and in its text."""

from __future__ import annotations

import pytest

from kc_vla.memory.asking.surroundings import HomeSurroundings
from kc_vla.memory.floors import floors_of
from kc_vla.memory.long_term.errors import GraphError
from kc_vla.memory.long_term.graph import SceneGraph
from kc_vla.memory.long_term.nodes import Area, Floor, SceneObject
from kc_vla.memory.long_term.query import Query, find
from kc_vla.memory.navigation_map import NavigationMap
from kc_vla.memory.references.spatial import Viewpoint
from kc_vla.memory.searching.graph_search import GraphSearch

AREAS = {
    each.id: each
    for each in (
        Area("cook", "g", (0.0, 0.0, 0.0), {}, "kitchen"),
        Area("wash_low", "g", (3.0, 0.0, 0.0), {}, "bathroom"),
        Area("wash_high", "m", (3.0, 0.0, 3.0), {}, "bathroom"),
        Area("sleep", "m", (0.0, 0.0, 3.0), {}, "bedroom"),
        Area("store", "a", (0.0, 0.0, 6.0), {}, "attic"),
    )
}
CALLED = (
    ("upstairs", "cook", {"wash_high", "sleep", "store"}),
    ("upstairs", "sleep", {"store"}),
    ("upstairs", "store", {"store"}),
    ("downstairs", "sleep", {"cook", "wash_low"}),
    ("first floor", "sleep", {"cook", "wash_low"}),
    ("the second floor", "cook", {"wash_high", "sleep"}),
    ("3rd floor", "cook", {"store"}),
    ("top floor", "cook", {"store"}),
    ("this floor", "sleep", {"wash_high", "sleep"}),
    ("bathroom", "cook", {"wash_low", "wash_high"}),
    ("attic", "cook", {"store"}),
)


def mugs() -> SceneGraph:
    """Return a home with a mug in each area, called by the number of the area."""
    things = (
        SceneObject(f"mug_{number}", "mug", each.position, (0.1, 0.1, 0.1), area=each.id)
        for number, each in enumerate(AREAS.values(), 10)
    )
    return SceneGraph("home", [Floor("g", 0.0), Floor("m", 3.0), Floor("a", 6.0), *AREAS.values(), *things], 15)


@pytest.mark.parametrize(("name", "at", "areas"), CALLED)
def test_questions_plans_and_queries_mean_the_same_floors(name: str, at: str, areas: set[str]) -> None:
    assert HomeSurroundings(AREAS, at).called(name) == areas
    assert {each.thing.area for each in find(mugs(), Query("", "mug", name, viewpoint=at))} == areas
    if "floor" in name or "stairs" in name:
        assert NavigationMap(AREAS.values()).on_floor(name, at) == areas


@pytest.mark.parametrize(
    ("text", "areas"),
    [
        ("the mug upstairs", {"wash_high", "sleep", "store"}),
        ("a mug on the second floor", {"wash_high", "sleep"}),
        ("the mug in the bathroom upstairs", {"wash_high"}),
        ("mug in the second-floor bathroom", {"wash_high"}),
        ("the mug", set(AREAS)),
    ],
)
def test_the_text_of_a_query_may_name_a_floor(text: str, areas: set[str]) -> None:
    found = GraphSearch().answer(mugs(), text, "cook").matches
    assert {each.thing.area for each in found} == areas


def test_upstairs_is_seen_from_the_viewpoint_or_the_place_of_a_query() -> None:
    graph = mugs()
    for asked in (
        Query(area="upstairs", viewpoint=Viewpoint((9.0, 9.0, 3.1))),
        Query(area="upstairs", viewpoint="mug_13"),
        Query(area="upstairs", near=(0.0, 0.0, 3.9)),
    ):
        assert {each.thing.area for each in find(graph, asked)} == {"store"}
    assert {each.thing.area for each in find(graph, Query(area="bathroom upstairs"))} == {"wash_high"}


def test_a_floor_that_there_is_not_is_no_empty_answer() -> None:
    graph = mugs()
    with pytest.raises(GraphError, match="there is no fifth floor: the map has 'g', 'm', 'a'"):
        find(graph, Query(area="fifth floor"))
    with pytest.raises(GraphError, match="there is no fifth floor"):
        GraphSearch().answer(graph, "the mug on the fifth floor")
    with pytest.raises(GraphError, match="no area or floor 'kitchen upstairs'"):
        find(graph, Query(area="kitchen upstairs"))
    assert HomeSurroundings(AREAS, "cook").called("fifth floor") == frozenset()
    assert HomeSurroundings(AREAS, "cook").called("garage") is None


def test_a_floor_is_as_high_as_its_lowest_area() -> None:
    raised = Area("podium", "g", (5.0, 0.0, 0.4), {})
    assert floors_of([raised, *AREAS.values()]) == (Floor("g", 0.0), Floor("m", 3.0), Floor("a", 6.0))
