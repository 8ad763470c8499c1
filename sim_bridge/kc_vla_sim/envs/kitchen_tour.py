"""The tour through a kitchen: what the arm does next, what a second hand does meanwhile, and what has changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import numpy as np
import sapien
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from kc_vla_sim.envs.kitchen_stock import Kitchen
from kc_vla_sim.envs.kitchen_thing import KitchenThing
from kc_vla_sim.envs.kitchen_unit import FurnitureUnit
from kc_vla_sim.envs.second_hand import SecondHand
from kc_vla_sim.envs.tabletop import ROBOT_BASE
from kc_vla_sim.experts.tool import Tool
from kc_vla_sim.kitchen import errands, legs
from kc_vla_sim.kitchen.errands import StandingThing
from kc_vla_sim.kitchen.events import KitchenEvent
from kc_vla_sim.kitchen.footprints import Footprint
from kc_vla_sim.kitchen.furniture import StorageSpace
from kc_vla_sim.kitchen.kinds import CUPBOARD, DRAWER, WORKTOP
from kc_vla_sim.kitchen.legs import TourLeg, TourProgress

if TYPE_CHECKING:
    from mani_skill.envs.scene import ManiSkillScene

DRAWER_NAME, DOOR_NAME = "drawer_1", "cupboard"
LOOKED, DRAWER_OPENED, PUT, DRAWER_CLOSED, DOOR_OPENED, DOOR_CLOSED, MOVED = range(7)
"""Stages of the tour, in the order in which the arm comes to them."""
STAGES = 7
_OPEN_SHARE = 0.9
"""The arm opens drawers and doors to this share of their travel."""
_DRIVE_STEPS = 40
"""For so long the second hand pulls at what the arm has not moved."""
_AJAR_SHARE, _SHUT_SHARE = 0.3, 0.03
"""The arm has opened or shut something when no more than this share of its travel is missing."""
_PUT_DOWN = 0.06
"""A thing is at its place when it is nearer to it than this, m."""


class KitchenTour:
    """What happens in an episode, step by step.

    Attributes:
        events: what has changed so far.
        stages: number and frame of each stage that is complete.
        legs: those of the arm at present.
        progress: where it is along them.
        hand: the second hand.
        over: whether there is nothing left to do.
    """

    def __init__(self, scene: ManiSkillScene, kitchen: Kitchen, seed: int) -> None:
        self._kitchen = kitchen
        self._seed = seed
        self.hand = SecondHand(scene)
        self.events: list[KitchenEvent] = []
        self.stages: list[tuple[int, int]] = []
        self.legs: list[TourLeg] = []
        self.progress = TourProgress()
        self.over = False
        self._step = 0
        self._helped = False
        self._carried: tuple[KitchenThing, str] | None = None
        self._opened: dict[str, bool] = {}
        self._script = self._tour()

    def before_step(self) -> None:
        """Let the second hand move on."""
        self.hand.step()

    def watch(self, step: int) -> None:
        """Take note of what a control step has opened, closed and moved, where nobody follows the tour."""
        self._step = step
        self._note_openings()
        if self._carried is not None and not self.hand.busy:
            self._moved(*self._carried, in_view=True, by="hand")
            self._carried = None

    def carry(self, thing_id: str, position: tuple[float, float, float], turn: float) -> None:
        """Begin to let the second hand put a thing elsewhere, where nobody follows the tour.

        Args:
            thing_id: of the kitchen.
            position: of its middle in the end, in the base's frame, m.
            turn: about the vertical, rad.
        """
        thing = self._kitchen.things[thing_id]
        self._carried = thing, self._place(thing)
        self.hand.carry(thing, ROBOT_BASE.p + np.array(position), turn)

    def after_step(self, step: int, tool: Tool) -> None:
        """Take note of what has come of a control step; the tool is given in the base's frame."""
        self._step = step
        self._note_openings()
        self.progress = self.progress.after(self.legs, tool.position, tool.rotation)
        while not self.over and self.progress.leg >= len(self.legs) and not self.hand.busy:
            following = next(self._script, None)
            if following is None:
                self.over = True
            else:
                self.legs = legs.around_base(tool.position, tool.rotation, following)
                self.progress = TourProgress()
                if following:
                    return

    def _tour(self) -> Iterator[list[TourLeg]]:
        """Yield the arm's legs, part by part; what is between is done when it has come to the end of a part."""
        yield legs.around()
        self._reach(LOOKED)
        unit = self._kitchen.unit_of(DRAWER_NAME)
        yield from self._open(unit, DRAWER_NAME, DRAWER_OPENED)
        yield self._look_at(unit)
        yield from self._put_into_drawer(unit)
        yield from self._shut(unit, DRAWER_NAME, DRAWER_CLOSED)
        door = self._kitchen.unit_of(DOOR_NAME)
        self._move_unseen(door)
        yield from self._open(door, DOOR_NAME, DOOR_OPENED)
        yield self._look_at(door)
        yield from self._shut(door, DOOR_NAME, DOOR_CLOSED)
        yield from self._pick_and_place()
        yield from self._open(unit, DRAWER_NAME)
        yield self._look_at(unit)
        yield from self._shut(unit, DRAWER_NAME)
        yield legs.around()[::2]

    def _open(self, unit: FurnitureUnit, name: str, stage: int | None = None) -> Iterator[list[TourLeg]]:
        target = _OPEN_SHARE * unit.furniture.piece(name).travel
        if not unit.opened(name):
            yield from self._move(unit, name, target)
        if stage is not None and unit.opened(name):
            self._reach(stage)

    def _shut(self, unit: FurnitureUnit, name: str, stage: int | None = None) -> Iterator[list[TourLeg]]:
        yield from self._move(unit, name, 0.0)
        if stage is not None and not unit.opened(name):
            self._reach(stage)

    def _move(self, unit: FurnitureUnit, name: str, target: float) -> Iterator[list[TourLeg]]:
        """Yield legs that open or close something; where the arm fails, the second hand does it."""
        piece, now = unit.furniture.piece(name), unit.openings[name]
        if piece.pivot is not None:
            yield list(legs.swing_door(unit.placed, piece, now, target))
        elif target > now:
            yield list(legs.pull_drawer(unit.placed, piece, now, target))
        else:
            yield list(legs.push_drawer(unit.placed, piece, now))
        if abs(unit.openings[name] - target) > (_AJAR_SHARE if target else _SHUT_SHARE) * piece.travel:
            self._helped = True
            unit.drive(name, target)
            yield [self._aside(unit, _DRIVE_STEPS)]
            unit.release(name)
            self._note_openings()
            self._helped = False

    def _put_into_drawer(self, unit: FurnitureUnit) -> Iterator[list[TourLeg]]:
        space = next(each for each in unit.furniture.spaces if each.holder == DRAWER_NAME and each.kind == DRAWER)
        for chosen in errands.things_for_drawer(self._standing(), space):
            thing = self._kitchen.things[chosen.thing_id]
            spot = errands.spot_in(space, thing.body.size, self._covered(unit, space), self._seed)
            if spot is not None:
                yield [self._aside(unit, 0)]
                self.hand.carry(thing, *self._goal(unit, space, spot, thing))
                yield [self._aside(unit, 4)]
                self._moved(thing, chosen.place, in_view=True, by="hand")
                self._reach(PUT)
                return

    def _move_unseen(self, door: FurnitureUnit) -> None:
        """Move a thing from the closed drawer into the closed cupboard, where there is one and room for it."""
        unit = self._kitchen.unit_of(DRAWER_NAME)
        if door.opened(DOOR_NAME) or unit.opened(DRAWER_NAME):
            return
        put = {event.object_id for event in self.events if event.what == "moved"}
        space = next(each for each in door.furniture.spaces if each.kind == CUPBOARD)
        for each in self._standing():
            if each.place != f"in {DRAWER_NAME}" or each.thing_id in put:
                continue
            thing = self._kitchen.things[each.thing_id]
            spot = errands.spot_in(space, thing.body.size, self._covered(door, space), self._seed)
            if spot is not None:
                position, yaw = self._goal(door, space, spot, thing)
                turn = sapien.Pose(q=[np.cos(yaw / 2), 0, 0, np.sin(yaw / 2)])
                thing.carry(sapien.Pose(p=position, q=(turn * sapien.Pose(q=thing.pose.q)).q))
                thing.release()
                self._moved(thing, each.place, in_view=False, by="hand")
                return

    def _pick_and_place(self) -> Iterator[list[TourLeg]]:
        """Yield legs that move a thing on the worktop; where the arm cannot take one, the second hand moves one."""
        standing, furniture = self._standing(), self._kitchen.layout.furniture
        for_arm = errands.things_for_arm(standing, furniture)
        for chosen in (*for_arm, *(each for each in standing if each.place == f"on {WORKTOP}")):
            spot = errands.spot_on_worktop(chosen, standing, furniture, self._seed)
            if spot is None:
                continue
            if chosen in for_arm:
                yield self._carrying(chosen, spot)
            thing = self._kitchen.things[chosen.thing_id]
            if np.linalg.norm(self._in_base(thing)[:2] - (spot.x, spot.y)) < _PUT_DOWN:
                self._moved(thing, chosen.place, in_view=True, by="arm")
            else:
                position = ROBOT_BASE.p + np.array([spot.x, spot.y, chosen.size[2] / 2 + 0.002])
                self.hand.carry(thing, position, 0.0)
                yield [legs.looking(float(np.arctan2(-spot.y, spot.x)), 0.33, legs.HEIGHT, 0.3)]
                self._moved(thing, chosen.place, in_view=True, by="hand")
            self._reach(MOVED)
            return

    def _carrying(self, thing: StandingThing, spot: Footprint) -> list[TourLeg]:
        """Return legs that carry a thing to a spot on the worktop."""
        yaw = errands.grasp_yaw(thing)
        height = max(thing.z, thing.size[2] - errands.FINGER_DEPTH, errands.LOWEST_GRASP)
        turned = float(np.arctan2(spot.y, spot.x) - np.arctan2(thing.y, thing.x))
        here, there = np.array([thing.x, thing.y, height]), np.array([spot.x, spot.y, height + 0.003])
        return list(legs.pick_and_place(here, yaw, there, yaw + turned))

    def _look_at(self, unit: FurnitureUnit) -> list[TourLeg]:
        """Return a leg from which the wrist camera looks down into what is open, and one at some distance."""
        place = unit.placed
        angle = float(np.arctan2(place.y, place.x))
        return [
            legs.looking(angle, 0.36, legs.HEIGHT + 0.1, 0.25),
            legs.looking(angle, 0.28, legs.HEIGHT, 0.75, stay=8),
        ]

    def _aside(self, unit: FurnitureUnit, stay: int) -> TourLeg:
        """Return a leg to where the wrist camera sees furniture and the arm is not in front of it."""
        angle = float(np.arctan2(unit.placed.y, unit.placed.x))
        return legs.looking(angle - 0.5, 0.3, legs.HEIGHT + 0.05, 0.6, stay)

    def _reach(self, stage: int) -> None:
        self.stages.append((stage, self._step))

    def _note_openings(self) -> None:
        for unit in self._kitchen.units.values():
            for name in unit.openings:
                opened = unit.opened(name)
                if self._opened.setdefault(name, opened) != opened:
                    self._opened[name] = opened
                    by: Literal["arm", "hand"] = "hand" if self._helped else "arm"
                    event = _opened if opened else _closed
                    self.events.append(event(self._step, name, by))

    def _moved(self, thing: KitchenThing, before: str, in_view: bool, by: Literal["arm", "hand"]) -> None:
        after = self._place(thing)
        self.events.append(KitchenEvent(self._step, "moved", thing.placed.thing_id, before, after, in_view, by))

    def _place(self, thing: KitchenThing) -> str:
        relation, holder = self._kitchen.holder_of(thing.pose.p, thing.lowest)
        return f"{relation} {holder}".strip()

    def _in_base(self, thing: KitchenThing) -> NDArray[np.float64]:
        return np.asarray((ROBOT_BASE.inv() * thing.pose).p, float)

    def _standing(self) -> list[StandingThing]:
        found = []
        for name, thing in self._kitchen.things.items():
            x, y, z = self._in_base(thing).tolist()
            yaw = _yaw_of(thing.pose)
            found.append(StandingThing(name, thing.placed.kind, x, y, z, yaw, thing.body.size, self._place(thing)))
        return found

    def _covered(self, unit: FurnitureUnit, space: StorageSpace) -> list[Footprint]:
        """Return what things cover in a space, in the frame of what it moves with."""
        frame = unit.link_pose(space.moving)
        covered = []
        for thing in self._kitchen.things.values():
            if self._place(thing) == f"{space.relation} {space.holder}":
                pose = frame.inv() * thing.pose
                size = thing.body.size
                covered.append(Footprint(float(pose.p[0]), float(pose.p[1]), size[0], size[1], _yaw_of(pose)))
        return covered

    def _goal(
        self, unit: FurnitureUnit, space: StorageSpace, spot: Footprint, thing: KitchenThing
    ) -> tuple[NDArray[np.float64], float]:
        """Return where in the world a thing is to be in a space, and by how much it is to be turned, rad."""
        frame = unit.link_pose(space.moving)
        height = space.low[2] + thing.body.size[2] / 2 + 0.003
        pose = frame * sapien.Pose(p=[spot.x, spot.y, height])
        return np.asarray(pose.p, float), _yaw_of(frame) + spot.yaw - _yaw_of(thing.pose)


def _opened(step: int, name: str, by: Literal["arm", "hand"]) -> KitchenEvent:
    return KitchenEvent(step, "opened", name, "closed", "opened", True, by)


def _closed(step: int, name: str, by: Literal["arm", "hand"]) -> KitchenEvent:
    return KitchenEvent(step, "closed", name, "opened", "closed", True, by)


def _yaw_of(pose: sapien.Pose) -> float:
    return float(Rotation.from_quat(np.roll(pose.q, -1)).as_euler("ZYX")[0])
