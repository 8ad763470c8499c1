"""Grasps of a parallel gripper: from a thing's box and type, or a handle, to ranked poses of the tool and widths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from kc_vla.core.mounted_camera import Pose
from kc_vla.core.robot import Vector
from kc_vla.motion.hand import ParallelHand
from kc_vla.motion.poses import checked_unit, checked_vector, pose_of_axes
from kc_vla.motion.problem import MotionError, MotionProblem
from kc_vla.motion.scene import SceneBox

TOP, SIDE, RIM, HANDLE = "top", "side", "rim", "handle"
"""Kinds of grasps."""
ROUND = frozenset(
    ("apple", "bottle", "bowl", "can", "cup", "egg", "glass", "jar", "mug", "orange", "pot", "salt_shaker", "tomato")
)
"""Types of things that can be grasped from any side."""
HOLLOW = frozenset(("bowl", "cup", "glass", "mug", "pan", "pot"))
"""Types whose rim can be between the fingers where they are too wide."""
STANDOFF = 0.09
"""The tool begins its approach so far before a grasp, m."""
_ROOM, _OPEN_ROOM = 0.004, 0.03
"""A gripper is wider than the thing by at least the first, and by the second where it can, m."""
_SQUARE = 0.12
"""Sides of a round thing differ by no more than this share."""
_UPRIGHT = 0.9
"""Cosine of the angle by which a box axis may be off the vertical."""
_DEEP = 0.8
"""Share of a finger's length that a thing is between the fingers at most."""
_ABOVE_SURFACE = 0.007
"""Tips stay so far above the surface, m."""
_LEAST_HOLD = 0.003
"""Tips reach at least so far below the top of a thing, m."""
_TILTS = (0.0, 0.45, -0.45, 0.8, -0.8)
"""How far a hand above a thing is tilted, rad."""
_YAWS = 8
_RIM_WALL, _RIM_DEPTH = 0.008, 0.012
"""Thickness of a rim and how deep it is between the fingers, m."""


@dataclass(frozen=True, eq=False)
class Grasp:
    """A way to grasp something.

    Attributes:
        kind: `TOP`, `SIDE`, `RIM` or `HANDLE`.
        pose: of the tool as the fingers close (4, 4), base frame, m.
        width: of the gripper before that, m.
        closed: of the gripper around the thing, as far as its size tells, m.
        cost: the lower the better.
    """

    kind: str
    pose: Pose
    width: float
    closed: float
    cost: float

    @property
    def approach(self) -> Vector:
        """Return the direction in which the hand comes (3,), a unit vector of the base frame."""
        return np.asarray(self.pose[:3, 2])

    def before(self, distance: float = STANDOFF) -> Pose:
        """Return the pose of the tool (4, 4) so far before the grasp, m."""
        pose = self.pose.copy()
        pose[:3, 3] -= distance * self.approach
        return pose


@dataclass(frozen=True, eq=False)
class BarHandle:
    """A handle of a drawer or a door.

    Attributes:
        middle: of its bar (3,), base frame, m.
        bar: direction of the bar (3,).
        outwards: direction away from what it opens (3,), across the bar.
        length: of the bar, m.
        thickness: of the bar, m.
    """

    middle: Vector
    bar: Vector
    outwards: Vector
    length: float = 0.08
    thickness: float = 0.012

    def __post_init__(self) -> None:
        """Check the numbers. Raises: MotionError: one cannot be."""
        object.__setattr__(self, "middle", checked_vector(self.middle, "the middle of the handle"))
        object.__setattr__(self, "bar", checked_unit(self.bar, "the bar of the handle"))
        object.__setattr__(self, "outwards", checked_unit(self.outwards, "the direction of the handle"))
        if abs(float(self.bar @ self.outwards)) > 0.5:
            raise MotionError(
                MotionProblem.INPUT, "the bar of the handle must be across the direction that it opens in"
            )
        if not (0.0 < self.thickness < 0.2 and 0.0 < self.length < 2.0):
            raise MotionError(
                MotionProblem.INPUT, f"a handle {self.length:g} m long and {self.thickness:g} m thick cannot be grasped"
            )


