"""Errors and lies of a detector: none of them becomes an object that stays, or moves one."""

from dataclasses import replace

import numpy as np
from box_scene import FRAME_NS, Camera, cast, off, on_table
from hypothesis import given
from hypothesis import strategies as st
from nightly import tried
from tracked_room import CAN, MUG, Room, ids, in_camera

from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.image_detection import ImageDetection
from kc_vla.perception.localization import Localizer, LocalizerSettings
from kc_vla.perception.located_object import LocatedObject
from kc_vla.perception.track import ObjectTrack
from kc_vla.perception.tracking import Tracker
from kc_vla.perception.tracks import TrackerSettings

SEEDS = st.integers(0, 10_000)


@tried(4, 100)
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
    beside = replace(beside, position=tuple(in_camera(room, (0.0, 0.1, 0.15))))
    for _ in range(5):
        room.look(mug, lies=[beside])
    room.looks(6, mug)
    assert set(ids(room.look(mug))) == {"mug_1"}
    assert set(room.gone) == set(room.reported) - {"mug_1"}


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


def test_a_second_object_in_the_place_of_a_known_one_does_not_stay() -> None:
    """A detector says for a while that there is a mug in the can, where depth cannot show that there is none."""
    room = Room()
    can = on_table("can", 0.0, 0.0, CAN, round=True)
    room.looks(3, can)
    _, (seen,) = Camera().take([can])
    x, y, z = in_camera(room, (0.015, 0.01, 0.045)).tolist()
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
