"""Drawers that a detector has missed, whose bars are seen on their cabinet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from box_scene import looking
from furniture_scene import detected, drawer_cabinet, taken

from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.front import Front
from kc_vla.perception.inferred_drawers import inferred_drawers, with_own_fronts
from kc_vla.perception.localization import Localizer
from kc_vla.perception.located_object import LocatedObject

EYE = looking((-0.1, -0.2, 0.45), (0.5, 0.0, 0.1))


def seen(openings: tuple[float, float], found: Sequence[int]) -> tuple[CameraFrame, list[LocatedObject]]:
    """Return an image of a cabinet, and what is located of it: of its drawers those that a detector has found."""
    cabinet, drawers = drawer_cabinet(openings)
    frame, box = taken(EYE, cabinet, noise=0.001)
    wide, deep, high = cabinet.size
    pieces = [detected(cabinet, box, EYE, (wide + max(openings), deep, high))]
    pieces += [detected(drawers[number], taken(EYE, drawers[number])[1], EYE) for number in found]
    return frame, Localizer().locate(frame, pieces).objects


@pytest.mark.parametrize("openings", [(0.0, 0.0), (0.12, 0.0), (0.0, 0.12)])
@pytest.mark.parametrize("missed", [0, 1])
def test_a_bar_on_a_cabinet_is_that_of_a_drawer_that_was_missed(missed: int, openings: tuple[float, float]) -> None:
    frame, objects = seen(openings, [1 - missed])
    inferred = inferred_drawers(frame, objects)
    if missed == 1 and openings[0]:  # the upper one is above it
        assert not inferred
        return
    (found,), meant = inferred, drawer_cabinet(openings)[1][missed]
    assert found.object_type == "drawer"
    assert found.position == pytest.approx(meant.position, abs=0.015)
    assert found.size == pytest.approx(meant.size, abs=0.02)
    assert found.state == meant.state
    assert found.front is not None
    assert found.front.bar == pytest.approx(meant.parts[2].position, abs=0.01)
    assert found.confidence < objects[0].confidence


def test_without_a_drawer_that_was_found_the_bars_say_how_high_they_are() -> None:
    frame, objects = seen((0.0, 0.0), [])
    upper, lower = sorted(inferred_drawers(frame, objects), key=lambda each: -each.position[2])
    for found, meant in zip((upper, lower), drawer_cabinet()[1], strict=True):
        assert found.position == pytest.approx(meant.position, abs=0.015)
        assert found.size == pytest.approx(meant.size, abs=0.02)


@pytest.mark.parametrize("openings", [(0.12, 0.0), (0.0, 0.12)])
def test_a_drawer_is_no_deeper_where_an_open_one_was_taken_for_a_part_of_its_cabinet(
    openings: tuple[float, float],
) -> None:
    frame, (cabinet,) = seen(openings, [])  # its top shows where it ends
    x, y, z = cabinet.position
    wide, deep, high = cabinet.size
    without_top = replace(cabinet, position=(x - 0.06, y, z), size=(wide + 0.12, deep, high))
    found = [each for each in inferred_drawers(frame, [without_top]) if each.state == "opened"]
    (meant,) = (each for each in drawer_cabinet(openings)[1] if each.state == "opened")
    assert [each.size for each in found] == [pytest.approx(meant.size, abs=0.02)]
    assert found[0].position == pytest.approx(meant.position, abs=0.015)


def test_of_a_cabinet_whose_drawers_were_all_found_none_was_missed() -> None:
    assert not inferred_drawers(*seen((0.0, 0.0), [0, 1]))


BAR = Front(np.pi, (0.436, 0.0, 0.1), False, None, 0.045, 0.0)


@pytest.mark.parametrize(
    ("front", "number"),
    [
        (BAR, 1),
        (replace(BAR, bar=(0.436, 0.12, 0.1)), 0),  # beside it
        (replace(BAR, bar=(0.75, 0.0, 0.1)), 0),  # behind it
        (replace(BAR, bar=(0.1, 0.0, 0.1)), 0),  # of something before it
        (replace(BAR, bar=(0.436, 0.0, 0.4)), 0),  # above it
        (replace(BAR, standing=True, hinge=(0.49, 0.13)), 0),  # of a door
    ],
)
def test_only_a_bar_before_a_cabinet_is_that_of_a_drawer(front: Front, number: int) -> None:
    frame, (cabinet,) = seen((0.0, 0.0), [])
    assert len(inferred_drawers(frame, [replace(cabinet, front=front, others=())])) == number
    assert not inferred_drawers(frame, [replace(cabinet, object_type="cupboard", front=front, others=())])


@pytest.mark.parametrize(("yaw", "kept"), [(np.pi, True), (np.pi - 0.3, True), (np.pi / 2, False), (0.0, False)])
def test_the_front_of_a_drawer_looks_as_that_of_its_cabinet_does(yaw: float, kept: bool) -> None:
    cabinet, drawer = seen((0.0, 0.0), [1])[1]
    assert cabinet.front is not None
    assert drawer.front is not None
    turned = replace(drawer, front=replace(drawer.front, yaw=yaw))
    checked = with_own_fronts([cabinet, turned])[1]
    assert (checked.front is not None) == kept
    elsewhere = replace(turned, position=(drawer.position[0], drawer.position[1] + 2.0, drawer.position[2]))
    assert with_own_fronts([cabinet, elsewhere])[1].front is not None
    assert with_own_fronts([turned])[0].front is not None