def grasps_of(
    box: SceneBox, object_type: str, hand: ParallelHand, surface: float, kinds: Iterable[str] = (TOP, RIM, SIDE)
) -> list[Grasp]:
    """Return grasps of a thing that a hand is wide enough for, the best first.

    Reach and collisions are not looked at: `MotionPlanner.reachable` does that.

    Args:
        box: around the thing, with its pose.
        object_type: of the thing, such as "mug".
        hand: the gripper.
        surface: height of the support surface, m.
        kinds: of grasps that are wanted; the first is preferred.

    Raises:
        MotionError: the thing is below the surface, or too wide or too flat for the gripper.
    """
    top = float(box.corners[:, 2].max())
    if top < surface + _LEAST_HOLD + _ABOVE_SURFACE:
        where = "below" if box.pose[2, 3] < surface else "too flat to be grasped from"
        raise MotionError(
            MotionProblem.INPUT, f"'{box.name}' is {where} the surface: its top is {top:.3f} m high, look again"
        )
    makers = {TOP: _from_above, RIM: _at_rim, SIDE: _from_aside}
    wanted = list(kinds)
    if unknown := [kind for kind in wanted if kind not in makers]:
        raise MotionError(MotionProblem.INPUT, f"there is no grasp '{unknown[0]}' of a thing: {', '.join(makers)}")
    found = [
        Grasp(grasp.kind, grasp.pose, grasp.width, grasp.closed, grasp.cost + rank)
        for rank, kind in enumerate(wanted)
        for grasp in makers[kind](box, object_type, hand, surface, top)
    ]
    if not found:
        sides = " x ".join(f"{1e3 * side:.0f}" for side in box.size)
        raise MotionError(
            MotionProblem.INPUT,
            f"'{box.name}' of {sides} mm does not fit between the fingers, which open {1e3 * hand.width:.0f} mm",
        )
    return sorted(found, key=lambda grasp: grasp.cost)


def handle_grasps(handle: BarHandle, hand: ParallelHand) -> list[Grasp]:
    """Return grasps of a handle, from the front, from above and between, the best first.

    Raises:
        MotionError: the bar is thicker than the gripper opens.
    """
    if handle.thickness + _ROOM > hand.width:
        raise MotionError(
            MotionProblem.INPUT,
            f"a handle {1e3 * handle.thickness:.0f} mm thick does not fit between the fingers, which open "
            f"{1e3 * hand.width:.0f} mm",
        )
    down = np.array([0.0, 0.0, -1.0])
    inwards = -(handle.outwards - handle.bar * float(handle.bar @ handle.outwards))
    inwards /= np.linalg.norm(inwards)
    found = []
    width = min(hand.width, handle.thickness + 2 * _OPEN_ROOM)
    for cost, share in ((0.0, 0.0), (0.1, 0.5), (0.2, 1.0), (0.3, 0.25), (0.4, 0.75)):
        approach = (1.0 - share) * inwards + share * down
        if np.linalg.norm(approach) < 0.3:
            continue
        approach /= np.linalg.norm(approach)
        closing = np.cross(handle.bar, approach)
        if np.linalg.norm(closing) < 0.3:  # from above, along an upright bar
            closing = np.cross(approach, inwards)
        closing /= np.linalg.norm(closing)
        upper = 0.45 * handle.length * -float(handle.bar[2]) * approach[2] * np.sign(handle.bar[2] or 1.0)
        for offset in (0.0, 0.25 * handle.length, -0.25 * handle.length):
            at = handle.middle + handle.bar * (
                offset + (upper if abs(handle.bar[2]) > _UPRIGHT and share == 1.0 else 0)
            )
            found += [
                Grasp(HANDLE, pose, width, handle.thickness, cost + abs(offset))
                for pose in _both_ways(at, approach, closing, hand)
            ]
    return sorted(found, key=lambda grasp: grasp.cost)


def _from_above(box: SceneBox, object_type: str, hand: ParallelHand, surface: float, top: float) -> Iterator[Grasp]:
    tall = top - max(float(box.corners[:, 2].min()), surface)
    deep = min(0.5 * tall, _DEEP * hand.length)
    over = hand.tip - hand.depth
    height = max(top - deep, surface + _ABOVE_SURFACE + over)
    if height - over > top - _LEAST_HOLD:
        return
    place, down = np.array([*box.pose[:2, 3], height]), np.array([0.0, 0.0, -1.0])
    for closing, width, cost in _closings(box, object_type):
        if width + _ROOM > hand.width:
            continue
        for tilt in _TILTS:
            approach = Rotation.from_rotvec(closing * tilt).apply(down)
            lifted = place - 0.01 * abs(np.sin(tilt)) * down
            for pose in _both_ways(lifted, approach, closing, hand):
                yield Grasp(TOP, pose, min(hand.width, width + _OPEN_ROOM), width, cost + 0.4 * abs(tilt))


