"""The ways of an arm through a kitchen: legs that its hand goes along, one after the other. In the base's frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from kc_vla_sim.kitchen.furniture import Moving
from kc_vla_sim.kitchen.placed import PlacedFurniture

Vector = NDArray[np.float64]

TRAVEL, SLOW = 0.025, 0.012
"""Speeds of the hand past everything and at things, m per step."""
OPEN, SHUT = 1.0, 0.0
"""Gripper commands."""
HEIGHT = 0.4
"""The hand goes from place to place so high above the worktop, m."""
_PATIENCE = 60
"""Steps after which a leg is given up."""
_TURNED = 0.1
"""A leg is at its end when the hand is turned away by so little, rad."""
_PASSING = 0.03
"""Ways to what the hand only passes are at their end so near to it, m."""
_ABOVE = 0.12
"""Above a handle before the hand goes down to it, m."""
_FINGER = 0.022
"""Between the middle of a handle and that of a finger behind or before it, m."""
_CHUNKS = 12
"""Parts of the arc of a door."""
_DRAWER_PAST, _DOOR_PAST = 0.012, 0.08
"""What is shut is led so far past that: the arm gives way, m and rad."""
_FROM_BASE, _ROUND, _ARC_STEP = 0.24, 0.36, 0.6
"""The hand passes the base's axis no nearer than this, or else in an arc of this radius, m, in such steps, rad."""
_DOWN = Rotation.from_matrix([[1, 0, 0], [0, -1, 0], [0, 0, -1]])


@dataclass(frozen=True, eq=False)
class TourLeg:
    """A way to a pose of the hand.

    Attributes:
        phase: its name, see `kc_vla_sim.experts.phases`.
        position: of the tool center point, m.
        rotation: of the tool.
        gripper: meanwhile, 0 closed to 1 open.
        speed: m per step.
        stay: steps that the hand stays there.
        near: the leg is at its end when the hand is so near to it, m.
    """

    phase: str
    position: Vector
    rotation: Rotation
    gripper: float = SHUT
    speed: float = TRAVEL
    stay: int = 0
    near: float = 0.012


@dataclass(frozen=True)
class TourProgress:
    """Where the hand is along some legs.

    Attributes:
        leg: index of the present one; their number when all are done.
        steps: how many it has taken in this leg.
        stayed: how many of them it was at the leg's end.
    """

    leg: int = 0
    steps: int = 0
    stayed: int = 0

    def after(self, legs: Sequence[TourLeg], position: ArrayLike, rotation: Rotation) -> TourProgress:
        """Return the progress one step on, where the hand has come to a pose."""
        if self.leg >= len(legs):
            return self
        leg = legs[self.leg]
        off = np.linalg.norm(np.subtract(position, leg.position))
        turned = (leg.rotation * rotation.inv()).magnitude()
        there = self.stayed + int(bool(off < leg.near and turned < _TURNED))
        if there > leg.stay or self.steps >= _PATIENCE + leg.stay:
            return TourProgress(self.leg + 1)
        return replace(self, steps=self.steps + 1, stayed=there)


def facing_down(yaw: float = 0.0) -> Rotation:
    """Return the turn of a hand that points down, with its camera on the side of `yaw` (rad, 0 ahead)."""
    return Rotation.from_euler("z", yaw) * _DOWN


def looking(angle: float, distance: float, height: float, tilt: float, stay: int = 4) -> TourLeg:
    """Return the leg to a pose from which the wrist camera looks outwards.

    Args:
        angle: direction from the base, rad.
        distance: of the hand from the base's axis, m.
        height: of the hand, m.
        tilt: how far it is raised from straight down, rad.
        stay: steps.
    """
    position = np.array([distance * np.cos(angle), distance * np.sin(angle), height])
    rotation = Rotation.from_euler("z", angle) * Rotation.from_euler("y", -tilt) * _DOWN
    return TourLeg("go", position, rotation, stay=stay, near=_PASSING)


def around() -> list[TourLeg]:
    """Return legs on which the wrist camera sees all of the kitchen."""
    angles = np.radians([40.0, 85.0, 110.0, 60.0, 0.0, -60.0, -105.0])
    return [looking(float(angle), 0.33, HEIGHT + 0.05, 0.45) for angle in angles]


def pull_drawer(unit: PlacedFurniture, piece: Moving, opening: float, to: float) -> Iterator[TourLeg]:
    """Yield legs that hook the handle of a drawer from above and pull it from one opening to another (m)."""
    yield from _slide(unit, piece, opening, to, _FINGER)


def push_drawer(unit: PlacedFurniture, piece: Moving, opening: float) -> Iterator[TourLeg]:
    """Yield legs that push a drawer shut at its handle."""
    yield from _slide(unit, piece, opening, 0.0, -_FINGER)


