"""Paths of the tool: straight lines and turns in space, as set-points of the joints at the control rate."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from kc_vla.arm.inverse import UnreachableError, joints_near
from kc_vla.arm.kinematics import Kinematics
from kc_vla.core.robot import JointLimits
from kc_vla.skills.boxes import UprightBox
from kc_vla.skills.held_thing import HeldThing
from kc_vla.skills.interface import SkillError, Vector

_SPACING_M, _SPACING_RAD = 0.02, 0.1
"""Between two poses of a straight way for which joint angles are computed."""
_LEAP_RAD = 0.6
"""A joint that turns further than this between two such poses leaps to another solution."""
VELOCITY_SHARE = 0.45
"""Share of the velocity limits of the joints that a path uses."""
_RAMP_S = 0.35
"""A path speeds up and slows down in this time, s."""
_LOWER = (0.36, 0.3, 0.24, 0.18)
"""Heights from which the tool comes down where it cannot do so from its height of travel, m ..."""
_NEARER = (0.6, 0.52, 0.45)
"""... and distances from the base's axis to which it draws back as it rises, m."""
LOWEST_M = 0.008
"""The tool goes no nearer to the surface that the arm stands on, m."""
_EDGE_RAD = 0.01
"""Set-points stay so far within the limits of the joints, rad."""


