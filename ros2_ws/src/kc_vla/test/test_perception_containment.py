"""What is put into a drawer stays in it while nobody can see it."""

from dataclasses import replace

import numpy as np
import pytest
from box_scene import Camera, Thing, off, on_table
from tracked_room import CAN, Room, ids, in_camera

from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.containment import Containment
from kc_vla.perception.located_object import LocatedObject
from kc_vla.perception.track import ObjectTrack
from kc_vla.perception.tracking import Tracked

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
        _, (seen,) = Camera(self.cameras[0].pose).take([whole])
        x, y, z = in_camera(self, whole.position).tolist()
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


@pytest.mark.parametrize(("kind", "moved_m"), [("drawer", 0.1), ("cupboard", 0.0)])
def test_what_is_in_a_drawer_moves_with_it_and_what_is_behind_a_door_stays(kind: str, moved_m: float) -> None:
    box = PixelBox(0, 0, 9, 9)
    holder = ObjectTrack(LocatedObject(kind, (0.5, 0.0, 0.1), (0.3, 0.3, 0.2), 1.0, 0.01, box, "opened"), 0)
    egg = ObjectTrack(LocatedObject("egg", (0.5, 0.0, 0.1), (0.05, 0.05, 0.05), 1.0, 0.01, box), 0)
    holder.object_id, egg.object_id = "holder", "egg"
    containment = Containment([kind])
    containment.update([holder, egg], ["egg"])
    holder.place.position = np.array([0.6, 0.0, 0.1])  # a door that swings moves what is seen of it
    containment.carry([holder, egg])
    assert egg.position[0] == pytest.approx(0.5 + moved_m)


def test_what_is_seen_late_as_its_drawer_is_pushed_is_in_it_still_and_what_is_taken_out_is_not() -> None:
    box = PixelBox(0, 0, 9, 9)
    seen = LocatedObject("drawer", (0.45, 0.0, 0.1), (0.3, 0.3, 0.1), 1.0, 0.01, box, "opened")
    spoon = LocatedObject("spoon", (0.35, 0.0, 0.08), (0.1, 0.02, 0.02), 1.0, 0.01, box)
    drawer, inside = (ObjectTrack(each, 0) for each in (seen, spoon))
    drawer.object_id, inside.object_id = "drawer", "spoon"
    containment = Containment(["drawer"])
    containment.update([drawer, inside], ["drawer", "spoon"])
    drawer.place.position = np.array([0.55, 0.0, 0.1])  # pushed by 10 cm; the spoon is seen where it was
    inside.meet(1)
    containment.update([drawer, inside], ["drawer", "spoon"])
    assert inside.holder == "drawer"
    containment.carry([drawer, inside])
    assert inside.position[0] == pytest.approx(0.45)
    inside.place.position = np.array([0.35, 0.0, 0.08])
    for holder in ("drawer", "drawer", ""):  # it stays where it was seen: the drawer was pushed without it
        containment.update([drawer, inside], ["drawer", "spoon"])
        assert inside.holder == holder
    inside.place.position = np.array([0.5, 0.0, 0.1])
    containment.update([drawer, inside], ["drawer", "spoon"])
    assert inside.holder == "drawer"
    for place in ((0.45, 0.0, 0.2), (0.35, 0.0, 0.08)):  # taken out, and put down before the drawer
        inside.place.position = np.array(place)
        containment.update([drawer, inside], ["drawer", "spoon"])
        assert inside.holder == ""


def test_what_is_seen_to_move_before_its_drawer_is_where_it_was_in_it() -> None:
    box = PixelBox(0, 0, 9, 9)
    seen = LocatedObject("drawer", (0.45, 0.0, 0.1), (0.3, 0.3, 0.1), 1.0, 0.01, box, "opened")
    drawer = ObjectTrack(seen, 0)
    sponge = ObjectTrack(LocatedObject("sponge", (0.43, 0.0, 0.1), (0.09, 0.06, 0.03), 1.0, 0.01, box), 0)
    drawer.object_id, sponge.object_id = "drawer", "sponge"
    containment = Containment(["drawer"])
    containment.update([drawer, sponge], ["drawer", "sponge"])
    sponge.place.position = np.array([0.53, 0.0, 0.1])
    containment.update([drawer, sponge], ["sponge"])  # the hand hides the drawer that it pushes
    drawer.place.position = np.array([0.6, 0.0, 0.1])
    containment.carry([drawer, sponge])
    assert sponge.position[0] == pytest.approx(0.58)
