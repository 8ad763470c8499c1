"""Things that stand close to others: what shows which of them, and how they stand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from box_scene import Camera, Thing, looking, on_table

from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.front import Front
from kc_vla.perception.localization import Localizer
from kc_vla.perception.located_object import LocatedObject
from kc_vla.perception.standing_shape import StandingShape
from kc_vla.perception.tracking import Tracker

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


def test_a_drawer_is_another_object_than_the_cabinet_that_it_fills() -> None:
    tracker, camera = Tracker(), Camera()
    frame, _ = camera.take([])
    cabinet = LocatedObject(
        "cabinet", (0.6, 0.0, 0.11), (0.25, 0.28, 0.23), 0.9, 0.01, PixelBox(20.0, 20.0, 80.0, 80.0)
    )
    drawer = LocatedObject("drawer", (0.59, 0.0, 0.08), (0.25, 0.27, 0.15), 0.8, 0.01, PixelBox(22.0, 40.0, 78.0, 80.0))
    names: set[str] = set()
    for look in range(10):
        seen = [cabinet, drawer] if look % 2 else [drawer, cabinet]
        tracked = tracker.update(replace(frame, stamp_ns=look * 100_000_000), seen)
        names = {each.object_id for each in tracked.objects}
        for each in tracked.objects:
            assert each.object_id.startswith(each.object_type)
    assert names == {"cabinet_1", "drawer_1"}


def test_two_drawers_stay_two_and_belong_to_their_cabinet_whose_front_is_theirs() -> None:
    tracker, (frame, _) = Tracker(), Camera().take([])
    shown = PixelBox(20.0, 20.0, 80.0, 80.0)
    cabinet = LocatedObject("cabinet", (0.62, 0.0, 0.115), (0.25, 0.28, 0.23), 0.9, 0.01, shown, front=_front(0.216))
    upper, lower = (
        LocatedObject("drawer", (0.6, 0.0, z), (0.25, 0.27, 0.11), 0.8, 0.01, shown, "closed", front=_front(bar))
        for z, bar in ((0.171, 0.216), (0.062, 0.107))
    )
    absent = replace(lower, position=(0.6, 0.0, 0.12))  # it is measured badly, and its bar is not
    reported: dict[str, LocatedObject] = {}
    for look in range(12):
        seen = [cabinet, upper, lower] if look < 6 else [cabinet, absent]
        tracked = tracker.update(replace(frame, stamp_ns=look * 100_000_000), seen)
        reported |= {each.object_id: each for each in tracked.objects}
    assert set(reported) == {"cabinet_1", "drawer_1", "drawer_2"}
    assert reported["cabinet_1"].attributes.get("handle", "") == ""
    bars = {name: reported[name].attributes["handle"].split()[2] for name in ("drawer_1", "drawer_2")}
    assert sorted(bars.values()) == ["0.1070", "0.2160"]
    assert all(reported[name].attributes["place"] == "in cabinet_1" for name in bars)


def test_a_drawer_that_is_larger_than_its_cabinet_is_none() -> None:
    tracker, (frame, _) = Tracker(), Camera().take([])
    shown = PixelBox(20.0, 20.0, 80.0, 80.0)
    cabinet = LocatedObject("cabinet", (0.62, 0.0, 0.115), (0.25, 0.28, 0.23), 0.9, 0.01, shown)
    huge = LocatedObject("drawer", (0.59, 0.0, 0.18), (0.92, 1.05, 0.67), 0.8, 0.01, shown, "opened")
    for look in range(8):
        tracked = tracker.update(
            replace(frame, stamp_ns=look * 100_000_000), [cabinet] if look < 4 else [cabinet, huge]
        )
    assert [each.object_id for each in tracked.objects] == ["cabinet_1"]


def _front(height: float) -> Front:
    return Front(np.pi, (0.441, 0.0, height), False, None, 0.0)