def _from_aside(box: SceneBox, object_type: str, hand: ParallelHand, surface: float, top: float) -> Iterator[Grasp]:
    outwards = box.pose[:2, 3] / max(float(np.linalg.norm(box.pose[:2, 3])), 1e-6)
    low = max(float(box.corners[:, 2].min()), surface)
    for closing, width, cost in _closings(box, object_type):
        if width + _ROOM > hand.width:
            continue
        for sign in (1.0, -1.0):
            approach = sign * np.cross([0.0, 0.0, 1.0], closing)
            thick = float(np.abs(box.pose[:3, :3].T @ approach) @ box.size)
            back = max(0.0, thick / 2 - _DEEP * hand.length)
            away = 0.3 * (1.0 - float(approach[:2] @ outwards))
            for share in (0.5, 0.75):
                middle = np.array([*box.pose[:2, 3], low + share * (top - low)]) - back * approach
                for pose in _both_ways(middle, approach, closing, hand):
                    yield Grasp(SIDE, pose, min(hand.width, width + _OPEN_ROOM), width, cost + away + 0.1 * share)


def _at_rim(box: SceneBox, object_type: str, hand: ParallelHand, surface: float, top: float) -> Iterator[Grasp]:
    if object_type not in HOLLOW or abs(float(box.pose[2, 2])) < _UPRIGHT:
        return
    over = hand.tip - hand.depth
    height = max(top + over - min(_RIM_DEPTH + over, _DEEP * hand.length), surface + _ABOVE_SURFACE + over)
    if height - over > top - _LEAST_HOLD:
        return
    radius = float(min(box.size[:2])) / 2 - _RIM_WALL / 2
    if radius < 2 * _RIM_WALL:
        return
    width = min(hand.width, radius, 0.05)
    for number in range(_YAWS):
        angle = 2 * np.pi * number / _YAWS
        across = np.array([np.cos(angle), np.sin(angle), 0.0])
        place = np.array([*box.pose[:2, 3], height]) + radius * across
        near = float(np.linalg.norm(place[:2]) / max(float(np.linalg.norm(box.pose[:2, 3])), 1e-6))
        for pose in _both_ways(place, np.array([0.0, 0.0, -1.0]), across, hand):
            yield Grasp(RIM, pose, width, _RIM_WALL, 0.2 * near)


def _closings(box: SceneBox, object_type: str) -> Iterator[tuple[Vector, float, float]]:
    """Yield level directions (3,) in which fingers can close on a box, its width along them, m, and a cost."""
    level = [
        (box.pose[:3, k] / np.linalg.norm(box.pose[:2, k]) * (1, 1, 0), float(box.size[k]))
        for k in range(3)
        if abs(float(box.pose[2, k])) < 0.35
    ]
    if not level:
        return
    least = min(width for _, width in level)
    for direction, width in level:
        yield np.asarray(direction / np.linalg.norm(direction)), width, 2.0 * (width - least)
    across = max(width for _, width in level)
    if len(level) == 2 and object_type in ROUND and across - least <= _SQUARE * across:
        first = np.asarray(level[0][0])
        for number in range(1, _YAWS):
            if number % (_YAWS // 2):
                turned = Rotation.from_rotvec([0.0, 0.0, np.pi * number / _YAWS]).apply(first)
                yield np.asarray(turned), across, 0.02


def _both_ways(place: Vector, approach: Vector, closing: Vector, hand: ParallelHand) -> Iterator[Pose]:
    """Yield the two poses of the tool in which the fingers close at a place along a direction."""
    across = closing - approach * float(closing @ approach)
    across /= np.linalg.norm(across)
    for sign in (1.0, -1.0):
        y = sign * across
        turn = pose_of_axes((np.cross(y, approach), y, approach), np.zeros(3))
        # the hand's own closing direction is y of the tool only as a rule
        own = pose_of_axes((np.cross(hand.closing, [0, 0, 1.0]), hand.closing, np.array([0, 0, 1.0])), np.zeros(3))
        pose = turn @ own.T
        pose[:3, 3] = place - hand.depth * approach
        yield pose
