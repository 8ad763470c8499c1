"""Furniture that is placed by its top: a stove, and a sink that is hollow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from box_scene import Thing, looking
from furniture_scene import Piece, board, detected, sink, taken, turned_piece
from numpy.typing import NDArray

from kc_vla.perception.level_top import furniture_shape
from kc_vla.perception.localization import Localizer
from kc_vla.perception.standing_shape import StandingShape, turned_extent
from kc_vla.perception.tracking import Tracker

EYE = looking((0.05, -0.15, 0.75), (0.5, 0.0, 0.05))
POT = Thing("pot", (0.48, -0.02, 0.075), (0.09, 0.09, 0.05), round=True)


def stove(yaw: float, wide: float = 0.28) -> Piece:
    """Return a stove with four plates, and knobs on its top."""
    size = (wide, 0.22, 0.05)
    plates = [
        Thing("plate", (x, y, 0.052), (0.09, 0.09, 0.004), round=True) for x in (-0.06, 0.06) for y in (-0.05, 0.05)
    ]
    knobs = [Thing("knob", (x, -0.11 + 0.015, 0.057), (0.02, 0.02, 0.014), round=True) for x in (-0.06, 0.06)]
    body = board((-wide / 2, -0.11, 0.0), (wide / 2, 0.11, 0.05))
    return turned_piece("stove", [body, *plates, *knobs], (0.5, 0.0, 0.0), size, yaw)


def shape_of(
    piece: Piece, *others: Thing, support: float | None = 0.0, pose: NDArray[np.float64] = EYE
) -> StandingShape | None:
    """Return the shape by the top of furniture that a detector places badly."""
    frame, box = taken(pose, piece, *others, noise=0.002)
    x, y, z = piece.position
    size = turned_extent(piece.parts[0].yaw, piece.size)
    return furniture_shape(frame, box, (x + 0.04, y - 0.03, z + 0.02), size, piece.kind == "sink", support)


def off(found: float, meant: float, period: float) -> float:
    """Return how far a yaw is off, rad."""
    return abs((found - meant + period / 2) % period - period / 2)


@pytest.mark.parametrize("others", [(), (POT,)], ids=len)
@pytest.mark.parametrize("yaw", [0.3, 0.9, 2.2])
@pytest.mark.parametrize("make", [stove, lambda yaw: stove(yaw, wide=0.22), sink], ids=["stove", "square", "sink"])
def test_furniture_is_placed_by_its_top_however_it_is_turned_and_whatever_stands_on_it(
    make: Callable[[float], Piece], yaw: float, others: tuple[Thing, ...]
) -> None:
    piece = make(yaw)
    found = shape_of(piece, *others)
    assert found is not None
    assert found.middle[:2] == pytest.approx(piece.position[:2], abs=0.01)
    assert (found.length, found.width) == pytest.approx(piece.size[:2], abs=0.015)
    square = piece.size[0] == piece.size[1]
    assert off(found.yaw, yaw, np.pi / 2 if square else np.pi) < np.radians(3.0)
    assert found.middle[2] - found.height / 2 == pytest.approx(0.0)
    assert found.height == pytest.approx(piece.size[2], abs=0.01)


@pytest.mark.parametrize("make", [stove, sink])
def test_a_top_of_which_something_hides_a_side_says_nothing(make: Callable[[float], Piece]) -> None:
    before, arm = looking((0.05, 0.0, 0.75), (0.5, 0.0, 0.05)), Thing("arm", (0.18, 0.0, 0.45), (0.03, 0.4, 0.02))
    assert shape_of(make(0.0), pose=before) is not None
    assert shape_of(make(0.0), arm, pose=before) is None


@pytest.mark.parametrize(("y", "whole"), [(-0.2, True), (-0.27, False)])
def test_a_top_that_the_rim_of_the_image_cuts_says_nothing(y: float, whole: bool) -> None:
    shape = shape_of(stove(0.0), pose=looking((0.5, y, 0.7), (0.5, y, 0.0)))
    assert (shape is not None) is whole


def test_only_what_is_located_near_the_support_stands_on_it() -> None:
    for support, bottom in ((-0.05, -0.05), (-0.3, 0.02), (None, 0.02)):
        found = shape_of(stove(0.3), support=support)
        assert found is not None
        assert found.middle[2] - found.height / 2 == pytest.approx(bottom)
        assert found.middle[2] + found.height / 2 == pytest.approx(0.05, abs=0.006)


def test_a_surface_of_another_size_or_elsewhere_is_not_the_top_of_furniture() -> None:
    piece = stove(0.3)
    frame, box = taken(EYE, piece)
    for place, size in (
        ((0.5, 0.2, 0.03), piece.size),
        (piece.position, (0.8, 0.8, 0.05)),
        (piece.position, (0, 0, 0)),
    ):
        assert furniture_shape(frame, box, place, size, False, 0.0) is None


def test_furniture_without_a_front_is_reported_as_one_that_looks_to_any_side() -> None:
    piece = stove(0.9)
    frame, box = taken(EYE, piece)
    located = Localizer().locate(frame, [detected(piece, box, EYE, turned_extent(0.9, piece.size))])
    tracker = Tracker()
    for look in range(3):
        tracked = tracker.update(replace(located.frame, stamp_ns=(look + 1) * 10**8), located.objects)
    (found,) = tracked.objects
    assert found.position == pytest.approx(piece.position, abs=0.01)
    assert found.box_size == pytest.approx(piece.size, abs=0.015)
    assert found.yaw == pytest.approx(0.9, abs=np.radians(3.0))
    assert found.attributes["yaw"] == "of its sides"
