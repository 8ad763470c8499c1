"""A scene graph as detections come: no ghosts, what is moved or gone, and the word of a person."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.memory.long_term.building import Observed
from kc_vla.memory.long_term.detections import Detection, FusionSettings, upright_size
from kc_vla.memory.long_term.errors import GraphError
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.nodes import MOST_TEXT, SceneObject, Vector
from kc_vla.memory.long_term.store import Store
from kc_vla.memory.long_term.views import BoxView, CameraView

ALL = BoxView((-50.0, -50.0, -5.0), (50.0, 50.0, 5.0))
MUG = (0.09, 0.09, 0.1)


class Home:
    """One map, and a clock that goes on with every look."""

    def __init__(self, folder: Path, settings: FusionSettings | None = None) -> None:
        self.memory = LongTermMemory(Store(folder / "memory.db"), settings)
        self.now = 0

    def look(self, *seen: Detection, view: BoxView | CameraView | None = ALL) -> Observed:
        self.now += 10**9
        return self.memory.observe("home", seen, self.now, view)

    @property
    def objects(self) -> list[SceneObject]:
        return self.memory.objects("home")

    def only(self) -> SceneObject:
        (one,) = self.objects
        return one


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def mug(x: float, y: float = 0.0, z: float = 0.8, **more: object) -> Detection:
    return Detection("mug", (x, y, z), MUG, **more)  # type: ignore[arg-type]


def table(x: float, y: float = 0.0, **more: object) -> Detection:
    return Detection("table", (x, y, 0.375), (1.6, 0.8, 0.75), **more)  # type: ignore[arg-type]


def embedding(*values: float) -> bytes:
    return np.array(values, np.float32).tobytes()


@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_noisy_looks_at_a_scene_make_no_ghosts(tmp_path_factory: pytest.TempPathFactory, seed: int, count: int) -> None:
    """Whatever stands at least 40 cm apart, seen with 3 cm of noise, in any order, not each time all of it."""
    chance = np.random.default_rng(seed)
    home = Home(tmp_path_factory.mktemp("home"))
    truth = [(0.5 * (n % 4), 0.5 * (n // 4), 0.8) for n in range(count)]
    types = ["mug" if chance.random() < 0.7 else "bowl" for _ in truth]
    for look in range(12):
        seen = []
        for place, kind in zip(truth, types, strict=True):
            if look in (0, 1, 11) or chance.random() < 0.8:
                x, y, z = np.clip(chance.normal(place, 0.03), np.array(place) - 0.09, np.array(place) + 0.09)
                size = tuple(float(each) for each in np.array(MUG) * chance.uniform(0.8, 1.2, 3))
                seen.append(Detection(kind, (float(x), float(y), float(z)), size, 0.8))
        chance.shuffle(seen)  # type: ignore[arg-type]
        home.look(*seen)
    assert sorted(each.object_type for each in home.objects) == sorted(types)
    for each in home.objects:
        assert min(math.dist(each.position, place) for place in truth) < 0.16  # the most noise


def test_many_looks_at_furniture_find_its_middle_and_its_size(home: Home) -> None:
    chance = np.random.default_rng(1)
    for _ in range(60):
        x, y, z = chance.normal((2.0, 1.0, 0.375), 0.1)
        home.look(Detection("table", (float(x), float(y), float(z)), (1.6 + float(chance.normal(0, 0.1)), 0.8, 0.75)))
    assert home.only().position == pytest.approx((2.0, 1.0, 0.375), abs=0.06)
    assert home.only().size == pytest.approx((1.6, 0.8, 0.75), abs=0.06)
    assert (home.only().first_seen_ns, home.only().last_seen_ns, home.only().sightings) == (10**9, 60 * 10**9, 60)


def test_two_boxes_around_one_thing_are_one_thing(home: Home) -> None:
    home.look(mug(0.0), mug(0.01, confidence=0.5))
    assert home.only().position == (0.0, 0.0, 0.8)


def test_things_of_one_class_side_by_side_stay_two(home: Home) -> None:
    for _ in range(5):
        home.look(mug(0.0), mug(0.12))
    assert len(home.objects) == 2
    home.look(mug(0.02), mug(0.13), mug(0.25))  # a third one comes, and takes nobody's place
    assert [round(each.position[0], 1) for each in home.objects] == [0.0, 0.1, 0.2]


def test_looks_tell_things_of_one_class_apart(home: Home) -> None:
    home.look(mug(0.0, embedding=embedding(1, 0)))
    home.look(mug(0.05, embedding=embedding(0, 1)), view=None)
    assert len(home.objects) == 2


def test_a_detector_that_changes_its_mind_about_the_class_makes_no_second_object(home: Home) -> None:
    home.look(mug(0.0, embedding=embedding(1, 0.1)))
    home.look(Detection("cup", (0.01, 0.0, 0.8), MUG, embedding=embedding(1, 0.12)))
    assert home.only().object_type == "mug"


def test_a_name_of_the_detector_finds_the_thing_wherever_it_is(tmp_path: Path) -> None:
    home = Home(tmp_path / "one")
    home.look(mug(0.0, source_id="m"), view=None)
    told = home.look(mug(7.0, source_id="m"), view=None)
    assert home.only().position == (7.0, 0.0, 0.8)
    assert told.moved == [home.only().id]
    home = Home(tmp_path / "other", FusionSettings(trust_source_ids=False))
    home.look(mug(0.0, source_id="0"), view=None)
    home.look(mug(7.0, source_id="0"), view=None)
    assert len(home.objects) == 2


def test_what_was_carried_elsewhere_in_view_is_the_same_thing(home: Home) -> None:
    home.look(mug(0.0, attributes={"of": "Ada"}))
    told = home.look(mug(3.0))
    assert told.moved == [home.only().id]
    assert home.only().position == (3.0, 0.0, 0.8)
    assert home.only().attributes == {"of": "Ada"}


def test_furniture_is_not_carried(home: Home) -> None:
    home.look(table(0.0))
    home.look(table(5.0))
    assert len(home.objects) == 2


def test_what_is_looked_for_and_not_seen_fades_and_goes(home: Home) -> None:
    for _ in range(4):
        home.look(mug(0.0))
    sure = home.only().confidence
    assert sure > 0.9
    told = home.look()
    assert told.missed == [home.only().id]
    assert home.only().confidence < sure
    looks = 1
    while not told.gone:
        told = home.look()
        looks += 1
    assert looks == 5
    assert home.objects == []


def test_a_single_error_of_a_detector_goes_sooner(home: Home) -> None:
    home.look(mug(0.0, confidence=0.9))
    looks = [home.look() for _ in range(3)]
    assert [bool(told.gone) for told in looks] == [False, False, True]


def test_what_was_not_in_view_stays(home: Home) -> None:
    home.look(mug(0.0))
    before = home.only()
    home.look(view=None)
    home.look(view=BoxView((1.0, -1.0, 0.0), (3.0, 1.0, 2.0)))
    home.look(view=BoxView((0.0, -1.0, 0.0), (3.0, 1.0, 2.0)))  # half of it is outside
    assert home.only() == before


CAMERA = np.array([[100.0, 0, 80], [0, 100, 60], [0, 0, 1]])
AHEAD = np.array([[0.0, 0, 1], [-1, 0, 0], [0, -1, 0]])
"""Of a camera that looks along x of the map."""


@pytest.mark.parametrize(
    ("place", "depth_m", "seen"),
    [
        ((2.0, 0.0, 1.0), None, True),
        ((2.0, 0.0, 1.0), 3.0, True),
        ((2.0, 0.0, 1.0), 1.0, False),  # behind something
        ((2.0, 0.0, 1.0), float("nan"), False),
        ((-2.0, 0.0, 1.0), None, False),  # behind the camera
        ((2.0, 3.0, 1.0), None, False),
        ((9.0, 0.0, 1.0), None, False),
    ],
)
def test_a_camera_misses_only_what_it_would_have_seen(
    home: Home, place: Vector, depth_m: float | None, seen: bool
) -> None:
    home.look(Detection("mug", place, MUG))
    depth = None if depth_m is None else np.full((120, 160), depth_m, np.float32)
    told = home.look(view=CameraView((0.0, 0.0, 1.0), AHEAD, CAMERA, (160, 120), depth_m=depth))
    assert bool(told.missed) == seen


def test_a_message_that_comes_twice_or_too_late_changes_nothing(home: Home) -> None:
    home.look(mug(0.0))
    home.look(mug(0.02))
    before = home.only()
    assert home.memory.observe("home", [mug(0.1)], home.now, ALL).new == []
    assert home.memory.observe("home", [mug(0.1)], home.now - 10**9, ALL).new == []
    assert home.memory.observe("home", [], home.now, ALL).missed == []
    assert home.only() == before


def test_things_are_on_and_in_others_and_let_go_when_those_are_gone(home: Home) -> None:
    fridge = Detection("fridge", (3.0, 0.0, 0.9), (0.7, 0.7, 1.8))
    seen = [mug(0.2), table(0.0), fridge, Detection("milk", (3.0, 0.1, 1.0), MUG)]
    home.look(*seen)
    by_type = {each.object_type: each for each in home.objects}
    assert (by_type["mug"].placed, by_type["mug"].holder) == ("on", by_type["table"].id)
    assert (by_type["milk"].placed, by_type["milk"].holder) == ("in", by_type["fridge"].id)
    assert by_type["table"].placed == ""
    home.look(seen[0], fridge, seen[3])
    while any(each.object_type == "table" for each in home.objects):
        home.look(seen[0], fridge, seen[3])
    assert {each.object_type: each.placed for each in home.objects} == {"mug": "", "fridge": "", "milk": "in"}


def test_what_is_in_something_closed_is_not_missed(home: Home) -> None:
    for state, missed in (("closed", []), ("opened", ["milk"])):
        fridge = Detection("fridge", (3.0, 0.0, 0.9), (0.7, 0.7, 1.8), state=state)
        home.look(fridge, Detection("milk", (3.0, 0.1, 1.0), MUG))
        told = home.look(fridge)
        assert [home.memory.graph("home").object(name).object_type for name in told.missed] == missed


def test_what_is_seen_before_its_table_stands_on_it_later(home: Home) -> None:
    home.look(mug(0.2))
    home.look(table(0.0), view=None)
    assert {each.object_type: each.placed for each in home.objects} == {"mug": "on", "table": ""}


def test_two_objects_that_come_to_the_same_place_are_one(home: Home) -> None:
    home.look(mug(0.0, source_id="a"), view=None)
    home.look(mug(0.6, source_id="b"), view=None)
    told = home.look(mug(0.6, source_id="a"), view=None)
    assert told.merged
    assert home.only().first_seen_ns == 10**9


def test_a_person_is_not_overruled_and_is_told(home: Home) -> None:
    home.look(mug(0.0, state="clean"))
    name = home.only().id
    home.memory.edit("home", name, object_type="cup", state="dirty", position=(0.3, 0.0, 0.8))
    told = home.look(mug(0.02, state="clean"))
    assert {each.field for each in told.disputes} == {"state", "confidence"} or told.new
    corrected = home.memory.graph("home").object(name)
    assert (corrected.object_type, corrected.state, corrected.position) == ("cup", "dirty", (0.3, 0.0, 0.8))
    told = home.look(Detection("cup", (0.1, 0.0, 0.8), MUG, state="clean"))
    assert {(each.object_id, each.field) for each in told.disputes} >= {(name, "state"), (name, "position")}
    for _ in range(10):
        told = home.look()
    assert (name, "confidence") in {(each.object_id, each.field) for each in told.disputes}
    assert home.memory.graph("home").object(name).state == "dirty"
    home.memory.release("home", name)
    for _ in range(10):
        home.look()
    assert home.objects == []


def test_what_a_person_has_set_stays_however_little_it_was_believed(home: Home) -> None:
    home.look(mug(0.0, confidence=0.15))
    home.memory.edit("home", home.only().id, state="dirty")
    told = home.look()
    assert told.gone == []
    assert home.only().state == "dirty"


def test_what_a_person_forgot_does_not_come_back_by_the_same_error(home: Home) -> None:
    home.look(mug(0.0))
    home.memory.forget("home", home.only().id)
    for _ in range(5):
        told = home.look(mug(0.01))
        assert home.objects == []
    assert "forgotten" in {each.by_hand for each in told.disputes}
    for _ in range(6):
        home.look()  # the detector agrees
    home.look(mug(0.0))
    assert home.only().object_type == "mug"


def test_a_person_can_put_in_what_nobody_has_seen(home: Home) -> None:
    name = home.memory.upsert("home", object_type="key", position=[1.0, 0.0, 0.8], attributes={"of": "the shed"})
    for _ in range(9):
        home.look()
    assert home.only().id == name
    home.memory.upsert("home", name, state="used up")
    assert (home.only().state, home.only().confidence) == ("used up", 1.0)
    holder = home.memory.upsert("home", object_type="drawer", position=(5.0, 0.0, 0.5), size=(0.4, 0.4, 0.2))
    home.memory.edit("home", name, placed="in", holder=holder)
    home.look(Detection("key", (1.0, 0.0, 0.8)))
    assert home.memory.graph("home").object(name).holder == holder


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"colour": "red"}, "'colour' cannot be set"),
        ({"name": "Joe"}, "an object has no name"),
        ({}, "nothing is said of"),
        ({"position": (0.0, math.nan, 0.0)}, "position is nan"),
        ({"position": "here"}, "position is 'here'"),
        ({"size": (1.0, 1.0, -1.0)}, "between 0 and 100"),
        ({"state": "x" * 10**6}, "has 1000000 letters: 200 are the most"),
        ({"attributes": {"note": "x" * 10**6}}, f"has 1000000 letters: {MOST_TEXT} are the most"),
        ({"attributes": {str(n): "" for n in range(65)}}, "65 attributes"),
        ({"state": "half \ud800"}, "half a letter"),
        ({"holder": "mug_9"}, "holder and placed are set together"),
        ({"holder": "mug_9", "placed": "on"}, "there is no object 'mug_9'"),
        ({"confidence": 2.0}, "between 0 and 1"),
    ],
)
def test_what_cannot_be_is_refused_in_a_line_and_changes_nothing(home: Home, values: dict, word: str) -> None:
    home.look(mug(0.0))
    before = home.only()
    with pytest.raises(GraphError, match=word) as refused:
        home.memory.edit("home", before.id, **values)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 300
    assert home.only() == before


@pytest.mark.parametrize("field", ["object_type", "state", "source_id", "attributes"])
def test_a_detection_with_text_without_end_is_refused_in_a_line(field: str) -> None:
    text = "x\n" * 10**6
    with pytest.raises(GraphError) as refused:
        replace(mug(0.0), **{field: {"note": text} if field == "attributes" else text})  # type: ignore[arg-type]
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 300


def test_a_map_that_is_full_takes_no_more_and_says_so(tmp_path: Path) -> None:
    home = Home(tmp_path, FusionSettings(most_objects=3))
    told = home.look(*(mug(float(n)) for n in range(5)))
    assert (len(home.objects), told.left_out) == (3, 2)
    with pytest.raises(GraphError, match="holds 3 objects"):
        home.memory.upsert("home", object_type="key", position=(0.0, 0.0, 0.0))


def test_a_turned_box_is_as_large_as_what_holds_it_upright() -> None:
    quarter = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    assert upright_size(quarter, (1.0, 2.0, 3.0)) == (2.0, 1.0, 3.0)


@given(st.lists(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=4), max_size=10))
def test_after_any_looks_the_graph_hangs_together(
    tmp_path_factory: pytest.TempPathFactory, looks: Sequence[Sequence[tuple[int, int]]]
) -> None:
    """No holder that is not there, nothing in itself, no id twice, each edge said by a node; so says the store."""
    folder = tmp_path_factory.mktemp("home")
    home = Home(folder)
    for look in looks:
        seen = [replace(mug(0.2 * x), size=(0.1 + 0.1 * s,) * 3, source_id=str(s)) for x, s in look]
        home.look(*seen)
        graph = home.memory.graph("home")
        assert set(graph.network) == set(graph.objects)
        edges = {(each.id, each.holder) for each in graph.objects.values() if each.holder}
        assert set(graph.network.edges) == edges
        assert all(one != other for one, other in edges)
    with Store(folder / "memory.db", read_only=True) as store:
        assert store.load("home").objects == home.memory.graph("home").objects


def test_a_persons_word_does_not_go_over_to_another_thing_that_the_detector_knows_apart(tmp_path: Path) -> None:
    home = Home(tmp_path)
    first = Detection("mug", (0.0, 0.0, 1.0), MUG, source_id="mug-1")
    (name,) = home.look(first).new
    home.memory.edit("home", name, attributes={"of": "Ada"})
    other = Detection("mug", (0.25, 0.0, 1.0), MUG, source_id="mug-2")
    told = home.look(other, view=None)
    assert told.new
    assert home.memory.graph("home").object(name).source_id == "mug-1"
    home.look(first, other, view=None)
    assert sorted(each.attributes.get("of", "") for each in home.objects) == ["", "Ada"]


def test_a_thing_that_a_person_has_edited_and_that_the_detector_renames_in_its_place_is_one(tmp_path: Path) -> None:
    home = Home(tmp_path)
    (name,) = home.look(Detection("mug", (0.0, 0.0, 1.0), MUG, source_id="track_1")).new
    home.memory.edit("home", name, attributes={"of": "Ada"})
    home.look(Detection("mug", (0.0, 0.01, 1.0), MUG, source_id="track_2"))
    assert (home.only().id, home.only().attributes) == (name, {"of": "Ada"})


def test_a_tracker_that_knows_better_what_an_object_is_changes_its_class(home: Home) -> None:
    home.look(mug(0.0, source_id="cup_1"))
    cup = Detection("cup", (0.02, 0.0, 0.8), MUG, source_id="cup_1")
    home.look(cup)
    assert (home.only().object_type, home.only().source_id) == ("cup", "cup_1")
    home.look(Detection("cup", (4.0, 0.0, 0.8), MUG, source_id="cup_1"), view=None)
    assert home.only().object_type == "cup"
    home.look(mug(0.0, source_id="cup_1"), view=None)  # elsewhere, and something else: another object
    assert {each.object_type for each in home.objects} == {"cup", "mug"}
