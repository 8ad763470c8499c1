"""Which object is which over many views: ids, states, hands that cover things, errors and lies of a detector."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from box_scene import FRAME_NS, Camera, Thing, cast, looking, off, on_table
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried

from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.containment import Containment
from kc_vla.perception.image_detection import ImageDetection
from kc_vla.perception.localization import Localizer, LocalizerSettings
from kc_vla.perception.located_object import LocatedObject
from kc_vla.perception.track import ObjectTrack
from kc_vla.perception.tracking import Tracked, Tracker
from kc_vla.perception.tracks import TrackerSettings

MUG, CAN, PLATE = (0.08, 0.08, 0.1), (0.065, 0.065, 0.12), (0.18, 0.18, 0.03)
KINDS = [("mug", MUG, True), ("can", CAN, True), ("carton", (0.06, 0.1, 0.06), False), ("plate", PLATE, True)]
SEEDS = st.integers(0, 10_000)
NEAR_M = 0.05


@dataclass
class Room:
    """A robot that looks at a table through some cameras."""

    cameras: Sequence[Camera] = field(default_factory=lambda: [Camera()])
    tracker: Tracker = field(default_factory=Tracker)
    localizer: Localizer = field(default_factory=Localizer)
    now_ns: int = 10**12
    reported: dict[str, LocatedObject] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)

    def look(self, *things: Thing, camera: int = 0, lies: Sequence[ImageDetection] | None = None) -> Tracked:
        """Take one image, of which a detector may say something else."""
        self.now_ns += FRAME_NS
        self.cameras[camera].at_ns = self.now_ns
        frame, found = self.cameras[camera].take(things)
        located = self.localizer.locate(frame, found if lies is None else [*found, *lies])
        tracked = self.tracker.update(located.frame, located.objects)
        self.reported |= {each.object_id: each for each in tracked.objects}
        self.gone += tracked.gone
        return tracked

    def looks(self, count: int, *things: Thing) -> Tracked:
        """Take some images and return what the last one shows."""
        for _ in range(count):
            tracked = self.look(*things)
        return tracked


def ids(tracked: Tracked) -> dict[str, LocatedObject]:
    return {each.object_id: each for each in tracked.objects}


def drawn(random: np.random.Generator, count: int) -> list[Thing]:
    """Return things that stand apart on the table."""
    things: list[Thing] = []
    while len(things) < count:
        kind, size, round_ = KINDS[random.integers(len(KINDS))]
        x, y = random.uniform(-0.25, 0.2), random.uniform(-0.25, 0.25)
        if all(math.dist((x, y), each.position[:2]) > 0.7 * (max(size[:2]) + max(each.size[:2])) for each in things):
            color = str(random.choice(["red", "blue", "green"]))
            things.append(on_table(kind, x, y, size, round=round_, color=color))
    return things


def wandering(random: np.random.Generator, **errors: float) -> list[Camera]:
    eyes = [(random.uniform(0.35, 0.6), random.uniform(-0.4, 0.4), random.uniform(0.45, 0.8)) for _ in range(3)]
    return [Camera(looking(eye), f"camera {at}", random, **errors) for at, eye in enumerate(eyes)]  # type: ignore[arg-type]


@tried(10, 150)
@given(SEEDS, st.booleans())
def test_ids_stay_over_views_of_several_cameras_with_errors(seed: int, with_depth: bool) -> None:
    """A tenth of the things is missed and a tenth of the looks shows something that is not there."""
    random = np.random.default_rng(seed)
    room = Room(wandering(random, noise=0.003, unknown=0.05, missed=0.1, false=0.1))
    for camera in room.cameras:
        camera.with_depth = with_depth
    things = drawn(random, 5)
    of: dict[str, int] = {}
    strays = 0
    for _ in range(45):
        for each in room.look(*things, camera=int(random.integers(3))).objects:
            nearest = min(range(len(things)), key=lambda at: off(things[at].position, each.position))
            if off(things[nearest].position, each.position) > NEAR_M:
                strays += 1  # two errors at one place in a row, or what little can be seen of something
                continue
            assert of.setdefault(each.object_id, nearest) == nearest
            assert each.object_type == things[nearest].kind
    assert len(set(of.values())) == len(of) == len(things)
    assert not set(room.gone) & set(of)
    assert strays <= 5


@tried(10, 150)
@given(SEEDS)
def test_a_place_gets_better_with_each_look(seed: int) -> None:
    random = np.random.default_rng(seed)
    room = Room([Camera(random=random, noise=0.01, unknown=0.2)])
    thing = on_table("carton", random.uniform(-0.2, 0.2), random.uniform(-0.2, 0.2), (0.08, 0.08, 0.08))
    last = room.looks(30, thing).objects[0]
    assert off(last.position, thing.position) < 0.015
    assert last.sigma_m < 0.004


@tried(8, 100)
@given(SEEDS)
def test_no_error_of_a_single_look_is_believed_and_no_ghost_survives(seed: int) -> None:
    """The detector invents something in three images of ten, anywhere."""
    random = np.random.default_rng(seed)
    room = Room([Camera(random=random, noise=0.003, false=0.3)])
    thing = on_table("can", 0.0, 0.0, CAN, round=True)
    for _ in range(40):
        room.look(thing)
    room.cameras[0].false = 0.0
    room.looks(10, thing)
    assert set(room.reported) - set(room.gone) == {"can_1"}
    assert set(ids(room.look(thing))) == {"can_1"}


def test_one_look_is_enough_for_what_is_very_sure() -> None:
    thing = on_table("mug", 0.0, 0.0, MUG)
    frame, (found,) = Camera().take([thing])
    for confidence, count in ((0.99, 1), (0.9, 0)):
        located = Localizer().locate(frame, [replace(found, confidence=confidence)])
        assert len(Tracker().update(located.frame, located.objects).objects) == count


@tried(10, 100)
@given(SEEDS, st.booleans())
def test_what_a_hand_covers_keeps_its_id_and_is_not_gone(seed: int, with_depth: bool) -> None:
    random = np.random.default_rng(seed)
    room = Room([Camera(random=random, noise=0.003, with_depth=with_depth)])
    things = drawn(random, 3)
    before = set(ids(room.looks(4, *things)))
    assert len(before) == 3
    eye = room.cameras[0].pose[:3, 3]
    middle = np.array(things[0].position)
    x, y, z = (float(value) for value in middle + 0.4 * (eye - middle))
    hand = Thing("hand", (x, y, z), (0.16, 0.16, 0.12), seen=not with_depth)  # without depth it has to be known
    for _ in range(25):
        assert room.look(*things, hand).gone == []
    assert set(ids(room.looks(2, *things))) - {"hand_1"} == before


def test_what_is_out_of_view_or_behind_a_wall_stays() -> None:
    eye = looking((0.5, 0.0, 0.6))
    away = looking((0.5, 0.0, 0.6), (2.0, 0.0, 0.0))
    room = Room([Camera(eye), Camera(away)])
    thing = on_table("mug", 0.0, 0.0, MUG)
    room.looks(3, thing)
    wall = Thing("wall", (0.25, 0.0, 0.3), (0.02, 1.0, 0.6), seen=False)
    for _ in range(20):
        assert room.look(thing, camera=1).gone == []
        assert room.look(thing, wall).gone == []
    assert set(ids(room.look(thing))) == {"mug_1"}


@tried(10, 100)
@given(SEEDS, st.sampled_from(range(len(KINDS))), st.booleans())
def test_what_is_taken_away_is_gone_within_some_looks_and_once(seed: int, kind: int, with_depth: bool) -> None:
    random = np.random.default_rng(seed)
    room = Room([Camera(random=random, noise=0.003, with_depth=with_depth)])
    name, size, round_ = KINDS[kind]
    thing, other = on_table(name, 0.0, -0.12, size, round=round_), on_table("box", 0.0, 0.15, (0.1, 0.1, 0.1))
    room.looks(5, thing, other)
    for _ in range(12):
        room.look(other)
    assert room.gone == [f"{name}_1"]


def test_a_detector_that_does_not_see_what_depth_shows_makes_nothing_gone() -> None:
    room = Room()
    thing = on_table("mug", 0.0, 0.0, MUG)
    room.looks(3, thing)
    for _ in range(30):
        assert room.look(replace(thing, seen=False)).gone == []
    assert set(ids(room.look(thing))) == {"mug_1"}


@tried(10, 100)
@given(SEEDS)
def test_what_is_put_elsewhere_keeps_its_id_at_once_and_equal_ones_do_not_swap(seed: int) -> None:
    random = np.random.default_rng(seed)
    room = Room([Camera(random=random, noise=0.003)])
    moving, equal = on_table("mug", -0.1, -0.15, MUG, color="red"), on_table("mug", -0.1, 0.15, MUG, color="red")
    green = on_table("mug", 0.2, 0.0, MUG, color="green")
    room.looks(4, moving, equal, green)
    name = min(room.reported, key=lambda each: off(room.reported[each].position, moving.position))
    for _ in range(4):
        before = moving
        moving = moving.at(random.uniform(-0.2, 0.05), random.uniform(-0.2, 0.0))
        after = room.look(moving, equal, green)
        if off(before.position, moving.position) < 0.2:  # so near it can hide its old place, or be an error
            after = room.look(moving, equal, green)
        assert off(ids(after)[name].position, moving.position) < 0.03
        room.looks(2, moving, equal, green)
    assert len(room.reported) == 3
    assert room.gone == []


def test_what_is_carried_in_view_is_followed_and_what_comes_back_is_the_same() -> None:
    room = Room()
    thing = on_table("mug", -0.2, -0.2, MUG)
    room.looks(3, thing)
    for step in range(20):
        thing = thing.at(-0.2 + 0.02 * step, -0.2 + 0.02 * step, 0.05 + 0.01 * min(step, 10))
        (found,) = room.look(thing).objects
    assert found.object_id == "mug_1"
    assert off(found.position, thing.position) < 0.03
    room.looks(8)
    assert room.gone == ["mug_1"]
    assert set(ids(room.looks(3, thing.at(-0.1, 0.2, 0.05)))) == {"mug_1"}
    other = on_table("mug", -0.1, -0.2, MUG)
    assert set(ids(room.looks(3, thing.at(-0.1, 0.2, 0.05), other))) == {"mug_1", "mug_2"}


def test_a_state_is_reported_after_two_or_three_looks_and_not_for_one_error() -> None:
    room = Room()
    off_, on = (on_table("stove", 0.0, 0.0, (0.2, 0.2, 0.1), state=each) for each in ("off", "on"))
    assert room.looks(10, off_).objects[0].state == "off"
    assert room.looks(1, on).objects[0].state == "off"
    assert room.looks(3, off_).objects[0].state == "off"
    states = [room.looks(1, on).objects[0].state for _ in range(3)]
    assert states[0] == "off"
    assert states[2] == "on"


def test_a_class_that_is_confused_now_and_then_changes_neither_type_nor_id() -> None:
    room = Room()
    mug = on_table("mug", 0.0, 0.0, MUG)
    for number in range(30):
        room.look(replace(mug, kind="cup") if number % 4 == 3 else mug)
    assert {(name, each.object_type) for name, each in room.reported.items()} == {("mug_1", "mug")}


def test_a_second_box_of_the_same_thing_is_no_second_object() -> None:
    room = Room()
    mug = on_table("mug", 0.0, 0.0, MUG)
    for _ in range(6):
        _, (seen,) = Camera().take([mug])
        room.look(mug, lies=[replace(seen, object_type="cup", confidence=0.5)])
    assert set(room.reported) == {"mug_1"}


def test_an_object_that_jumps_for_one_look_is_where_it_was() -> None:
    """A detector says once that it is half a meter away, and once that it is 4 cm beside."""
    room = Room()
    mug = on_table("mug", 0.0, 0.0, MUG)
    room.looks(5, mug)
    for jump in ((0.0, 0.25), (0.04, 0.0)):
        shown = cast([mug], room.cameras[0].pose)
        _, (lie,) = Camera().take([mug.at(*jump)])
        assert shown.box(0) is not None
        hidden = replace(mug, seen=False)
        for each in room.look(hidden, lies=[lie]).objects:
            assert off(each.position, mug.position) < 0.02
        (after,) = room.look(mug).objects
        assert off(after.position, mug.position) < 0.02
    assert set(room.reported) == {"mug_1"}
    assert room.gone == []


def test_a_lie_that_lasts_is_corrected_when_it_ends() -> None:
    room = Room()
    mug = on_table("mug", 0.0, 0.0, MUG)
    room.looks(5, mug)
    through = ImageDetection("mug", Camera().take([mug])[1][0].box, 0.9, position=(0.0, 0.0, 1.4))
    for _ in range(5):
        room.look(replace(mug, seen=False), lies=[through])
    assert set(room.reported) == {"mug_1"}
    beside = ImageDetection("mug", Camera().take([mug.at(0.0, 0.2)])[1][0].box, 0.9, position=None, size=MUG)
    beside = replace(beside, position=tuple(_inside(room, (0.0, 0.1, 0.15))))
    for _ in range(5):
        room.look(mug, lies=[beside])
    room.looks(6, mug)
    assert set(ids(room.look(mug))) == {"mug_1"}
    assert set(room.gone) == set(room.reported) - {"mug_1"}


def _inside(room: Room, place: tuple[float, float, float]) -> np.ndarray:
    pose = room.cameras[0].pose
    return np.asarray((np.array(place) - pose[:3, 3]) @ pose[:3, :3])


def test_a_flood_leaves_a_bounded_number_of_tracks_and_one_line() -> None:
    """A thousand boxes in each image, everywhere, at places that the detector itself gives."""
    random = np.random.default_rng(0)
    room = Room(
        tracker=Tracker(TrackerSettings(most_tracks=300)),
        localizer=Localizer(LocalizerSettings(lowest_m=None, most_detections=1000)),
    )
    mug = on_table("mug", 0.0, 0.0, MUG)
    room.looks(3, mug)
    _, (seen,) = Camera().take([mug])
    for _ in range(4):
        places = random.uniform((-0.4, -0.4, 0.4), (0.4, 0.4, 1.2), (1000, 3))
        flood = [replace(seen, confidence=0.5, position=(x, y, z)) for x, y, z in places.tolist()]
        tracked = room.look(mug, lies=flood)
        assert len(tracked.refused) == 1
        assert "300 objects are tracked" in tracked.refused[0]
    assert len(room.tracker._tracks.known) + len(room.tracker._tracks.doubted) <= 300
    room.looks(4, mug)
    assert "mug_1" in ids(room.look(mug))


def test_a_trusted_detector_names_its_objects_and_another_one_does_not() -> None:
    mug = on_table("mug", 0.0, 0.0, MUG)
    for trusted, names in ((True, {"cup of Ann"}), (False, {"mug_1"})):
        room = Room(tracker=Tracker(TrackerSettings(trust_ids=trusted)))
        for number in range(6):
            place = mug.at(0.2 * (number // 3), 0.0)
            _, (seen,) = Camera().take([place])
            tracked = room.look(replace(place, seen=False), lies=[replace(seen, object_id="cup of Ann")])
        assert set(ids(tracked)) == names


def test_ids_go_on_counting_where_time_begins_anew() -> None:
    room = Room()
    mug = on_table("mug", 0.0, 0.0, MUG)
    room.looks(3, mug)
    room.now_ns = 10**9
    assert set(ids(room.looks(3, mug))) == {"mug_2"}


def test_a_state_is_one_of_what_the_object_is_and_one_wrong_look_gives_none() -> None:
    box = PixelBox(0, 0, 9, 9)
    orange = LocatedObject("orange", (0.1, 0.0, 0.04), MUG, 0.8, 0.01, box)
    track = ObjectTrack(orange, 0)
    for number in range(12):  # one of four looks takes it for a bowl of something
        seen = replace(orange, object_type="bowl", state="filled") if number % 4 == 3 else orange
        track.see(seen, number * FRAME_NS)
    assert (track.reported().object_type, track.reported().state) == ("orange", "")
    cup = ObjectTrack(replace(orange, object_type="cup"), 0)
    for number in range(8):
        cup.see(replace(orange, object_type="cup", state="filled" if number == 3 else ""), number * FRAME_NS)
    assert cup.state == ""
    for number in range(3):
        cup.see(replace(orange, object_type="cup", state="filled"), number * FRAME_NS)
    assert cup.state == "filled"


# -- what is put into a drawer ------------------------------------------------------------------------------------

DRAWER = (0.3, 0.3, 0.14)
CABINET = Thing("wall", (-0.3, 0.0, 0.1), (0.32, 0.5, 0.2), seen=False)


def drawer(opened_m: float) -> list[Thing]:
    """Return a drawer of a cabinet on the table, so far open: a bottom with sides, and a box that is its detection."""
    x = -0.3 + opened_m
    state = "opened" if opened_m > 0.05 else "closed"
    bottom = Thing("bottom", (x, 0.0, 0.04), (0.3, 0.3, 0.02), seen=False)
    front = Thing("front", (x + 0.15, 0.0, 0.1), (0.02, 0.3, 0.12), seen=False)
    return [bottom, front, CABINET, Thing("drawer", (x, 0.0, 0.1), DRAWER, state)]


class Kitchen(Room):
    """A table with a drawer, which the detector sees as a whole."""

    def see(self, opened_m: float, *things: Thing) -> Tracked:
        """Take an image; of the drawer the detector gives the place itself, as its box cannot be cast."""
        *solids, whole = drawer(opened_m)
        pose = self.cameras[0].pose
        place = (np.array(whole.position) - pose[:3, 3]) @ pose[:3, :3]
        _, (seen,) = Camera(pose).take([whole])
        x, y, z = place.tolist()
        return self.look(*solids, *things, lies=[replace(seen, position=(x, y, z))])


def test_what_is_put_into_a_drawer_is_in_it_after_it_was_closed_and_when_it_opens_again() -> None:
    kitchen = Kitchen()
    table = on_table("can", 0.2, 0.15, CAN, round=True)
    inside = Thing("can", (-0.1, 0.05, 0.11), CAN, round=True)
    for _ in range(4):
        kitchen.see(0.25, table)
    for _ in range(4):
        tracked = kitchen.see(0.25, inside)
    assert ids(tracked)["can_1"].attributes["place"] == "in drawer_1"
    told: list[LocatedObject] = []
    for opened_m in (0.2, 0.15, 0.1, 0.05, *[0.0] * 15):
        moved = inside.at(inside.position[0] - 0.25 + opened_m, 0.05)
        told += [each for each in kitchen.see(opened_m, moved).objects if each.object_id == "can_1"]
    assert kitchen.gone == []
    last = told[-1]
    assert last.attributes["place"] == "in drawer_1"
    assert last.box == (0, 0, 0, 0)
    assert off(last.position, (-0.35, 0.05, 0.11)) < 0.05
    for _ in range(3):
        tracked = kitchen.see(0.25, inside)
    assert ids(tracked)["can_1"].attributes["place"] == "in drawer_1"
    for _ in range(3):
        tracked = kitchen.see(0.25, table)
    assert ids(tracked)["can_1"].attributes["place"] == ""


@pytest.mark.parametrize(("z", "holder"), [(0.06, "lower"), (0.11, "lower"), (0.134, "upper"), (0.2, "upper")])
@pytest.mark.parametrize("order", [1, -1])
def test_of_two_open_drawers_a_thing_is_in_the_one_around_it(z: float, holder: str, order: int) -> None:
    box = PixelBox(0, 0, 9, 9)
    heights = {"upper": 0.17, "lower": 0.06}
    drawers = [
        LocatedObject("drawer", (0.5, 0.0, at), (0.3, 0.3, 0.1), 1.0, 0.01, box, "opened") for at in heights.values()
    ]
    spoon = LocatedObject("spoon", (0.5, 0.0, z), (0.1, 0.02, 0.02), 1.0, 0.01, box)
    tracks = [ObjectTrack(each, 0) for each in (*drawers, spoon)]
    for track, name in zip(tracks, (*heights, "spoon"), strict=True):
        track.object_id = name
    Containment(["drawer"]).update(tracks[::order], ["spoon"])
    assert tracks[2].holder == holder


def test_a_drawer_that_is_opened_and_is_empty_says_that_it_is_gone() -> None:
    kitchen = Kitchen()
    inside = Thing("can", (-0.1, 0.05, 0.11), CAN, round=True)
    for _ in range(4):
        kitchen.see(0.25, inside)
    for _ in range(20):
        kitchen.see(0.0, inside.at(-0.35, 0.05))
    assert kitchen.gone == []
    for _ in range(12):
        kitchen.see(0.25)
    assert kitchen.gone == ["can_1"]


def test_a_second_object_in_the_place_of_a_known_one_does_not_stay() -> None:
    """A detector says for a while that there is a mug in the can, where depth cannot show that there is none."""
    room = Room()
    can = on_table("can", 0.0, 0.0, CAN, round=True)
    room.looks(3, can)
    _, (seen,) = Camera().take([can])
    x, y, z = _inside(room, (0.015, 0.01, 0.045)).tolist()
    mug = replace(seen, object_type="mug", size=(0.06, 0.06, 0.08), position=(x, y, z))
    for _ in range(3):
        room.look(can, lies=[mug])
    room.looks(12, can)
    assert set(ids(room.look(can))) == {"can_1"}
    assert set(room.reported) - set(room.gone) == {"can_1"}
    bowl, apple = on_table("bowl", 0.0, 0.0, (0.2, 0.2, 0.07)), on_table("apple", 0.0, 0.0, (0.07, 0.07, 0.07))
    room = Room()
    room.looks(3, replace(bowl, size=(0.2, 0.2, 0.02)), apple)
    for _ in range(15):
        room.look(bowl, replace(apple, seen=False))
    assert room.gone == []
