"""Things that stand close to others: what shows which of them, and how they stand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from box_scene import Camera, Thing, looking, on_table

from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.localization import Localizer
from kc_vla.perception.located_object import LocatedObject
from kc_vla.perception.standing_shape import StandingShape
from kc_vla.perception.track import ObjectTrack

_CARTON = on_table("milk", 0.0, 0.0, (0.06, 0.06, 0.16))
_ASIDE = looking((0.5, 0.0, 0.25))
"""A camera that looks from a low place."""


def shape_of(thing: Thing, *others: Thing, camera: Camera | None = None) -> StandingShape:
    frame, found = (camera or Camera()).take([thing, *others])
    shape = Localizer().locate(frame, found).objects[0].shape
    assert shape is not None, "too little of it is seen"
    return shape


def test_a_carton_is_as_wide_before_a_stove_whose_box_in_the_image_it_covers_in_part() -> None:
    stove = on_table("stove", -0.19, 0.04, (0.3, 0.22, 0.05))
    frame, (carton, furniture) = Camera().take([_CARTON, stove])
    assert carton.box.top < furniture.box.bottom
    assert carton.box.left > furniture.box.left
    shape = Localizer().locate(frame, [carton, furniture]).objects[0].shape
    assert shape is not None
    assert (shape.length, shape.width) == pytest.approx((0.06, 0.06), abs=0.008)


def test_what_is_behind_a_thing_is_none_of_it() -> None:
    wall = Thing("wall", (-0.09, 0.0, 0.3), (0.04, 1.0, 0.6), seen=False)
    alone, before = (shape_of(_CARTON, *others, camera=Camera(_ASIDE)) for others in ((), (wall,)))
    assert before.length == pytest.approx(alone.length, abs=0.004)
    assert before.middle == pytest.approx(alone.middle, abs=0.004)


def test_what_stands_beside_a_thing_is_none_of_it() -> None:
    can = on_table("can", 0.02, 0.075, (0.07, 0.07, 0.11), round=True)
    shape = shape_of(_CARTON, can)
    assert (shape.length, shape.width) == pytest.approx((0.06, 0.06), abs=0.01)


def test_a_bottle_that_is_seen_from_the_side_is_round() -> None:
    bottle = on_table("bottle", 0.0, 0.0, (0.07, 0.07, 0.21), round=True)
    low = Camera(looking((0.35, 0.0, 0.2), (0.0, 0.0, 0.1)))
    shape = shape_of(bottle, camera=low)
    assert (shape.length, shape.width) == pytest.approx((0.07, 0.07), abs=0.01)
    assert shape.middle[:2] == pytest.approx((0.0, 0.0), abs=0.008)


@pytest.mark.parametrize(("hidden_m", "known"), [(0.02, True), (0.06, True), (0.11, False)])
def test_a_shape_says_how_much_of_it_is_hidden_and_of_too_little_there_is_none(hidden_m: float, known: bool) -> None:
    """Something between the camera and a box hides one of its ends."""
    size = (0.06, 0.16, 0.04)
    higher = (0.6 - 0.3) / (0.6 - size[2])  # from the camera to what hides, as a share of the way to the top of the box
    end = 0.1 - hidden_m / 2
    hand = Thing("hand", (0.5 - 0.5 * higher, end * higher, 0.3), (0.1, (hidden_m + 0.04) * higher, 0.01), seen=False)
    frame, found = Camera().take([on_table("milk", 0.0, 0.0, size), hand])
    located = Localizer().locate(frame, found).objects[0]
    assert (located.shape is not None) == known
    if located.shape is not None:
        whole = Localizer().locate(*Camera().take([on_table("milk", 0.0, 0.0, size)])).objects[0]
        assert whole.shape is not None
        assert whole.shape.hidden < 0.02
        assert 0.08 < located.shape.hidden < 0.4
        assert located.shape.length < size[1] - hidden_m + 0.02
        assert located.sigma_m > 1.5 * whole.sigma_m


def test_the_look_that_shows_a_thing_whole_gives_its_shape() -> None:
    """Before and after it, something hides a half of a box."""
    whole, half = (
        StandingShape((0.0, 0.0, 0.02), 0.16, 0.06, 0.04, 1.5),
        StandingShape((0, 0.04, 0.02), 0.08, 0.06, 0.04, 0),
    )
    half = replace(half, hidden=0.25)
    seen = LocatedObject("box", (0.0, 0.0, 0.02), (0.06, 0.16, 0.04), 0.9, 0.01, PixelBox(0, 0, 9, 9))
    track = ObjectTrack(replace(seen, shape=half), 0)
    for at, shape in enumerate((half, whole, half, half), 1):
        track.see(replace(seen, shape=shape), at)
    reported = track.reported()
    assert reported.box_size == (0.16, 0.06, 0.04)
    assert reported.yaw == 1.5
