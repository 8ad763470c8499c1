"""What references mean, where things are looked for, what memories say of them, and what they are worth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.memory.embedding.interface import Embedder
from kc_vla.memory.embedding.models import shared_embedder
from kc_vla.memory.long_term.errors import GraphError
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.nodes import Area
from kc_vla.memory.long_term.store import Store
from kc_vla.memory.navigation_map import NavigationMap
from kc_vla.memory.references.fits import Fit, fits
from kc_vla.memory.references.likely_places import FLOOR, holders, share, vocabulary
from kc_vla.memory.references.naming import Namer
from kc_vla.memory.references.reference import MOST_LETTERS, Reference, read
from kc_vla.memory.robot.interface import RobotMemoryError, SceneObservation
from kc_vla.memory.robot.robot_memory import NAMES, Budget, RobotMemory, open_robot_memory
from kc_vla.memory.short_term.unit import ObjectState
from kc_vla.memory.things import KnownThing, ObservedThing, known_of, wrong_with
from kc_vla.planning.execution.metrics import retrieval_accuracy
from kc_vla.planning.execution.results import MemoryLookup
from kc_vla.planning.execution.robot import RememberingRobot
from kc_vla.planning.execution.search_places import Search, SearchStop
from kc_vla.planning.grammar.planner import GrammarPlanner
from kc_vla.planning.interface import CallResult, Request
from kc_vla.planning.skills import Call

AREAS = {f"area_{number}": (2.0 * number, 0.0, 0.0) for number in range(4)}
GROUNDS = NavigationMap(
    Area(name, "ground", place, {f"area_{at + step}": 2.0 for step in (-1, 1) if 0 <= at + step < 4}, room)
    for at, ((name, place), room) in enumerate(
        zip(AREAS.items(), ("hall", "kitchen", "kitchen", "bedroom"), strict=True)
    )
)
SIZES = {"Fridge": (0.8, 0.7, 1.8), "CounterTop": (1.2, 0.6, 0.9)}
APPLE = ObservedThing(
    "Apple", "Apple_1", (2.0, 0.5, 1.0), (0.08, 0.08, 0.08), "", {"colour": "red"}, "on", "CounterTop_1", "area_1", True
)


def furniture(name: str, area: int, state: str = "") -> ObservedThing:
    kind = name.split("_")[0]
    size = SIZES.get(kind, (0.5, 0.5, 0.5))
    return ObservedThing(
        kind, name, (2.0 * area, 0.5, size[2] / 2), size, state, {}, "stands", "", f"area_{area}", False
    )


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return shared_embedder()


@pytest.fixture
def long_term(tmp_path: Path) -> Iterator[LongTermMemory]:
    with Store(tmp_path / "memory.db") as store:
        yield LongTermMemory(store)


@pytest.mark.parametrize(
    ("text", "words", "states", "further"),
    [
        ("apple", ("appl",), set(), 0),
        ("the red mug", ("red", "mug"), set(), 0),
        ("the washed apple", ("appl",), {ObjectState.CLEANED}, 0),
        ("a sliced tomato", ("tomato",), {ObjectState.SLICED}, 0),
        ("second mug", ("mug",), set(), 1),
        ("another book", ("book",), set(), 1),
        ("Book#3", ("book",), set(), 2),
        ("CounterTop", ("counter", "top"), set(), 0),
        ("slice of bread", ("bread",), {ObjectState.SLICED}, 0),
        ("the apple that you washed", ("appl",), {ObjectState.CLEANED}, 0),
        ("the mug on the table", ("mug",), set(), 0),
    ],
)
def test_references_are_taken_apart(text: str, words: tuple[str, ...], states: set[ObjectState], further: int) -> None:
    reference = read(text)
    assert reference.words == words
    assert reference.states == states
    assert reference.further == further
    assert not reference.vague


def test_what_points_at_something_or_has_no_name_is_told_apart() -> None:
    assert read("it").pronoun
    assert read("something to drink from").vague
    assert read("an apple").indefinite
    assert read("a piece of cutlery").indefinite
    assert not read("the apple").indefinite
    assert read("the cold apple").also == {"cold"}
    assert read("the mug in the sink").place == "sink"
    assert read("second mug").key == read("the mug").key != read("the clean mug").key


@pytest.mark.parametrize(
    ("text", "called", "states", "also", "place", "done"),
    [
        ("the food that is cold and green", ("green", "food"), set(), {"cold"}, "", False),
        ("supply which is clean and blue", ("blue", "supply"), {ObjectState.CLEANED}, set(), "", False),
        ("the clean, blue cleaning supply", ("blue", "cleaning", "supply"), {ObjectState.CLEANED}, set(), "", False),
        ("the baked good", ("baked", "good"), set(), set(), "", False),
        ("the piece of cookware that is black", ("black", "cookware"), set(), set(), "", False),
        ("a piece of bread", ("bread",), {ObjectState.SLICED}, set(), "", False),
        ("a piece of fruit", ("fruit",), set(), set(), "", False),
        ("the thing you put on the desk before", (), set(), set(), "desk", True),
        ("what you put in the box", (), set(), set(), "box", True),
        ("the item you cooled a while ago", (), set(), {"cold"}, "", True),
        ("something I can eat", (), set(), set(), "", False),
    ],
)
def test_descriptions_and_deeds_are_taken_apart(
    text: str, called: tuple[str, ...], states: set[ObjectState], also: set[str], place: str, done: bool
) -> None:
    reference = read(text)
    assert (reference.called, reference.states, reference.also) == (called, states, also)
    assert (reference.place, reference.done) == (place, done)


@given(st.text(max_size=300))
def test_any_text_is_read_and_nothing_longer_than_allowed_is_kept(text: str) -> None:
    reference = read(text)
    assert len(reference.text) <= MOST_LETTERS
    assert sum(map(len, reference.words)) <= MOST_LETTERS


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("apple", {"Apple"}),
        ("knife", {"Knife"}),
        ("sink", {"SinkBasin"}),
        ("table", {"DiningTable", "CoffeeTable", "SideTable"}),
        ("couch", {"Sofa"}),
        ("trash can", {"GarbageCan"}),
        ("refrigerator", {"Fridge"}),
        ("lamp", {"DeskLamp", "FloorLamp"}),
        ("bottle of soap", {"SoapBottle"}),
        ("coffee mug", {"Mug"}),
        ("phone", {"CellPhone"}),
        ("something to cut with", {"Knife", "ButterKnife"}),
        ("something to drink from", {"Mug", "Cup"}),
        ("crocodile", {"crocodile"}),
    ],
)
def test_names_stand_for_types(text: str, types: set[str], embedder: Embedder) -> None:
    assert set(Namer(embedder).named(read(text), ()).types) == types


def test_a_kind_of_things_is_all_that_wordnet_says_is_one(embedder: Embedder) -> None:
    assert "Apple" in Namer(embedder).named(read("the fruit"), ()).types
    food = Namer(embedder).named(read("a food"), ()).types
    assert {"Apple", "Bread", "Egg"} <= set(food)
    assert not {"Mug", "Book"} & set(food)


def carried(text: str) -> Reference:
    return replace(read(text), carried=True)


@pytest.mark.parametrize(
    ("text", "meant", "other"),
    [
        ("the dish", {"Bowl"}, {"DishSponge"}),
        ("drinking vessel", {"Mug"}, {"SinkBasin", "BathtubBasin"}),
        ("food", {"Apple", "Bread", "Potato"}, {"Fork", "Fridge"}),
        ("something to eat", {"Bread", "Tomato"}, {"Fork", "Plate"}),
        ("something I can clean with", {"Cloth"}, {"GarbageCan", "SinkBasin"}),
        ("the baked good", {"Bread"}, {"Pan"}),
        ("toilet paper roll", {"ToiletPaper"}, {"ToiletPaperHanger"}),
    ],
)
def test_what_is_to_be_carried_is_named_by_kind_or_purpose(
    text: str, meant: set[str], other: set[str], embedder: Embedder
) -> None:
    named = Namer(embedder).named(carried(text), ())
    close = {name for name in named.types if named.close(name, handled=False)}
    assert meant <= close
    assert not other & close


def test_of_a_kind_what_was_handled_and_looks_as_said_comes_first(embedder: Embedder) -> None:
    memories = opened("short", embedder)
    mug = replace(APPLE, object_type="Mug", object_id="Mug_1", attributes={"colour": "green"})
    bowl = replace(APPLE, object_type="Bowl", object_id="Bowl_1", attributes={"colour": "blue"})
    sponge = replace(APPLE, object_type="DishSponge", object_id="DishSponge_1", attributes={"colour": "green"})
    look(memories, 1.0, 1, mug, bowl, sponge, furniture("SinkBasin_1", 1, "off"))
    assert next(each.object_id for each in memories.recall(carried("the dish"))) == "Bowl_1"
    memories.handled(mug, 2.0)
    assert next(each.object_id for each in memories.recall(carried("the dish"))) == "Mug_1"
    assert next(each.object_id for each in memories.recall(carried("the green dish"))) == "Mug_1"
    assert next(each.object_id for each in memories.recall(carried("the dish that is blue"))) == "Bowl_1"
    assert all(each.movable for each in memories.recall(carried("vessel"), loose=True))


def test_any_of_a_kind_is_one_of_it_and_not_what_was_handled(embedder: Embedder) -> None:
    memories = opened("short", embedder)
    bottle = replace(APPLE, object_type="GlassBottle", object_id="GlassBottle_1")
    spoon = replace(APPLE, object_type="Spoon", object_id="Spoon_1")
    look(memories, 1.0, 1, APPLE, bottle, spoon)
    memories.handled(bottle, 2.0)
    for text, meant in (("put a piece of cutlery on the desk", "Spoon_1"), ("put some fruit on the desk", "Apple_1")):
        (picked, _) = GrammarPlanner().plan(Request(text)).calls
        assert [each.object_id for each in memories.recall(carried(picked.arguments[0]))] == [meant]


def test_what_the_robot_did_with_a_thing_tells_which_one_is_meant(embedder: Embedder) -> None:
    memories = opened("short", embedder)
    apple = replace(APPLE, relation="in", container="SinkBasin_1")
    cup = replace(APPLE, object_type="Cup", object_id="Cup_1", state="cleaned")
    look(memories, 1.0, 1, APPLE, cup)
    memories.handled(apple, 2.0)
    look(memories, 3.0, 1, replace(apple, state="cleaned"))
    memories.handled(replace(cup, relation="on", container="Desk_1"), 4.0)
    assert [each.object_id for each in memories.recall(carried("the thing you washed"))] == ["Apple_1"]
    assert [each.object_id for each in memories.recall(carried("what you put on the desk"))] == ["Cup_1"]
    look(memories, 5.0, 1, replace(cup, relation="in", container="Drawer_1"))
    assert [each.object_id for each in memories.recall(carried("the thing you put on the desk before"))] == ["Cup_1"]
    memories.begin()
    assert not memories.recall(carried("the thing you washed"))


def test_what_is_asked_for_has_to_be_so_and_what_is_not_known_may_be(embedder: Embedder) -> None:
    namer = Namer(embedder)
    thing = known_of(replace(APPLE, state="dirty"), 0.0)

    def fit(text: str, what: KnownThing = thing) -> Fit:
        reference = read(text)
        return fits(reference, namer.named(reference, ["Apple"]), what)

    assert fit("the red apple") is Fit.YES
    assert fit("the green apple") is Fit.NO
    assert fit("the dirty apple") is Fit.YES
    assert fit("the clean apple") is Fit.NO
    assert fit("the sliced apple") is Fit.MAYBE
    assert fit("the big apple") is Fit.MAYBE
    assert fit("the tomato") is Fit.NO
    assert fit("the cold apple", replace(thing, attributes={"also": "cold"})) is Fit.YES
    assert fit("the apple on the counter") is Fit.YES
    assert fit("the apple in the fridge") is Fit.MAYBE


def test_shares_of_places_add_up_and_an_unknown_type_is_where_its_kind_is() -> None:
    for name in (*vocabulary(), "Mango", "Crocodile"):
        assert sum(share(name, holder) for holder in (*holders(), FLOOR)) == pytest.approx(1.0)
    assert share("Apple", "CounterTop") > share("Apple", "Fridge") > share("Apple", "Bed")
    assert share("Mango", "Fridge") > share("Mango", "Bed")
    assert share("Crocodile", "Fridge") == share("Crocodile", "Bed")


def test_areas_are_found_by_id_or_room_and_the_nearest_of_a_room() -> None:
    assert GROUNDS.called("area_3", "area_0") == "area_3"
    assert GROUNDS.called("the kitchen", "area_0") == "area_1"
    assert GROUNDS.called("kitchen", "area_3") == "area_2"
    assert GROUNDS.distance("area_0", "area_3") == 6.0
    with pytest.raises(GraphError, match="no area or room 'moon'"):
        GROUNDS.called("moon", "area_0")
    with pytest.raises(GraphError, match="without areas"):
        NavigationMap([])


def opened(name: str, embedder: Embedder, long_term: LongTermMemory | None = None, capacity: int = 20) -> RobotMemory:
    return open_robot_memory(name, embedder, GROUNDS, long_term, capacity=capacity, budget=Budget(400, 60))


def look(memories: RobotMemory, now_s: float, at: int, *seen: ObservedThing) -> None:
    assert memories.observe(SceneObservation(seen, f"area_{at}", now_s)) == []


def test_exploring_goes_where_it_is_likely_and_near_and_nowhere_twice(
    embedder: Embedder, long_term: LongTermMemory
) -> None:
    memories = opened("both", embedder, long_term)
    look(memories, 1.0, 0, furniture("Fridge_1", 1, "closed"), furniture("CounterTop_1", 2), furniture("Bed_1", 3))
    search = Search({"Apple": 1.0}, memories, GROUNDS)
    search.saw("area_0", ())
    order = []
    at = "area_0"
    while (stop := search.next(at, 10.0)) is not None:
        order.append(stop)
        search.done(stop)
        at = stop.area
    assert order[0] == SearchStop("area_2")
    assert order.index(SearchStop("area_1", "Fridge_1")) < order.index(SearchStop("area_3"))
    assert len(set(order)) == len(order) == 4
    assert Search({"Bed": 1.0}, memories, GROUNDS).next("area_0", 10.0) != SearchStop("area_1", "Fridge_1")


def test_a_thing_of_its_own_is_not_what_was_handled_last_and_a_kind_may_be(embedder: Embedder) -> None:
    def handled_may_be(text: str) -> set[str]:
        named = Namer(embedder).named(replace(read(text), carried=True), ())
        return {name for name in ("Book", "Knife", "Vase", "Spoon") if named.close(name, handled=True)}

    assert handled_may_be("the novel") == {"Book"}
    assert "Vase" in handled_may_be("the decoration")
    assert handled_may_be("the utensil") >= {"Knife", "Spoon"}


def test_furniture_is_not_looked_for_inside_of_furniture(embedder: Embedder, long_term: LongTermMemory) -> None:
    memories = opened("both", embedder, long_term)
    look(memories, 1.0, 0, furniture("Fridge_1", 1, "closed"), furniture("KitchenShelving_1", 1))
    search, stops = Search({"KitchenShelving": 1.0}, memories, GROUNDS), []
    while (stop := search.next("area_0", 10.0)) is not None:
        stops.append(stop)
        search.done(stop)
    assert stops
    assert SearchStop("area_1", "Fridge_1") not in stops


@pytest.mark.parametrize("name", ["both", "none"])
def test_what_would_not_open_twice_is_not_looked_into_again(
    name: str, embedder: Embedder, long_term: LongTermMemory
) -> None:
    memories = opened(name, embedder, long_term)
    fridge = furniture("Fridge_1", 1, "closed")
    look(memories, 1.0, 0, fridge)

    def looks_into() -> bool:
        search, stops = Search({"Apple": 1.0}, memories, GROUNDS), set()
        search.saw("", [known_of(fridge, 1.0)])
        while (stop := search.next("area_0", 10.0)) is not None:
            stops.add(stop)
            search.done(stop)
        return SearchStop("area_1", "Fridge_1") in stops

    memories.tried_to_open("Fridge_1", False)
    assert looks_into()
    memories.tried_to_open("Fridge_1", False)
    assert looks_into() == (name == "none")  # it knows of no other instruction
    memories.tried_to_open("Fridge_1", True)
    assert looks_into()


def test_where_was_looked_a_moment_ago_comes_last_and_after_an_hour_no_more(
    embedder: Embedder, long_term: LongTermMemory
) -> None:
    memories = opened("both", embedder, long_term)
    beds = (furniture(f"Bed_{area}", area) for area in (0, 1, 3))
    look(memories, 1.0, 2, furniture("CounterTop_1", 2), *beds)

    def first(now_s: float) -> SearchStop | None:
        return Search({"Apple": 1.0}, memories, GROUNDS).next("area_3", now_s)

    assert first(5.0) != SearchStop("area_2")
    assert first(8000.0) == SearchStop("area_2")


@pytest.mark.parametrize("name", NAMES)
def test_each_memory_recalls_what_it_is_to_and_no_more(
    name: str, embedder: Embedder, long_term: LongTermMemory
) -> None:
    memories = opened(name, embedder, long_term)
    mug = replace(APPLE, object_type="Mug", object_id="Mug_1", attributes={"colour": "white"})
    look(memories, 1.0, 1, furniture("CounterTop_1", 1), APPLE, mug)
    memories.handled(replace(mug, state="cleaned"), 2.0)
    look(memories, 3.0, 1, furniture("CounterTop_1", 1), APPLE, replace(mug, state="cleaned"))
    apple = [each.object_id for each in memories.recall(read("apple"))]
    clean = [each.object_id for each in memories.recall(read("the washed mug"))]
    counter = [each.object_id for each in memories.recall(read("counter"))]
    assert apple == (["Apple_1"] if name in ("both", "long", "short", "history") else [])
    assert clean == (
        ["Mug_1"] if name in ("both", "long", "short", "history") else ["Mug_1"] if name == "context" else []
    )
    assert counter == (["CounterTop_1"] if name in ("both", "long") else [])
    last = memories.last_handled()
    assert (last is not None) == (name in ("both", "short", "history", "context"))
    assert bool(memories.surroundings("apple")) == (name in ("both", "long"))
    assert bool(memories.recalled("apple")) == (name in ("both", "short", "history", "context"))
    memories.begin()
    assert [each.object_id for each in memories.recall(read("apple"))] == (
        ["Apple_1"] if name in ("both", "long") else []
    )


@pytest.mark.parametrize("name", ["both", "long", "short"])
def test_what_is_no_more_so_is_not_remembered_as_so(name: str, embedder: Embedder, long_term: LongTermMemory) -> None:
    memories = opened(name, embedder, long_term)
    look(memories, 1.0, 1, replace(APPLE, state="sliced", attributes={"also": "cold"}))
    look(memories, 9.0, 1, replace(APPLE, relation="floor", container="", attributes={"place": "on the floor"}))
    known = memories.thing("Apple_1")
    assert known is not None
    assert known.states == frozenset()
    assert known.container == ""


@pytest.mark.parametrize("name", ["both", "long", "short", "history"])
def test_what_was_looked_for_and_is_gone_is_believed_in_no_more(
    name: str, embedder: Embedder, long_term: LongTermMemory
) -> None:
    memories = opened(name, embedder, long_term)
    for now_s in range(1, 6):
        look(memories, float(now_s), 1, furniture("CounterTop_1", 1), APPLE)
    for now_s in range(20, 24):
        look(memories, float(now_s), 1, furniture("CounterTop_1", 1))
        memories.refute("Apple_1", SceneObservation((), "area_1", now_s + 0.5))
    assert memories.recall(read("apple")) == []


def test_what_is_shut_in_is_not_taken_for_gone(embedder: Embedder, long_term: LongTermMemory) -> None:
    memories = opened("long", embedder, long_term)
    fridge = furniture("Fridge_1", 1)
    inside = replace(APPLE, position=(2.0, 0.5, 0.6), relation="in", container="Fridge_1")
    look(memories, 1.0, 1, replace(fridge, state="opened"), inside)
    for now_s in range(2, 12):
        look(memories, float(now_s), 1, replace(fridge, state="off", attributes={"also": "closed"}))
    assert [each.container for each in memories.recall(read("apple"))] == ["Fridge_1"]


def test_the_last_handled_is_meant_unless_any_will_do_and_a_list_is_bounded(embedder: Embedder) -> None:
    memories = opened("short", embedder)
    first, second = APPLE, replace(APPLE, object_id="Apple_2", position=(4.0, 0.5, 1.0), area="area_2")
    look(memories, 1.0, 1, first, second)
    memories.handled(first, 2.0)
    memories.handled(second, 3.0)
    assert [each.object_id for each in memories.recall(read("the apple"))] == ["Apple_2", "Apple_1"]
    history = opened("history", embedder)
    for number in range(50):
        look(history, float(number), 1, replace(APPLE, object_id=f"Apple_{number}"))
    assert next(each.object_id for each in history.recall(read("apple"))) == "Apple_49"
    assert len(history.things()) == 10
    assert len(history.recalled("apple").splitlines()) < 10


def test_the_long_term_memory_stays_with_its_home(embedder: Embedder, long_term: LongTermMemory) -> None:
    memories = opened("both", embedder, long_term)
    look(memories, 50.0, 1, APPLE)
    assert opened("both", embedder, long_term).latest_s == 50.0
    other = NavigationMap([Area("room", "ground", (0.0, 0.0, 0.0))])
    with pytest.raises(GraphError, match="other areas"):
        open_robot_memory("long", embedder, other, long_term)
    with pytest.raises(RobotMemoryError, match="needs a long-term memory"):
        opened("long", embedder)


def test_a_map_that_has_no_areas_yet_keeps_what_is_in_it(embedder: Embedder, long_term: LongTermMemory) -> None:
    """As one that was built from bags, or corrected by hand before the robot was first on."""
    mug = long_term.upsert("home", object_type="Mug", position=(2.1, 0.0, 0.8), attributes={"of": "Ada"})
    number = long_term.graph("home").number
    opened("both", embedder, long_term)
    graph = long_term.graph("home")
    assert (graph.objects[mug].attributes, graph.objects[mug].area) == ({"of": "Ada"}, "area_1")
    assert graph.number == number
    assert set(graph.areas) == set(AREAS)
    elsewhere = NavigationMap(
        replace(area, position=(area.position[0] + 30.0, 5.0, 0.0)) for area in GROUNDS.areas.values()
    )
    with pytest.raises(GraphError, match="has other areas than the robot"):
        open_robot_memory("both", embedder, elsewhere, long_term)


class Hand:
    """A body whose looks a test gives."""

    def __init__(self) -> None:
        self.sees: list[ObservedThing] = []
        self.fails = ""
        self.held: str | None = None

    def do(self, call: Call) -> CallResult:
        return CallResult(not self.fails, self.fails, 1.0, 0.0, tuple(self.sees), self.held)

    def look(self) -> list[ObservedThing]:
        return self.sees


def test_what_stands_on_a_table_is_not_in_the_hand(embedder: Embedder) -> None:
    body = Hand()
    robot = RememberingRobot(body, opened("none", embedder), GROUNDS, "area_1")
    body.sees = [APPLE]
    robot.look()
    robot.do("PickupObject", "Apple_1")  # its detector has not noticed yet
    assert robot.held is not None
    body.sees = []
    robot.look()
    assert robot.held is not None  # nobody sees it in the gripper
    erring = [replace(APPLE, relation="on", container="Table_2")]
    body.sees = erring
    robot.do("GoToPlace", "area_1")
    assert robot.held is not None  # one look may err
    body.sees = []
    robot.look()
    body.sees = erring  # a person has taken it
    robot.look()
    assert robot.held is None
    assert "Apple_1 is not in the hand any more" in robot.notes[0]
    assert robot.sight["Apple_1"].container == "Table_2"


def test_what_was_released_while_nobody_saw_it_is_looked_for(embedder: Embedder) -> None:
    """As when perception dies while a thing is put down, and gives it another id afterwards."""
    body = Hand()
    robot = RememberingRobot(body, opened("none", embedder), GROUNDS, "area_1")
    body.sees, body.held = [APPLE], "Apple_1"
    robot.look()
    robot.do("PickupObject", "Apple_1")
    body.sees, body.held, body.fails = [], "", "Apple_1 was released, and is not seen where it was put"
    assert robot.do("PutObject", "Apple_1", "Table_2") == body.fails
    assert robot.held is None
    assert robot.dropped == {"Apple_1"}
    assert "Apple_1" not in robot.sight
    assert robot.notes == ("Apple_1 is not in the hand any more",)
    body.held = None
    robot.do("PickupObject", "Apple_1")
    assert robot.dropped == {"Apple_1"}, "a body that does not say what it holds changes nothing"


def test_a_gripper_that_knows_it_is_empty_is_believed_at_once(embedder: Embedder) -> None:
    body = Hand()
    robot = RememberingRobot(body, opened("none", embedder), GROUNDS, "area_1")
    body.sees = [replace(APPLE, relation="held")]
    robot.look()
    assert robot.held is not None
    body.sees = [replace(APPLE, relation="dropped")]
    robot.look()
    assert robot.held is None
    assert "Apple_1" not in robot.sight  # nobody knows where it lies
    assert robot.notes == ("Apple_1 fell out of the hand",)


def test_a_detection_that_cannot_be_is_told() -> None:
    assert wrong_with(APPLE) == ""
    assert "200 letters" in wrong_with(replace(APPLE, object_id="x" * 201))
    assert "control characters" in wrong_with(replace(APPLE, attributes={"colour": "red\n{name: node_9}"}))
    assert "no number" in wrong_with(replace(APPLE, position=(float("nan"), 0.0, 0.0)))
    assert "without a type" in wrong_with(replace(APPLE, object_type=" "))


def test_recalls_count_where_the_memory_could_know() -> None:
    recalls = [
        MemoryLookup("apple", ("Apple_2", "Apple_1"), "Apple_2", 0),
        MemoryLookup("mug", (), "", 3),
        MemoryLookup("pot", (), "", 1),
    ]
    meant = {"apple": ["Apple_1"], "mug": ["Mug_1"], "pot": ["Pot_1"]}
    first = retrieval_accuracy(recalls, lambda name: meant[name], {"Apple_1", "Mug_1"})
    assert (first.value, first.whole, first.left_out) == (0.0, 2, 1)
    assert retrieval_accuracy(recalls, lambda name: meant[name], {"Apple_1", "Mug_1"}, first=3).value == 0.5