def _slide(unit: PlacedFurniture, piece: Moving, opening: float, to: float, side: float) -> Iterator[TourLeg]:
    start, end = _handle(unit, piece, opening, side), _handle(unit, piece, to, side if to else side + _DRAWER_PAST)
    down = facing_down(unit.yaw)
    above = np.array([0.0, 0.0, _ABOVE])
    yield TourLeg("go", start + above, down, near=_PASSING)
    yield TourLeg("descend", start, down, speed=SLOW, stay=2)
    yield TourLeg("push", end, down, speed=SLOW, stay=4)
    back = _handle(unit, piece, to, side + (0.004 if side < 0 else -0.004))
    yield TourLeg("rise", back + above, down, near=_PASSING)


def swing_door(unit: PlacedFurniture, piece: Moving, opening: float, to: float) -> Iterator[TourLeg]:
    """Yield legs that grip the handle of a door from above and lead it along its arc to an opening (rad)."""
    above = np.array([0.0, 0.0, _ABOVE])
    to = to or -_DOOR_PAST
    at = _handle(unit, piece, opening)
    turn = facing_down(unit.yaw + piece.turn * opening)
    yield TourLeg("go", at + above, turn, OPEN, near=_PASSING)
    yield TourLeg("descend", at, turn, OPEN, speed=SLOW, stay=2)
    yield TourLeg("close", at, turn, SHUT, speed=SLOW, stay=8)
    for share in np.linspace(0, 1, _CHUNKS + 1)[1:]:
        angle = opening + float(share) * (to - opening)
        turn = facing_down(unit.yaw + piece.turn * angle)
        yield TourLeg("push", _handle(unit, piece, angle), turn, SHUT, speed=SLOW, near=_PASSING)
    at, turn = _handle(unit, piece, to), facing_down(unit.yaw + piece.turn * to)
    yield TourLeg("let go", at, turn, OPEN, speed=SLOW, stay=8)
    yield TourLeg("rise", at + above, turn, OPEN, near=_PASSING)


def pick_and_place(grasp: Vector, yaw: float, target: Vector, target_yaw: float) -> Iterator[TourLeg]:
    """Yield legs that take a thing from above and put it elsewhere.

    Args:
        grasp: where the fingers close, m.
        yaw: of the hand there, rad.
        target: where they open, m.
        target_yaw: of the hand there, rad.
    """
    up = HEIGHT - 0.1
    here, there = facing_down(yaw), facing_down(target_yaw)
    yield TourLeg("approach", np.array([*grasp[:2], up]), here, OPEN, near=_PASSING)
    yield TourLeg("descend", grasp, here, OPEN, speed=SLOW, stay=2)
    yield TourLeg("close", grasp, here, SHUT, speed=SLOW, stay=8)
    yield TourLeg("lift", np.array([*grasp[:2], up]), here, SHUT, near=_PASSING)
    yield TourLeg("carry", np.array([*target[:2], up]), there, SHUT, near=_PASSING)
    yield TourLeg("lower", target, there, SHUT, speed=SLOW, stay=2)
    yield TourLeg("let go", target, there, OPEN, speed=SLOW, stay=8)
    yield TourLeg("rise", np.array([*target[:2], up]), there, OPEN, near=_PASSING)


def around_base(position: ArrayLike, rotation: Rotation, way: Iterable[TourLeg]) -> list[TourLeg]:
    """Return legs with others between them where the straight way would lead over the base of the arm.

    Args:
        position: of the hand at present, m.
        rotation: of the hand at present.
        way: the legs.
    """
    led: list[TourLeg] = []
    for leg in way:
        led += [*_arc(np.asarray(position, float), rotation, leg), leg]
        position, rotation = leg.position, leg.rotation
    return led


def _arc(position: Vector, rotation: Rotation, leg: TourLeg) -> Iterator[TourLeg]:
    start, end = position[:2], leg.position[:2]
    way = end - start
    share = float(np.clip(-start @ way / max(float(way @ way), 1e-9), 0, 1))
    if np.linalg.norm(start + share * way) > _FROM_BASE:
        return
    angle = float(np.arctan2(start[1], start[0]))
    turn = float(np.arctan2(end[1], end[0])) - angle  # always past the front of the arm
    count = int(np.ceil(abs(turn) / _ARC_STEP))
    for share in np.arange(1, count) / max(count, 1):
        radius = max(_ROUND, (1 - share) * float(np.linalg.norm(start)) + share * float(np.linalg.norm(end)))
        height = max(HEIGHT - 0.1, (1 - share) * float(position[2]) + share * float(leg.position[2]))
        at = angle + share * turn
        place = np.array([radius * np.cos(at), radius * np.sin(at), height])
        turned = Rotation.from_euler("z", share * turn) * rotation
        yield TourLeg(leg.phase, place, turned, leg.gripper, near=2 * _PASSING)


def _handle(unit: PlacedFurniture, piece: Moving, opening: float, behind: float = 0.0) -> Vector:
    """Return the middle of a handle, or a point `behind` it (m, towards the furniture), near its upper end."""
    x, y, z = piece.handle_at(opening).tolist()
    x, y = unit.point(x + behind, y)
    return np.array([x, y, z + (0.036 if piece.pivot else 0.002)])
