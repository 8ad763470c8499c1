"""A door that stands open, by depth: where it is without its handle, and its handle from the other side."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from box_scene import Camera, Thing, looking, on_table
from furniture_scene import Door, Piece, bar_place, cupboard, detected, hinge_of, taken
from numpy.typing import NDArray

from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.front import Front
from kc_vla.perception.localization import Localizer
from kc_vla.perception.located_object import LocatedObject
from kc_vla.perception.open_door import OpenDoor, bar_of, open_door_in
from kc_vla.perception.swung_door import swung_in
from kc_vla.perception.tracking import Tracker

TALL, WIDE = 0.28, 0.26
CAN = Thing("can", (0.58, 0.0, TALL + 0.025), (0.065, 0.065, 0.05), round=True)
ARM = Thing("arm", (0.43, -0.34, 0.49), (0.2, 0.04, 0.04))
CARTON = on_table("carton", 0.42, -0.08, (0.07, 0.07, 0.24))
BOARD = on_table("board", 0.38, 0.0, (0.2, 0.02, 0.25))
OPEN = Door(1.44)


def inner(left: bool = True) -> NDArray[np.float64]:
    """Return the pose of a camera that sees the inner side of a door."""
    return looking((0.25, -0.55 if left else 0.55, 0.7), (0.52, -0.02 if left else 0.02, 0.12))


def outer(left: bool = True) -> NDArray[np.float64]:
    """Return that of one that sees its outer side."""
    return looking((0.25, 0.6 if left else -0.6, 0.45), (0.42, 0.12 if left else -0.12, 0.15))


def door_in(view: tuple[CameraFrame, PixelBox]) -> OpenDoor | None:
    frame, box = view
    return open_door_in(frame, box, 0.01, TALL - 0.02)


def known(door: Door) -> OpenDoor:
    found = door_in(taken(inner(door.left), cupboard(door)))
    assert found is not None
    return found


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("opening", [1.0, 1.44, 1.8])
def test_an_open_door_is_found_where_it_stands_whatever_is_on_the_cupboard(opening: float, left: bool) -> None:
    door = Door(opening, left)
    found = door_in(taken(inner(left), cupboard(door), CAN.at(0.58, -0.06 if left else 0.06), noise=0.002))
    assert found is not None
    assert found.opening == pytest.approx(opening, abs=0.03)
    hinge = np.array(hinge_of(door))[:2]
    assert found.hinge == pytest.approx(hinge, abs=0.02)
    assert np.subtract(found.edge, found.hinge) == pytest.approx(WIDE * door.way()[:2], abs=0.02)
    assert found.edge == pytest.approx(hinge + WIDE * door.way()[:2], abs=0.03)
    assert found.middle == pytest.approx((0.61, 0.0), abs=0.01)
    assert found.sides == pytest.approx((0.21, WIDE), abs=0.015)
    assert (np.cos(found.yaw), np.sin(found.yaw)) == pytest.approx((-1.0, 0.0), abs=0.03)
    assert found.outwards == pytest.approx(door.outwards()[:2], abs=0.03)
    assert (found.low, found.high) == pytest.approx((0.0, TALL), abs=0.03)


@pytest.mark.parametrize(
    "before", [(), (CARTON,), (BOARD,), (replace(BOARD, position=(0.44, 0.02, 0.125), yaw=1.4),)], ids=len
)
def test_nothing_that_stands_before_a_closed_cupboard_is_its_door(before: tuple[Thing, ...]) -> None:
    shut = cupboard(Door(0.0))
    assert door_in(taken(inner(), replace(shut, parts=[*shut.parts, *before]))) is None


def test_where_something_hides_a_side_of_the_top_no_door_is_measured() -> None:
    assert door_in(taken(inner(), cupboard(OPEN), ARM)) is None
    frame, box = taken(inner(), cupboard(OPEN))
    assert door_in((replace(frame, depth_m=None), box)) is None


@pytest.mark.parametrize("door", [OPEN, Door(1.8, left=False)], ids=str)
def test_the_outer_side_of_an_open_door_shows_its_bar(door: Door) -> None:
    front = bar_of(taken(outer(door.left), cupboard(door), noise=0.002)[0], known(door))
    assert front is not None
    assert front.bar == pytest.approx(bar_place(door), abs=0.01)
    assert front.standing
    assert front.standoff == pytest.approx(0.045, abs=0.006)


def test_neither_the_inner_side_nor_a_door_without_a_handle_shows_a_bar() -> None:
    door = known(OPEN)
    assert bar_of(taken(inner(), cupboard(OPEN))[0], door) is None
    bare = taken(outer(), cupboard(Door(1.44, handle=False)))[0]
    assert bar_of(bare, door) is None
    *boards, bar = cupboard(OPEN).parts
    lying = replace(cupboard(OPEN), parts=[*boards, replace(bar, size=(0.1, 0.014, 0.014))])
    assert bar_of(taken(outer(), lying)[0], door) is None
    assert bar_of(replace(bare, depth_m=None), door) is None
    away = taken(looking((0.25, 0.6, 0.45), (-0.5, 1.0, 0.1)), replace(cupboard(OPEN), parts=[CARTON.at(-0.3, 0.9)]))
    assert bar_of(away[0], door) is None


class Looks:
    """What is reported of a cupboard after looks from one side and from the other."""

    def __init__(self) -> None:
        self.tracker, self.localizer, self.stamp_ns = Tracker(), Localizer(), 10**12

    def take(self, piece: Piece, eye: NDArray[np.float64], found: bool = True) -> LocatedObject | None:
        self.stamp_ns += 100_000_000
        frame, box = taken(eye, piece, noise=0.002, seed=self.stamp_ns // 10**8)
        size = (0.45, 0.3, TALL) if piece.state == "opened" else piece.size
        located = self.localizer.locate(frame, [detected(piece, box, eye, size)] if found else [])
        frame = replace(located.frame, stamp_ns=self.stamp_ns)
        reported = self.tracker.update(frame, located.objects).objects
        return reported[0] if reported else None

    def of(self, count: int, piece: Piece) -> LocatedObject:
        for _ in range(count):
            reported = self.take(piece, inner())
        assert reported is not None
        assert reported.object_id == "cupboard_1"
        return reported


def numbers(text: str) -> list[float]:
    return [float(each) for each in text.split()]


def test_the_handle_of_an_open_door_is_known_after_a_look_at_its_other_side() -> None:
    looks = Looks()
    first = looks.of(3, cupboard(OPEN))
    assert not {"handle", "yaw"} & first.attributes.keys(), "its front is known"
    assert numbers(first.attributes["hinge"]) == pytest.approx(hinge_of(OPEN)[:2], abs=0.02)
    assert numbers(first.attributes["opening"]) == pytest.approx([1.44], abs=0.03)
    assert numbers(first.attributes["edge"]) == pytest.approx((hinge_of(OPEN) + WIDE * OPEN.way())[:2], abs=0.03)
    assert first.box_size == pytest.approx((0.21, WIDE, TALL), abs=0.015)
    assert first.position == pytest.approx((0.61, 0.0, 0.14), abs=0.015)
    assert looks.take(cupboard(OPEN), outer(), found=False) is None
    then = looks.of(1, cupboard(OPEN)).attributes
    assert numbers(then["handle"]) == pytest.approx(bar_place(OPEN), abs=0.015)
    assert numbers(then["hinge"]) == pytest.approx(hinge_of(OPEN)[:2], abs=0.02)
    assert numbers(then["opening"]) == pytest.approx([1.44], abs=0.03)
    assert then["edge"] == ""


def test_a_door_that_was_closed_has_no_free_edge_until_it_is_opened_again() -> None:
    looks, bare = Looks(), replace(OPEN, handle=False)
    assert looks.of(3, cupboard(bare)).attributes["edge"]
    assert looks.of(4, cupboard(replace(bare, opening=0.0))).attributes["edge"] == ""
    attributes = looks.of(1, cupboard(replace(bare, opening=1.1))).attributes
    while not attributes["edge"]:
        attributes = looks.of(1, cupboard(replace(bare, opening=1.1))).attributes
    assert numbers(attributes["opening"]) == pytest.approx([1.1], abs=0.03)


@pytest.mark.parametrize("opening", [0.1, 0.3, 1.0, 1.57, 2.1, 2.18, 2.3, 2.6])
def test_a_door_that_was_seen_shut_is_as_far_open_as_what_stands_at_its_axis_and_none_beyond_where_doors_turn(
    opening: float,
) -> None:
    shut = Front(np.pi, (0.455, 0.22, 0.14), True, (0.514, 0.0), 0.045)
    way = np.array([-np.sin(opening), np.cos(opening)])  # it turns towards the camera
    x, y = (np.array(shut.hinge) + 0.125 * way).tolist()
    board = Thing("door", (x, y, 0.14), (0.25, 0.004, 0.28), yaw=float(np.arctan2(way[1], way[0])))
    frame, _ = Camera(looking((0.1, -0.05, 0.75), (0.45, 0.05, 0.1))).take([board])
    found = swung_in(frame, shut)
    if 0.25 < opening < 2.15:
        assert found == pytest.approx(opening, abs=0.06)
    else:
        assert found is None or abs(found - opening) < 0.1