@dataclass(frozen=True, eq=False)
class ToolPose:
    """A pose of the tool in the frame of the arm's base.

    Attributes:
        position: of the tool center point (3,), m.
        rotation: of the tool.
    """

    position: Vector
    rotation: Rotation

    @property
    def matrix(self) -> Vector:
        """Return the pose as a homogeneous matrix (4, 4), m."""
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = self.rotation.as_matrix(), self.position
        return pose

    @classmethod
    def of(cls, matrix: Vector) -> ToolPose:
        """Return the pose of a homogeneous matrix (4, 4), m."""
        return cls(np.array(matrix[:3, 3]), Rotation.from_matrix(matrix[:3, :3]))

    def moved(self, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> ToolPose:
        """Return the pose moved along the axes of the base, m."""
        return ToolPose(self.position + np.array([x, y, z]), self.rotation)


class PathMaker(Protocol):
    """Makes set-points of the joints for ways of the tool.

    Attributes:
        lean: of the hand in a pose of the tool that points straight down, outwards from the base, rad. The wrists of
            some arms cannot point straight down over much of their reach.
    """

    lean: float

    def tool_at(self, joints: Vector) -> ToolPose:
        """Return where the tool is at joint angles (N,), rad."""
        ...

    def straight(self, start: Vector, poses: Sequence[ToolPose], speed: float) -> Vector:
        """Return set-points (T, N), rad, that lead the tool along straight lines from one pose to the next.

        Args:
            start: joint angles (N,), rad.
            poses: where the tool goes, one after the other.
            speed: of the tool, m/s.

        Raises:
            SkillError: the arm cannot take one of the poses, or only by a leap of its joints.
        """
        ...

    def avoid(self, boxes: Sequence[tuple[str, UprightBox]], held: HeldThing | None, width: float) -> None:
        """Take in what free ways keep clear of from now on.

        Args:
            boxes: of what was perceived, each with the id of the thing that it belongs to.
            held: what is in the hand; None for nothing.
            width: between the fingers, m.
        """
        ...

    def clear(self, start: Vector, poses: Sequence[ToolPose], speed: float, touch: Collection[str]) -> Vector:
        """Return set-points (T, N), rad, as `straight`, on which the arm touches nothing that `avoid` took in.

        Args:
            start: joint angles (N,), rad.
            poses: where the tool goes, one after the other.
            speed: of the tool, m/s.
            touch: ids of the things that the hand may touch.

        Raises:
            SkillError: the arm cannot go so, or would touch something else.
        """
        ...

    def fits(self, pose: ToolPose, touch: Collection[str]) -> bool:
        """Return whether the hand, and what it holds, touches nothing at a pose but the things of `touch`."""
        ...

    def free(self, start: Vector, goal: ToolPose, then: Sequence[ToolPose] = ()) -> Vector:
        """Return set-points (T, N), rad, to a pose; the tool may go any way that is free.

        Args:
            start: joint angles (N,), rad.
            goal: where the tool goes.
            then: where the tool goes on to in straight lines, one after the other: the arm ends so that it can.

        Raises:
            SkillError: there is none.
        """
        ...


class StraightPathMaker:
    """A `PathMaker` that goes over everything: up, across at a height that is always free, and down.

    It looks at no obstacle: its ways are free where nothing reaches up to the height at which it travels.
    """

    lean = 0.0

    def __init__(
        self,
        kinematics: Kinematics,
        limits: JointLimits,
        ready: Vector,
        rate: float,
        height: float = 0.42,
        grip: Vector | None = None,
        lowest: float = LOWEST_M,
    ) -> None:
        """Take the arm.

        Args:
            kinematics: of the arm.
            limits: of its joints.
            ready: angles (N,) from which poses around the arm are easy to reach, rad.
            rate: set-points a second, Hz.
            height: of the tool on its way across, m.
            grip: pose of the point between the fingers in the frame that the kinematics end with (4, 4), m; its z axis
                looks out of the hand and its y axis from finger to finger. None: the two are one.
            lowest: height of that point over the surface that the arm stands on, at least, m.
        """
        self._grip = np.eye(4) if grip is None else np.asarray(grip, float)
        self._ungrip = np.linalg.inv(self._grip)
        self._kinematics, self._rate, self._height, self._lowest = kinematics, rate, height, lowest
        self._limits = JointLimits(limits.lowest + _EDGE_RAD, limits.highest - _EDGE_RAD, limits.speed)
        self._ready = np.asarray(ready, float)

    def tool_at(self, joints: Vector) -> ToolPose:
        """Return where the tool is at joint angles (N,), rad."""
        return ToolPose.of(self._kinematics.flange(joints) @ self._grip)

    def avoid(self, boxes: Sequence[tuple[str, UprightBox]], held: HeldThing | None, width: float) -> None:
        """Do nothing: these ways look at no obstacle."""

    def straight(self, start: Vector, poses: Sequence[ToolPose], speed: float) -> Vector:
        """Return set-points along straight lines: see `PathMaker.straight`."""
        knots, times = [np.asarray(start, float)], [0.0]
        at = self.tool_at(start)
        for pose in poses:
            way = float(np.linalg.norm(pose.position - at.position))
            turn = float((pose.rotation * at.rotation.inv()).magnitude())
            count = max(1, int(np.ceil(max(way / _SPACING_M, turn / _SPACING_RAD))))
            between = Slerp([0.0, 1.0], Rotation.concatenate([at.rotation, pose.rotation]))
            for share in np.arange(1, count + 1) / count:
                place = at.position + share * (pose.position - at.position)
                knots.append(self._solved(ToolPose(place, between(float(share))), knots[-1], _LEAP_RAD))
                joint_s = float(np.max(np.abs(knots[-1] - knots[-2]) / (VELOCITY_SHARE * self._limits.speed)))
                times.append(times[-1] + max(way / count / speed, joint_s))
            at = pose
        return self._timed(np.array(knots), np.array(times))

    def clear(self, start: Vector, poses: Sequence[ToolPose], speed: float, touch: Collection[str]) -> Vector:
        """Return set-points along straight lines: these look at no obstacle."""
        return self.straight(start, poses, speed)

    def fits(self, pose: ToolPose, touch: Collection[str]) -> bool:
        """Return True: these ways look at no obstacle."""
        return True

    def free(self, start: Vector, goal: ToolPose, then: Sequence[ToolPose] = ()) -> Vector:
        """Return set-points to a pose, up, across and down: see `PathMaker.free`; it is not looked what comes then."""
        at = self.tool_at(start)
        rise = [] if at.position[2] > self._height - 0.01 else [self._risen(start, at)]
        begin = rise[-1][-1] if rise else np.asarray(start, float)
        failure = SkillError(f"the arm cannot reach {_told(goal)}")
        self._solved_afresh(goal, begin)
        for high in _heights(self._height, float(goal.position[2])):
            over = ToolPose(np.array([*goal.position[:2], high]), goal.rotation)
            try:
                across = self._across(begin, self._solved_afresh(over, begin))
                down = [self.straight(across[-1], [goal], 0.25)] if high - goal.position[2] > 1e-3 else []
            except SkillError as error:
                failure = error
                continue
            return np.concatenate([*rise, across, *down])
        raise failure

    def _risen(self, start: Vector, at: ToolPose) -> Vector:
        """Return set-points up to the height of travel: straight, or where that is out of reach, towards the base."""
        radius = float(np.hypot(*at.position[:2]))
        failure = SkillError(f"the arm cannot rise from {_told(at)}")
        for share in (1.0, *(near / radius for near in _NEARER if near < radius)):
            high = ToolPose(np.array([*(share * at.position[:2]), self._height]), at.rotation)
            steep = ToolPose(np.array([*at.position[:2], min(float(at.position[2]) + 0.1, self._height)]), at.rotation)
            try:
                return self.straight(start, [high] if share == 1.0 else [steep, high], 0.3)
            except SkillError as error:
                failure = error
        raise failure

    def _across(self, start: Vector, goal: Vector) -> Vector:
        need = float(np.max(np.abs(goal - start) / (VELOCITY_SHARE * self._limits.speed)))
        return self._timed(np.array([start, goal]), np.array([0.0, need]))

    def _solved_afresh(self, pose: ToolPose, start: Vector) -> Vector:
        """Return angles for a pose, from where the arm is or from its ready posture turned towards it."""
        turned = self._ready.copy()
        turned[0] = np.clip(
            np.arctan2(pose.position[1], pose.position[0]), self._limits.lowest[0], self._limits.highest[0]
        )
        found = []
        for seed in (turned, start):
            try:
                found.append(self._joints(pose, seed))
            except SkillError:
                continue
        if not found:
            raise SkillError(f"the arm cannot reach {_told(pose)}")
        return min(found, key=lambda each: float(np.abs(each - turned).max()))

    def _solved(self, pose: ToolPose, start: Vector, leap: float) -> Vector:
        found = self._joints(pose, start)
        if np.abs(found - start).max() > leap:
            raise SkillError(f"the arm can reach {_told(pose)} only by a leap of its joints")
        return found

    def _joints(self, pose: ToolPose, start: Vector) -> Vector:
        """Return joint angles (N,) for a pose, near others.

        Raises:
            SkillError: none are found, or the pose is below the surface.
        """
        if pose.position[2] < self._lowest:
            raise SkillError(f"the tool would touch the surface at {_told(pose)}: is what was detected there real?")
        try:
            return joints_near(pose.matrix @ self._ungrip, start, self._limits, self._kinematics)
        except UnreachableError:
            raise SkillError(f"the arm cannot reach {_told(pose)}") from None

    def _timed(self, knots: Vector, times: Vector) -> Vector:
        """Return set-points (T, N) along knots (K, N) that a constant speed would pass at `times` (K,), s."""
        whole = float(times[-1])
        if whole <= 0:
            return knots[-1:]
        ramp = min(_RAMP_S, whole)
        steps = int(np.ceil((whole + ramp) * self._rate)) + 1
        at_s = np.minimum(np.arange(1, steps) / self._rate, whole + ramp)
        shifted = _ramped(at_s, whole, ramp)
        return np.stack([np.interp(shifted, times, column) for column in knots.T], axis=1)


def _ramped(at_s: Vector, whole_s: float, ramp_s: float) -> Vector:
    """Return how far along a way of `whole_s` one is, s, that speeds up and slows down in `ramp_s`."""
    up = 0.5 * at_s**2 / ramp_s
    level = at_s - 0.5 * ramp_s
    left = whole_s + ramp_s - at_s
    down = whole_s - 0.5 * left**2 / ramp_s
    return np.where(at_s < ramp_s, up, np.where(left < ramp_s, down, level))


def _heights(travel: float, goal: float) -> list[float]:
    """Return heights from which the tool may come down to a goal, the highest first, m."""
    return [max(travel, goal), *(each for each in _LOWER if goal < each < travel), goal]


def _told(pose: ToolPose) -> str:
    x, y, z = pose.position.tolist()
    return f"x {x:.2f}, y {y:.2f}, z {z:.2f} m"
