"""Things that stand close to others: what shows which of them, and how they stand."""

from __future__ import annotations

import pytest
from box_scene import Camera, Thing, looking, on_table

from kc_vla.perception.localization import Localizer
from kc_vla.perception.standing_shape import StandingShape

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
