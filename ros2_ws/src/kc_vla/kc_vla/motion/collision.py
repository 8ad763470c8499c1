"""Whether an arm in a pose touches something, leaves its workspace or its limits: distances by coal."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import coal
import numpy as np
import pinocchio

from kc_vla.core.mounted_camera import Pose
from kc_vla.core.robot import Vector
from kc_vla.motion.arm_model import ArmModel
from kc_vla.motion.pairs import EASED, PATH_STEP, SELF_CLEARANCE, TouchingPair, own_pairs
from kc_vla.motion.problem import MotionError, MotionProblem
from kc_vla.motion.scene import SURFACE, MotionScene

WORKSPACE_MARGIN = 0.006
"""The tool frame and the joints stay so far inside of the workspace, m: the controller itself keeps 5 mm."""
_DEEPEST, _HELD_DEEPEST = 0.005, 0.03
"""An arm that is in something by more than this, m, is not moved; what it holds may stand in what it stands on."""
_ROUNDING = 1e-6
_POINT = 1e-4
"""Radius of a sphere that stands for a point, m."""
_COARSE = 5


class _PlacedShape(NamedTuple):
    """A shape, and where it is in the frame of a joint; joint 0 stands still."""

    joint: int
    place: Pose
    geometry: Any


class CollisionChecker:
    """Checks poses of an arm in a scene.

    Attributes:
        arm: the arm.
        step: by which any point of the arm moves at most between two poses that are checked on a path, m. All margins
            are wider by half of it on paths, so that nothing comes nearer than its clearance in between.
    """

    step = PATH_STEP

    def __init__(self, arm: ArmModel, scene: MotionScene, touch: frozenset[str] = frozenset()) -> None:
        """Build the shapes of the arm and of the scene.

        Args:
            arm: the arm.
            scene: what must not be touched.
            touch: names of boxes that the hand and what it holds may touch; `SURFACE` is for what is held alone.
        """
        self.arm, self._held = arm, None if scene.held is None else scene.held.name
        shapes = arm.shapes(scene.width)
        self._geometry, self._pairs = pinocchio.GeometryModel(), list[TouchingPair]()
        self._placed: list[_PlacedShape] = []
        self._hand_pairs: list[tuple[TouchingPair, _PlacedShape, _PlacedShape]] = []
        links = [self._add(shape.joint, shape.place, shape.geometry) for shape in shapes]
        held = self._add_held(scene)
        self.reach = arm.reaches(shapes, self._held_points(scene))
        obstacles = [(SURFACE, self._add(0, np.eye(4), coal.Halfspace(np.array([0.0, 0.0, 1.0]), scene.surface)))]
        obstacles += [(box.name, self._add(0, box.pose, coal.Box(*box.size))) for box in scene.boxes]
        for shape, index in zip(shapes, links, strict=True):
            hand = shape.joint == arm.count
            for name, obstacle in obstacles:
                allowed = hand and name in touch and name != SURFACE
                if shape.joint and not allowed:
                    margin = scene.surface_clearance if name == SURFACE else scene.clearance
                    self._pair(index, obstacle, TouchingPair(shape.link, name, margin))
            if held is not None and shape.joint < arm.count - 1:
                self._pair(index, held, TouchingPair(self._held or "", shape.link, SELF_CLEARANCE))
        if held is not None and scene.held is not None:
            for name, obstacle in obstacles:
                if name not in touch:
                    self._pair(held, obstacle, TouchingPair(scene.held.name, name, scene.held_clearance))
        for one, other, margin in own_pairs(arm):
            self._pair(links[one], links[other], TouchingPair(shapes[one].link, shapes[other].link, margin))
        self._keep_in_workspace()
        self._data = arm.model.createData()
        margins = [pair.margin for pair in self._pairs]
        self._exact = self._with_margins(margins)
        self._wide = self._with_margins([margin + self.step / 2 for margin in margins])

    def is_free(self, joints: Vector, on_path: bool = False) -> bool:
        """Return whether the arm can be at angles (D,), rad; `on_path`: with the wider margins of paths."""
        if (joints < self.arm.lower - _ROUNDING).any() or (joints > self.arm.upper + _ROUNDING).any():
            return False
        # Not by pinocchio's broad phase: it misses pairs that are apart by less than their security margin.
        results = self._wide if on_path else self._exact
        hit = pinocchio.computeCollisions(
            self.arm.model, self._data, self._geometry, results, np.asarray(joints, float), True
        )
        return not hit

    def why_blocked(self, joints: Vector, on_path: bool = False) -> MotionError | None:
        """Return why the arm cannot be at angles (D,), rad; None where it can.

        Args:
            joints: the angles.
            on_path: keep the wider margins of paths.
        """
        if self.is_free(joints, on_path):
            return None
        if (out := np.flatnonzero((joints < self.arm.lower - _ROUNDING) | (joints > self.arm.upper + _ROUNDING))).size:
            name = self.arm.robot.joints[int(out[0])]
            return MotionError(MotionProblem.LIMITS, f"joint '{name}' would be out of its limits")
        results = self._wide if on_path else self._exact
        pinocchio.computeCollisions(
            self.arm.model, self._data, self._geometry, results, np.asarray(joints, float), True
        )
        pair = next(
            pair for pair, result in zip(self._pairs, results.collisionResults, strict=True) if result.isCollision()
        )
        return _touching(pair)

    def why_hand_blocked(self, tool: Pose) -> MotionError | None:
        """Return what the hand, or what it holds, would touch with the tool at a pose (4, 4), whatever the arm does."""
        last = tool @ np.linalg.inv(self.arm.end)
        for pair, moving, still in self._hand_pairs:
            place = last @ moving.place
            request, result = coal.CollisionRequest(), coal.CollisionResult()
            request.security_margin = pair.margin + self.step / 2
            if coal.collide(
                moving.geometry, _transform(place), still.geometry, _transform(still.place), request, result
            ):
                return _touching(pair)
        return None

    def blocked_on(self, start: Vector, end: Vector) -> MotionError | None:
        """Return why the straight way in joint space from `start` to `end` (D,), rad, is blocked; None if it is free.

        `start` itself is not looked at.
        """
        for share in _halving(self.steps(start, end)):
            joints = start + share * (end - start)
            if not self.is_free(joints, on_path=True):
                return self.why_blocked(joints, on_path=True)
        return None

    def is_free_between(self, start: Vector, end: Vector, coarse: bool = False) -> bool:
        """Return whether the straight way in joint space from `start` to `end` (D,), rad, is free, `start` left out.

        With `coarse`, this checks every fifth step only, for a search whose result is checked again.
        """
        count, way = self.steps(start, end), end - start
        return all(
            self.is_free(start + share * way, on_path=True)
            for share in _halving(-(-count // _COARSE) if coarse else count)
        )

    def steps(self, start: Vector, end: Vector) -> int:
        """Return in how many steps a straight way in joint space is checked: no point moves further than `step`."""
        return max(1, int(np.ceil(float(np.abs(end - start) @ self.reach) / self.step)))

    def eased_at(self, joints: Vector) -> CollisionChecker:
        """Return a checker for a motion that begins at `joints` (D,), rad: what is too near there may stay as near.

        Raises:
            MotionError: the arm is out of its limits or its workspace there, or deep inside of something.
        """
        if self.is_free(joints, on_path=True):
            return self
        why = self.why_blocked(joints)
        if why is not None and why.problem is not MotionProblem.COLLISION:
            raise MotionError(why.problem, f"the arm cannot start where it is: {why}")
        apart = self._apart(joints)
        allowed = [_HELD_DEEPEST if pair.first == self._held else _DEEPEST for pair in self._pairs]
        deepest = int(np.argmin(np.add(apart, allowed)))
        if apart[deepest] < -allowed[deepest]:
            pair = self._pairs[deepest]
            raise MotionError(
                MotionProblem.COLLISION,
                f"the arm cannot start where it is: '{pair.first}' is {-apart[deepest] * 1e3:.0f} mm inside of "
                f"'{pair.second}': look again, or move the arm by hand",
            )
        eased = copy.copy(self)
        near = [min(pair.margin, gap - EASED) for pair, gap in zip(self._pairs, apart, strict=True)]
        wide = [min(pair.margin + self.step / 2, gap - EASED) for pair, gap in zip(self._pairs, apart, strict=True)]
        eased._exact, eased._wide = eased._with_margins(near), eased._with_margins(wide)
        return eased

    def _keep_in_workspace(self) -> None:
        """Add the walls of the workspace, which the origin of the tool frame and, below, all joints keep away from."""
        arm, low, high = self.arm, self.arm.workspace_low, self.arm.workspace_high
        tool, floor = self._add(arm.count, arm.end, coal.Sphere(_POINT)), 0
        for axis, name in enumerate("xyz"):
            for side, bound, sign in (("lower", low[axis], 1.0), ("upper", high[axis], -1.0)):
                normal = sign * np.eye(3)[axis]
                wall = self._add(0, np.eye(4), coal.Halfspace(normal, sign * float(bound)))
                self._pair(
                    tool, wall, TouchingPair("the tool", f"the {side} {name} of the workspace", WORKSPACE_MARGIN, True)
                )
                floor = wall if (side, name) == ("lower", "z") else floor
        for joint in range(2, arm.count + 1):  # the first stands still
            point = self._add(joint, np.eye(4), coal.Sphere(_POINT))
            name = f"joint '{arm.robot.joints[joint - 1]}'"
            self._pair(point, floor, TouchingPair(name, "the floor of the workspace", WORKSPACE_MARGIN, True))

    def _add(self, joint: int, place: Pose, geometry: Any) -> int:
        name = f"{len(self._geometry.geometryObjects)}"
        pose = pinocchio.SE3(np.array(place[:3, :3]), np.array(place[:3, 3]))
        index: int = self._geometry.addGeometryObject(pinocchio.GeometryObject(name, joint, pose, geometry))
        self._placed.append(_PlacedShape(joint, place, geometry))
        return index

    def _add_held(self, scene: MotionScene) -> int | None:
        if scene.held is None:
            return None
        return self._add(self.arm.count, self.arm.end @ scene.held.in_tool, coal.Box(*scene.held.size))

    def _held_points(self, scene: MotionScene) -> Vector | None:
        if scene.held is None:
            return None
        pose, half = self.arm.end @ scene.held.in_tool, scene.held.size / 2
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        return np.asarray(pose[:3, 3] + (signs * half) @ pose[:3, :3].T)

    def _pair(self, one: int, other: int, pair: TouchingPair) -> None:
        self._geometry.addCollisionPair(pinocchio.CollisionPair(one, other))
        self._pairs.append(pair)
        first, second = self._placed[one], self._placed[other]
        if first.joint == self.arm.count and second.joint == 0:
            self._hand_pairs.append((pair, first, second))

    def _with_margins(self, margins: Sequence[float]) -> Any:
        results = self._geometry.createData()
        for request, margin in zip(results.collisionRequests, margins, strict=True):
            request.security_margin = margin
        return results

    def _apart(self, joints: Vector) -> list[float]:
        """Return the distance of each pair, m, negative inside of each other."""
        results = self._exact
        pinocchio.computeDistances(self.arm.model, self._data, self._geometry, results, np.asarray(joints, float))
        return [float(result.min_distance) for result in results.distanceResults]


def _touching(pair: TouchingPair) -> MotionError:
    if pair.wall:
        return MotionError(MotionProblem.WORKSPACE, f"{pair.first} would leave {pair.second}")
    return MotionError(
        MotionProblem.COLLISION, f"'{pair.first}' would come nearer to '{pair.second}' than its clearance"
    )


def _transform(pose: Pose) -> Any:
    return coal.Transform3s(np.array(pose[:3, :3]), np.array(pose[:3, 3]))


@lru_cache(maxsize=256)
def _halving(count: int) -> tuple[float, ...]:
    """Return 1/count, 2/count .. 1, the end first and then by halves: what is blocked is found soon."""
    left, order, seen = [(0, count)], [count], {0, count}
    while left:
        low, high = left.pop(0)
        middle = (low + high) // 2
        if middle not in seen:
            seen.add(middle)
            order.append(middle)
            left += [(low, middle), (middle, high)]
    return tuple(number / count for number in order)
