"""An open door whose handle was not seen: it is an obstacle, and its handle is looked for from its other side."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fake_kitchen import FakeKitchen, thing
from scipy.spatial.transform import Rotation

from kc_vla.perception.front_record import front_attributes
from kc_vla.skills.door_panel import door_panel
from kc_vla.skills.fronts import front_boxes
from kc_vla.skills.perceived import PerceivedThing
from kc_vla.skills.upright_box import UprightBox

MIDDLE, SIZE = np.array([0.62, 0.32, 0.14]), (0.21, 0.26, 0.28)
HINGE, EDGE, BAR = np.array([0.514, 0.19, 0.0]), np.array([0.0, 0.25, 0.0]), np.array([-0.06, 0.23, 0.215])


def swung(point: np.ndarray, opening: float) -> np.ndarray:
    """Return where a point of the door is, given from its axis when it is shut, m."""
    return np.asarray(HINGE + Rotation.from_euler("z", opening).apply(point))


def cupboard(opening: float, handle: bool, **more: str) -> PerceivedThing:
    """Return a cupboard whose door turns about an axis at its right."""
    bar = swung(BAR, opening) if handle else None
    edge = None if handle or not opening else swung(EDGE, opening)[:2]
    state = "opened" if opening > 0.05 else "closed"
    attributes = front_attributes(bar, HINGE[:2], opening, edge) | more
    x, y, z = MIDDLE.tolist()
    return thing("cupboard_1", (x, y, z), SIZE, state=state, attributes=attributes)


def placed(whole: PerceivedThing, matrix: np.ndarray) -> PerceivedThing:
    """Return a cupboard with its door where a matrix, also one that mirrors, leads them."""
    attributes = dict(whole.attributes)
    for name in ("hinge", "edge"):
        x, y = map(float, attributes[name].split())
        attributes[name] = " ".join(f"{each:.4f}" for each in (matrix @ (x, y, 0.0))[:2])
    x, y, _ = -matrix @ (-1.0, 0.0, 0.0)
    turn = Rotation.from_euler("z", float(np.arctan2(y, x)))
    return replace(whole, position=matrix @ whole.position, rotation=turn, attributes=attributes)


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("yaw", [0.0, 0.8])
@pytest.mark.parametrize("opening", [1.0, 1.44, 1.8])
def test_an_open_door_without_a_handle_is_an_obstacle_where_it_stands_and_on_its_outer_side(
    opening: float, yaw: float, mirrored: bool
) -> None:
    matrix = Rotation.from_euler("z", yaw).as_matrix() @ np.diag([1.0, -1.0 if mirrored else 1.0, 1.0])
    (box,) = front_boxes(placed(cupboard(opening, handle=False), matrix))

    def meets(along: float, out: float, up: float = 0.14) -> bool:
        place = matrix @ swung(np.array([-out, along, up]), opening)
        return box.meets(UprightBox(place, np.full(3, 0.004), 0.0))

    for along in (0.01, 0.12, 0.24):
        assert meets(along, 0.0)
        assert meets(along, 0.05), "a handle may be there"
        assert not meets(along, -0.05)
        assert not meets(along, 0.1)
    assert not meets(0.28, 0.0)
    assert not meets(-0.03, 0.0)
    assert not meets(0.12, 0.0, up=0.3)


@pytest.mark.parametrize("wrong", [{"hinge": "0.5"}, {"edge": "nan 0.2"}, {"edge": "far away"}, {"edge": ""}])
def test_a_door_whose_numbers_are_wrong_is_no_obstacle(wrong: dict[str, str]) -> None:
    assert front_boxes(cupboard(1.44, handle=False, **wrong)) == []
    panel = door_panel(cupboard(1.44, handle=False, edge="0.514 0.19"))
    assert panel is None or np.isfinite(panel.box.corners).all()


class Behind(FakeKitchen):
    """A kitchen with an open door whose handle only a look from its outer side shows.

    Attributes:
        bare: no look shows it.
    """

    bare = False

    def __post_init__(self) -> None:
        self.turn, self.known, self.grasped = 1.44, False, False
        super().__post_init__()

    def shown(self) -> list[PerceivedThing]:
        hand, bar = self.kinematics.flange(self.joints), swung(BAR, self.turn)
        way, out = bar - hand[:3, 3], swung(np.array([-1.0, 0.0, 0.0]), self.turn) - HINGE
        looks_at_it = float(way @ hand[:3, 2]) > 0.95 * np.linalg.norm(way)
        self.known = self.known or (looks_at_it and float(-way @ out) > 0.12 and not self.bare)
        return [*super().shown(), cupboard(self.turn, self.known)]

    def follow(self, joints: np.ndarray, width: float) -> None:
        super().follow(joints, width)
        bar = swung(BAR, self.turn)
        at = np.linalg.norm(self.tool[:2] - bar[:2]) < 0.02 and abs(self.tool[2] - bar[2]) < 0.05
        self.grasped = width < 0.01 and (self.grasped or bool(at))
        if self.grasped:
            self.width = 0.014
            away = self.tool - HINGE
            self.turn = float(np.clip(np.arctan2(away[1], away[0]) - np.arctan2(BAR[1], BAR[0]), 0.0, 1.6))


def test_a_door_whose_handle_a_look_from_its_outer_side_shows_is_closed() -> None:
    kitchen = Behind()
    outcome = kitchen.do("CloseObject", "cupboard_1", most=20_000)
    assert outcome.done
    assert kitchen.turn < 0.05


@pytest.mark.parametrize(("skill", "opening"), [("OpenObject", 0.0), ("CloseObject", 1.44)])
def test_a_door_whose_handle_no_look_shows_stays_as_it_is(skill: str, opening: float) -> None:
    kitchen = Behind()
    kitchen.bare, kitchen.turn = True, opening
    kitchen.report()
    assert kitchen.do(skill, "cupboard_1", most=20_000).reason == "no handle of cupboard_1 is seen"
    assert kitchen.turn == opening
