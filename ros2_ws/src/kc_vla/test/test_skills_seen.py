"""What an arm does with what a detector gets wrong: it looks from near, believes fronts, and other names."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fake_kitchen import RATE, READY, ROBOT, FakeKitchen, thing

from kc_vla.motion.planner import MotionPlanner
from kc_vla.skills.boxes import fitted, named_obstacles
from kc_vla.skills.context import SkillContext
from kc_vla.skills.grasping import grasps
from kc_vla.skills.handles import handle_of
from kc_vla.skills.hands import facing_down
from kc_vla.skills.interface import ArmReading, SkillError
from kc_vla.skills.motion_paths import MotionPathMaker
from kc_vla.skills.perceived import PerceivedThing
from kc_vla.skills.perceived_scene import PerceivedScene
from kc_vla.skills.tool_path import ToolPose

HANDLE = {"handle": "0.4410 0.0000 0.2160", "opening": "0.0000"}
APPLE = thing("apple_1", (0.42, 0.2, 0.038), (0.07, 0.07, 0.076))


class Nearsighted(FakeKitchen):
    """A kitchen in which a thing looks too wide until the hand looks at it."""

    def shown(self) -> list[PerceivedThing]:
        run = self.station.run
        self.looked = getattr(self, "looked", False) or (run is not None and run.stage == "look at")
        wide = {} if self.looked else {"size": np.array([0.12, 0.11, 0.076])}
        return [
            replace(each, confidence=0.6, **wide) if each.object_id == "apple_1" else each for each in super().shown()
        ]


def test_what_seems_too_wide_is_looked_at_from_near_before_it_is_given_up() -> None:
    kitchen = Nearsighted()
    assert kitchen.do("PickupObject", "apple_1").done
    assert kitchen.in_hand == "apple_1"


def test_what_is_surely_too_wide_is_not_looked_at_again() -> None:
    kitchen = FakeKitchen({"apple_1": replace(APPLE, size=np.array([0.12, 0.11, 0.076]))})
    assert "11.0 cm wide" in kitchen.do("PickupObject", "apple_1").reason
    assert np.abs(kitchen.joints - READY).max() < 1e-6


class Renaming(FakeKitchen):
    """A kitchen whose perception takes what was put down for another thing, or does not see it at all."""

    name, kind = "apple_2", "apple"

    def shown(self) -> list[PerceivedThing]:
        put = bool(self.sent) and not self.in_hand and self.taken
        self.taken = getattr(self, "taken", False) or bool(self.in_hand)
        if not put:
            return super().shown()
        others = [each for each in super().shown() if each.object_id != "apple_1"]
        now = self.things["apple_1"]
        return [*others, replace(now, object_id=self.name, object_type=self.kind)] if self.name else others


@pytest.mark.parametrize("kind", ["apple", "tomato"])
def test_what_was_put_down_keeps_its_name_however_it_is_reported_then(kind: str) -> None:
    kitchen = Renaming()
    kitchen.kind = kind
    assert kitchen.do("PickupObject", "apple_1").done
    assert kitchen.do("PutObject", "apple_1", "worktop", most=20_000).done
    seen = {each.object_id: each.object_type for each in kitchen.station.seen()}
    assert seen["apple_1"] == "apple"
    assert "apple_2" not in seen
    assert kitchen.do("PickupObject", "apple_1", most=20_000).done


def test_what_is_not_seen_after_it_was_put_down_is_not_reported_as_put() -> None:
    kitchen = Renaming()
    kitchen.name = ""
    assert kitchen.do("PickupObject", "apple_1").done
    outcome = kitchen.do("PutObject", "apple_1", "worktop", most=20_000)
    assert outcome.reason == "apple_1 is not seen after it was put on or into worktop"


def test_a_name_that_is_reported_itself_belongs_to_no_other_thing() -> None:
    scene = PerceivedScene()
    other = replace(APPLE, object_id="apple_2", position=APPLE.position + np.array([0.1, 0.0, 0.0]))
    scene.take([other], 1.0)
    scene.same("apple_2", APPLE)
    assert [each.object_id for each in scene.all()] == ["apple_1"]
    assert scene.find("apple_2") is scene.find("apple_1")
    scene.take([APPLE, other], 2.0)
    assert {each.object_id for each in scene.all()} == {"apple_1", "apple_2"}
    assert scene.need("apple_1").position == pytest.approx(APPLE.position)


def test_what_is_shut_in_is_not_what_is_seen_elsewhere_with_its_name() -> None:
    """Perception lost the apple in the hand, took it for a sponge in the drawer, and later something for the apple."""
    scene = PerceivedScene()
    drawer = thing("drawer_1", (0.43, 0.0, 0.17), (0.25, 0.27, 0.11), state="opened")
    inside = replace(APPLE, object_id="sponge_2", object_type="sponge", position=np.array([0.43, 0.0, 0.15]))
    inside = replace(inside, attributes={"place": "in drawer_1"})
    scene.take([drawer, inside], 1.0)
    scene.same("sponge_2", APPLE)
    scene.take([replace(drawer, state="closed")], 2.0)
    elsewhere = replace(APPLE, position=np.array([0.2, -0.4, 0.03]))
    for stamp_s in (3.0, 4.0):
        scene.take([elsewhere], stamp_s)
        assert scene.need("apple_1").container == ("in", "drawer_1")
        assert {each.object_id for each in scene.all()} == {"drawer_1", "apple_1", "apple_1_other"}
        assert scene.need("apple_1_other").position == pytest.approx(elsewhere.position)
    scene.take([drawer, inside], 5.0)
    assert scene.need("apple_1").position == pytest.approx(inside.position)
    scene.take([], 6.0, gone=("apple_1",))
    assert {each.object_id for each in scene.all()} == {"drawer_1", "apple_1"}


def test_the_floor_of_a_drawer_is_below_what_lies_on_it() -> None:
    """Its height is measured worse than that of a knife, which a hand could not take otherwise."""
    scene = PerceivedScene()
    drawer = thing("drawer_1", (0.42, 0.0, 0.18), (0.2, 0.27, 0.1), state="opened")
    scene.take([drawer], 1.0)
    assert floor_top(scene) == pytest.approx(0.136)
    knife = thing("knife_1", (0.44, -0.06, 0.134), (0.19, 0.022, 0.014), attributes={"place": "in drawer_1"})
    scene.take([knife], 2.0)
    assert floor_top(scene) == pytest.approx(0.127)
    assert next(grasps(scene, ROBOT.opening, knife))
    scene.take([replace(knife, position=np.array([0.44, -0.06, 0.16]))], 3.0)
    assert floor_top(scene) == pytest.approx(0.136)


def floor_top(scene: PerceivedScene) -> float:
    return min(box.middle[2] + box.size[2] / 2 for name, box in named_obstacles(scene) if name == "drawer_1")


def test_an_attribute_that_is_reported_as_empty_is_not_known_any_more() -> None:
    scene = PerceivedScene()
    drawer = thing("drawer_1", (0.43, 0.0, 0.17), (0.25, 0.27, 0.11), state="opened", attributes=dict(HANDLE))
    scene.take([drawer], 1.0)
    scene.take([replace(drawer, attributes={"handle": "", "opening": "", "place": "in cabinet_1"})], 2.0)
    assert scene.need("drawer_1").attributes == {"place": "in cabinet_1"}


def test_furniture_that_perception_has_found_to_be_one_is_one() -> None:
    scene = PerceivedScene()
    drawer = thing("drawer_1", (0.57, 0.0, 0.17), (0.25, 0.27, 0.11), state="closed", attributes=dict(HANDLE))
    second = replace(drawer, object_id="drawer_3", position=np.array([0.6, 0.0, 0.12]))
    lower = thing("drawer_2", (0.57, 0.0, 0.06), (0.25, 0.27, 0.11), state="closed")
    oven = thing("microwave_1", (0.6, 0.4, 0.1), (0.21, 0.31, 0.2))
    part = replace(oven, object_id="microwave_2", size=np.array([0.15, 0.15, 0.12]))
    scene.take([second, lower, part], 1.0)
    scene.take([drawer, oven], 2.0)
    assert {each.object_id for each in scene.all()} == {"drawer_1", "drawer_2", "microwave_1"}


class Unlooked(FakeKitchen):
    """A kitchen in which nobody sees how far the drawer is open until the hand looks at it."""

    def shown(self) -> list[PerceivedThing]:
        run = self.station.run
        self.looked = getattr(self, "looked", False) or (run is not None and run.stage == "look at")
        if self.looked:
            return super().shown()
        return [replace(each, attributes={}) if each.object_type == "drawer" else each for each in super().shown()]


def test_a_handle_that_is_not_seen_is_looked_for() -> None:
    kitchen = Unlooked()
    kitchen.opening = 0.12
    kitchen.report()
    assert kitchen.do("CloseObject", "drawer_1", most=20_000).done
    assert kitchen.opening == 0.0


def test_an_open_door_is_where_the_hand_led_it_until_it_is_seen() -> None:
    scene = PerceivedScene()
    shut = {"handle": "0.4446 -0.2033 0.2203", "hinge": "0.4990 -0.4270", "opening": "0.0000"}
    cupboard = thing("cupboard_1", (0.6, -0.31, 0.14), (0.21, 0.26, 0.28), state="closed", attributes=shut)
    scene.take([cupboard], 1.0)
    handle = handle_of(scene.need("cupboard_1"))
    scene.led("cupboard_1", handle.led_to(1.5))
    unseen = replace(cupboard, state="opened", attributes={"handle": "", "hinge": "", "opening": ""})
    scene.take([unseen], 2.0)
    led = handle_of(scene.need("cupboard_1"))
    assert led.opening == 1.5
    assert led.position == pytest.approx(handle.at(1.5), abs=1e-4)
    nearly = {**shut, "handle": "0.3000 -0.4500 0.2203", "opening": "1.6000"}
    scene.take([replace(unseen, attributes=nearly)], 3.0)
    assert handle_of(scene.need("cupboard_1")).position == pytest.approx(handle.at(1.5), abs=1e-4)
    moved = {**shut, "opening": "1.2000"}
    scene.take([replace(unseen, attributes=moved)], 4.0)
    assert handle_of(scene.need("cupboard_1")).opening == 1.2
    scene.take([unseen], 5.0)
    with pytest.raises(SkillError, match="not seen how far"):
        handle_of(scene.need("cupboard_1"))


def test_furniture_ends_at_the_front_that_was_measured() -> None:
    scene = PerceivedScene()
    cabinet = thing("cabinet_1", (0.57, 0.0, 0.115), (0.25, 0.28, 0.23))  # 5 cm too near
    drawer = thing("drawer_1", (0.55, 0.0, 0.17), (0.25, 0.27, 0.11), state="closed")
    known = replace(drawer, attributes={"place": "in cabinet_1", **HANDLE})
    other = replace(drawer, object_id="drawer_2", position=np.array([0.54, 0.0, 0.06]))
    other = replace(other, attributes={"place": "in cabinet_1"})
    scene.take([cabinet, known, other], 1.0)
    for each in scene.all():
        box = fitted(scene, each)
        assert box.middle[0] - box.size[0] / 2 == pytest.approx(0.486), each.object_id
        assert box.middle[0] + box.size[0] / 2 == pytest.approx(each.position[0] + 0.125)
    alone = PerceivedScene()
    alone.take([cabinet], 1.0)
    assert fitted(alone, cabinet).middle == pytest.approx(cabinet.position)


def test_an_open_cupboard_ends_where_its_door_was_when_it_was_closed() -> None:
    attributes = {"handle": "0.2554 0.1645 0.2150", "hinge": "0.4990 0.1907", "opening": "1.4389"}
    cupboard = thing("cupboard_1", (0.57, 0.321, 0.14), (0.21, 0.26, 0.28), state="opened", attributes=attributes)
    scene = PerceivedScene()
    scene.take([cupboard], 1.0)
    assert fitted(scene, cupboard).middle[0] - fitted(scene, cupboard).size[0] / 2 == pytest.approx(0.486, abs=0.01)


def test_an_arm_that_has_left_its_workspace_gets_back_into_it() -> None:
    paths, low = MotionPathMaker(ROBOT), float(MotionPlanner(ROBOT).arm.workspace_low[1])
    start = paths.free(READY, ToolPose(np.array([0.2, low + 0.06, 0.25]), facing_down(-np.pi / 2)))[-1]
    out = paths.straight(start, [paths.tool_at(start).moved(y=-0.08)], 0.1)[-1]
    assert paths.tool_at(out).position[1] < low
    context = SkillContext(ArmReading(0, out, 0.0), PerceivedScene(), paths, ROBOT.opening, RATE)
    path = context.free("approach", ToolPose(np.array([0.4, 0.0, 0.3]), facing_down()), 0.0)
    tools = np.array([paths.tool_at(each).position for each in path.joints])
    np.testing.assert_allclose(tools[-1], (0.4, 0.0, 0.3), atol=2e-3)
    assert tools[:, 1].min() > paths.tool_at(out).position[1] - 0.01
