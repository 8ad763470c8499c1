"""Where a hand and what it holds have room: beside handles and doors, on a tray, between things, in a drawer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fake_kitchen import ROBOT, FakeKitchen, thing

from kc_vla.skills.boxes import hand_boxes, obstacles
from kc_vla.skills.fronts import front_boxes
from kc_vla.skills.grasping import grasps
from kc_vla.skills.hands import facing_down, yaw_of
from kc_vla.skills.held_thing import HeldThing, between_fingers, held_by
from kc_vla.skills.interface import SkillError
from kc_vla.skills.placing import spots
from kc_vla.skills.tool_path import StraightPathMaker, ToolPose
from kc_vla.skills.upright_box import UprightBox

CUPBOARD = thing("cupboard_1", (0.605, 0.321, 0.14), (0.21, 0.26, 0.28), state="closed")
FRONT = {"handle": "0.4410 0.4287 0.2150", "hinge": "0.4990 0.1907", "opening": "0.0000"}
OPEN_FRONT = {"handle": "0.2554 0.1645 0.2150", "hinge": "0.4990 0.1907", "opening": "1.4389"}


def covers(boxes: list[UprightBox], point: tuple[float, float, float]) -> bool:
    """Return whether a point is in one of some boxes."""
    speck = UprightBox(np.array(point), np.full(3, 0.001), 0.0)
    return any(each.meets(speck) for each in boxes)


@pytest.mark.parametrize(
    ("attributes", "bar", "middle_of_door"),
    [(FRONT, (0.441, 0.4287, 0.25), (0.49, 0.31, 0.1)), (OPEN_FRONT, (0.255, 0.165, 0.25), (0.37, 0.195, 0.1))],
)
def test_a_hand_keeps_clear_of_a_door_and_its_bar_wherever_they_are(
    attributes: dict[str, str], bar: tuple[float, float, float], middle_of_door: tuple[float, float, float]
) -> None:
    boxes = front_boxes(replace(CUPBOARD, attributes=attributes))
    assert covers(boxes, bar)
    assert covers(boxes, middle_of_door)
    assert not covers(boxes, (0.35, 0.35, 0.1))


def test_a_door_with_numbers_that_are_none_leaves_out_its_front() -> None:
    assert front_boxes(replace(CUPBOARD, attributes={"handle": "here"})) == []


def test_with_something_in_the_hand_the_fingers_are_as_wide_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    kitchen = FakeKitchen()
    context = kitchen.station.context
    widths: list[float] = []
    monkeypatch.setattr(StraightPathMaker, "avoid", lambda self, boxes, held, width: widths.append(width))
    context.held = HeldThing(kitchen.things["apple_1"], 0.07, 0.03, 0.0)
    context.free("carry", ToolPose(np.array([0.45, 0.0, 0.3]), facing_down()), 0.0)
    assert widths == [0.07]


def test_a_hand_keeps_clear_of_the_tap_of_a_sink_and_the_camera_on_it_of_a_wall() -> None:
    sink = thing("sink_1", (0.0, -0.6, 0.035), (0.3, 0.24, 0.07))
    kitchen = FakeKitchen({"sink_1": sink})
    assert covers(obstacles(kitchen.scene), (0.0, -0.71, 0.12))
    assert not covers(obstacles(kitchen.scene), (0.0, -0.5, 0.12))
    wall = UprightBox(np.array([0.46, 0.0, 0.2]), np.array([0.02, 0.5, 0.4]), 0.0)
    place = np.array([0.4, 0.0, 0.1])
    assert any(each.meets(wall) for each in hand_boxes(place, 0.0, 0.05))
    assert not any(each.meets(wall) for each in hand_boxes(place, np.pi, 0.05))


def test_a_spoon_is_taken_off_a_tray_and_a_knife_away_from_what_stands_beside_its_middle() -> None:
    tray = thing("tray_1", (0.3, -0.35, 0.008), (0.2, 0.28, 0.016))
    spoon = thing("spoon_1", (0.3, -0.35, 0.0105), (0.15, 0.03, 0.012))
    kitchen = FakeKitchen({"tray_1": tray, "spoon_1": spoon})
    assert next(grasps(kitchen.scene, ROBOT.opening, spoon), None) is not None
    knife = thing("knife_1", (0.3, -0.35, 0.01), (0.18, 0.02, 0.014))
    bottle = thing("bottle_1", (0.3, -0.26, 0.1), (0.05, 0.05, 0.2))
    kitchen = FakeKitchen({"knife_1": knife, "bottle_1": bottle})
    poses = [pose.position for pose, _, _ in grasps(kitchen.scene, ROBOT.opening, knife)]
    assert poses
    assert min(abs(float(x) - 0.3) for x, _, _ in poses) > 0.015


@pytest.mark.parametrize(
    ("wide", "confidence", "tried"), [(0.083, 0.8, True), (0.083, 1.0, False), (0.088, 0.8, False)]
)
def test_what_is_not_seen_surely_is_taken_though_it_is_measured_a_little_too_wide(
    wide: float, confidence: float, tried: bool
) -> None:
    orange = thing("orange_1", (0.3, -0.35, wide / 2), (wide, wide, wide), confidence=confidence)
    kitchen = FakeKitchen({"orange_1": orange})
    if tried:
        assert next(grasps(kitchen.scene, ROBOT.opening, orange), None) is not None
        return
    with pytest.raises(SkillError, match="cm wide, and the gripper opens 8"):
        next(grasps(kitchen.scene, ROBOT.opening, orange))


def test_a_full_drawer_has_no_room_and_one_with_a_gap_has() -> None:
    kitchen = FakeKitchen(opening=0.12)
    context = kitchen.station.context
    held = HeldThing(kitchen.things["apple_1"], 0.07, 0.03, 0.0)
    drawer = context.scene.need("drawer_1")
    assert next(spots(context, held, drawer), None) is not None
    inside = {"place": "in drawer_1"}
    kitchen.things["loaf_1"] = thing("loaf_1", (0.46, -0.02, 0.15), (0.15, 0.18, 0.04), attributes=inside)
    kitchen.report()
    assert next(spots(context, held, drawer), None) is None


def test_what_is_held_off_its_middle_is_put_where_it_has_room_itself() -> None:
    kitchen = FakeKitchen()
    apple = kitchen.things["apple_1"]
    held = held_by(apple, apple.position + np.array([0.04, 0.0, 0.0]), 0.0, 0.07)
    assert held.ahead == pytest.approx(-0.04)
    pose = next(spots(kitchen.station.context, held, None))
    yaw = yaw_of(pose)
    body = UprightBox(pose.position - 0.04 * np.array([np.cos(yaw), np.sin(yaw), 0.0]), apple.size, yaw)
    assert not any(body.meets(each) for each in obstacles(kitchen.scene, ("apple_1",)))
    found = between_fingers([apple], apple.position + np.array([0.03, 0.0, 0.0]), 0.0, 0.07, 0.0)
    assert found is not None
    assert found.ahead == pytest.approx(-0.03)
