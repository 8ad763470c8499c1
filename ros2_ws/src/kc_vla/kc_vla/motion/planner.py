"""The planner of motions: free ways, lines and arcs of a robot's arm, and their set-points.

Everything is in the base frame of the robot file, m and rad. A planner has a scene, which its caller replaces when the
world has changed. Every way is checked against it: the arm, what it holds, its joint limits and its workspace.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from kc_vla.core.mounted_camera import Pose
from kc_vla.core.robot import Robot, Vector
from kc_vla.motion.arm_model import ArmModel
from kc_vla.motion.cartesian import STEP, TURN_STEP, followed
from kc_vla.motion.collision import CollisionChecker
from kc_vla.motion.hand import ParallelHand
from kc_vla.motion.inverse import InverseKinematics
from kc_vla.motion.path import JointPath, JointTrajectory, checked_joints
from kc_vla.motion.poses import about, checked_pose, checked_unit, checked_vector, straight
from kc_vla.motion.problem import MotionError, MotionProblem
from kc_vla.motion.scene import MotionScene
from kc_vla.motion.search import joined
from kc_vla.motion.timing import timed

_GOALS = 4
"""A free motion to a pose of the tool may end in one of so many poses of the arm."""
_LONGEST_TURN = 6.3
"""rad of an arc."""
_KEPT = 8
"""Checkers that are kept ready."""


class MotionPlanner:
    """Plans motions of the arm of one robot file. It keeps no state but the scene; the same question has one answer.

    Attributes:
        robot: the robot file.
        scene: what must not be touched; replace it at any time.
        arm: the arm.
        hand: its gripper.
        inverse: its inverse kinematics, which know nothing of the scene.
    """

    def __init__(
        self,
        robot: Robot,
        firmware: str = "",
        *,
        scene: MotionScene | None = None,
        max_speed: float = 1.0,
        seed: int = 0,
    ) -> None:
        """Build the arm from its robot file and URDF.

        Args:
            robot: as `load_robot` returns it.
            firmware: of an arm whose zero pose goes with it; empty for the newest.
            scene: what must not be touched; None: a surface at height 0 and nothing else.
            max_speed: of every joint, rad/s, as the parameter of `arm_controller`.
            seed: of the draws of the search.

        Raises:
            RobotError: the robot has no links, or does not stand upright.
            DescriptionError: its URDF cannot be used.
        """
        robot.require_upright()
        self.robot, self.scene, self._seed = robot, MotionScene() if scene is None else scene, seed
        self.arm = ArmModel(robot, firmware, max_speed)
        self.hand = ParallelHand.of(self.arm)
        self.inverse = InverseKinematics(self.arm)
        self._checkers: dict[tuple[int, frozenset[str]], tuple[MotionScene, CollisionChecker]] = {}

    def tool_pose(self, joints: Sequence[float] | Vector) -> Pose:
        """Return the pose of the tool frame (4, 4), base frame, m, at angles (D,), rad."""
        return self.arm.tool(self._joints(joints, "the pose of the arm"))

    def why_blocked(self, joints: Sequence[float] | Vector, touch: Collection[str] = ()) -> MotionError | None:
        """Return why the arm cannot be at angles (D,), rad, in the scene; None where it can."""
        return self._checker(touch).why_blocked(self._joints(joints, "the pose of the arm"))

    def why_hand_blocked(self, pose: ArrayLike, touch: Collection[str] = ()) -> MotionError | None:
        """Return why the hand, and what it holds, cannot be at a pose, whatever the arm does; None where it can.

        Args:
            pose: of the tool frame (4, 4), base frame, m.
            touch: names of boxes that the hand may touch.

        Raises:
            MotionError: the pose is none, or out of the workspace.
        """
        return self._checker(touch).why_hand_blocked(self._target(pose))

    def check_start(self, start: Sequence[float] | Vector, touch: Collection[str] = ()) -> None:
        """Check that a motion can begin at angles (D,), rad.

        Raises:
            MotionError: the arm is out of its limits or its workspace there, or deep inside of something.
        """
        self._checker(touch).eased_at(self._joints(start, "the start"))

    def joints_for(self, pose: ArrayLike, near: Sequence[float] | Vector, touch: Collection[str] = ()) -> Vector:
        """Return free angles (D,), rad, that bring the tool to a pose: of several solutions the one nearest to `near`.

        Args:
            pose: of the tool frame (4, 4), base frame, m.
            near: angles (D,), rad.
            touch: names of boxes that the hand may touch.

        Raises:
            MotionError: out of reach, out of limits, or only with a collision; `problem` says which.
        """
        return self._solutions(self._target(pose), self._joints(near, "the pose to be near to"), touch, 2)[0]

    def to_joints(
        self, start: Sequence[float] | Vector, end: Sequence[float] | Vector, touch: Collection[str] = ()
    ) -> JointPath:
        """Return a free way between two poses of the arm, straight in joint space where that is free.

        Args:
            start: angles (D,), rad, where the arm stands.
            end: angles (D,), rad.
            touch: names of boxes that the hand may touch.

        Raises:
            MotionError: the end is blocked, the start cannot be left, or no way is found.
        """
        first, last = self._joints(start, "the start"), self._joints(end, "the end")
        return self.to_any(first, [last], touch)

    def to_any(self, start: Sequence[float] | Vector, ends: Sequence[Vector], touch: Collection[str] = ()) -> JointPath:
        """Return a free way to one of several poses of the arm, of angles (D,) each, rad: as `to_joints`."""
        first, checker = self._joints(start, "the start"), self._checker(touch)
        goals = [self._joints(end, "the end") for end in ends]
        blocked = [checker.why_blocked(goal, on_path=True) for goal in goals]
        free = [goal for goal, why in zip(goals, blocked, strict=True) if why is None]
        if not free:
            why = next((why for why in blocked if why is not None), None)
            raise MotionError(
                MotionProblem.INPUT if why is None else why.problem,
                f"the arm cannot end there: {why or 'no end is given'}",
            )
        way = joined(checker.eased_at(first), first, free, np.random.default_rng(self._seed))
        return self._path(way, touch)

    def to_pose(self, start: Sequence[float] | Vector, pose: ArrayLike, touch: Collection[str] = ()) -> JointPath:
        """Return a free way of the arm that ends with the tool at a pose; the way there may be any.

        Args:
            start: angles (D,), rad, where the arm stands.
            pose: of the tool frame (4, 4), base frame, m.
            touch: names of boxes that the hand may touch.

        Raises:
            MotionError: as `joints_for` and `to_joints`.
        """
        target, first = self._target(pose), self._joints(start, "the start")
        return self.to_any(first, self._solutions(target, first, touch, _GOALS), touch)

    def line(self, start: Sequence[float] | Vector, *poses: ArrayLike, touch: Collection[str] = ()) -> JointPath:
        """Return the way on which the tool goes straight to a pose and turns evenly: to approach, lift, pull a drawer.

        Args:
            start: angles (D,), rad, where the arm stands.
            poses: of the tool frame (4, 4), base frame, m: one, or several that it goes through one after the other.
            touch: names of what the hand may touch; `SURFACE` for what is held, when it is put down.

        Raises:
            MotionError: the arm cannot follow, or would touch something; the text says after how much of the way.
        """
        first = self._joints(start, "the start")
        ends = [self.arm.tool(first), *map(self._target, poses)]
        steps = [step for one, other in pairwise(ends) for step in straight(one, other, STEP, TURN_STEP)]
        return self._followed(first, steps, touch)

    def arc(
        self,
        start: Sequence[float] | Vector,
        point: ArrayLike,
        axis: ArrayLike,
        angle: float,
        touch: Collection[str] = (),
    ) -> JointPath:
        """Return the way on which the tool turns about an axis as if it were fixed to a door.

        Args:
            start: angles (D,), rad, where the arm stands, with the handle in the hand.
            point: on the hinge's axis (3,), base frame, m.
            axis: direction of the hinge's axis (3,).
            angle: about it, right-handed, rad.
            touch: names of what the hand may touch.

        Raises:
            MotionError: as `line`.
        """
        first = self._joints(start, "the start")
        hinge, along = checked_vector(point, "the point of the hinge"), checked_unit(axis, "the axis of the hinge")
        if not np.isfinite(angle) or abs(angle) > _LONGEST_TURN:
            raise MotionError(MotionProblem.INPUT, f"the angle of the arc is {angle} rad: at most a turn is meant")
        tool = self.arm.tool(first)
        radius = float(np.linalg.norm(np.cross(along, tool[:3, 3] - hinge)))
        count = max(1, int(np.ceil(abs(angle) * max(radius / STEP, 1.0 / TURN_STEP))))
        poses = [about(tool, hinge, along, angle * number / count) for number in range(1, count + 1)]
        for pose in poses[-1:]:
            self._target(pose)
        return self._followed(first, poses, touch)

    def trajectory(
        self, path: JointPath, speed: float = 1.0, tool_speed: float = np.inf, period: float | None = None
    ) -> JointTrajectory:
        """Return set-points along a path, within velocity, acceleration and jerk limits; each is checked again.

        Args:
            path: a path of this planner.
            speed: share of the velocity limits to use, above 0 to 1.
            tool_speed: largest speed of the tool, m/s.
            period: time between set-points, s; None: the period of the robot file's control rate.

        Raises:
            MotionError: A number is out of its range.
        """
        seconds = 1.0 / self.robot.control_rate if period is None else period
        if not 0.0 < speed <= 1.0:
            raise MotionError(MotionProblem.INPUT, f"the speed is {speed}: it must be above 0, and at most 1")
        if not tool_speed > 1e-3:
            raise MotionError(
                MotionProblem.INPUT, f"the speed of the tool is {tool_speed} m/s: at least 0.001 is needed"
            )
        if not 1e-4 <= seconds <= 1.0:
            raise MotionError(MotionProblem.INPUT, f"the control period is {seconds} s: it must be 0.0001 to 1")
        checker = self._checker(path.touch, path.scene).eased_at(path.start)
        return timed(path.joints, self.arm, seconds, (speed, tool_speed), checker.is_free)

    def in_scene(self, scene: MotionScene) -> MotionPlanner:
        """Return this planner with another scene: for a motion that is planned ahead, such as a lift after a grasp."""
        other = object.__new__(MotionPlanner)
        other.__dict__.update(self.__dict__)
        other.scene = scene
        return other

    def solutions(
        self, pose: ArrayLike, near: Sequence[float] | Vector, touch: Collection[str] = (), most: int = _GOALS
    ) -> list[Vector]:
        """Return up to `most` free angles (D,), rad, for a pose of the tool, the nearest to `near` first.

        Raises:
            MotionError: as `joints_for`.
        """
        return self._solutions(self._target(pose), self._joints(near, "the pose to be near to"), touch, most)

    def _solutions(self, pose: Pose, near: Vector, touch: Collection[str], most: int) -> list[Vector]:
        checker = self._checker(touch)
        where = ", ".join(f"{value:.3f}" for value in pose[:3, 3])
        if (why := checker.why_hand_blocked(pose)) is not None:
            raise MotionError(why.problem, f"the tool cannot be at ({where}) m: {why}")
        free: list[Vector] = []
        blocked: MotionError | None = None
        for joints in self.inverse.solutions(pose, near):
            if checker.is_free(joints, on_path=True):
                free.append(joints)
                if len(free) >= most:
                    break
            elif blocked is None:
                blocked = checker.why_blocked(joints, on_path=True)
        if free:
            return sorted(free, key=lambda joints: float(np.abs(joints - near).max()))
        if blocked is not None:
            raise MotionError(blocked.problem, f"the tool cannot be at ({where}) m: {blocked}")
        if self.inverse.reaches_without_limits(pose):
            raise MotionError(
                MotionProblem.LIMITS, f"the tool cannot be at ({where}) m so: a joint has its limit before"
            )
        raise MotionError(MotionProblem.REACH, f"the tool cannot be at ({where}) m so: that is out of the arm's reach")

    def _followed(self, start: Vector, poses: Sequence[Pose], touch: Collection[str]) -> JointPath:
        checker = self._checker(touch).eased_at(start)
        return self._path(followed(checker, self.inverse, start, poses), touch)

    def _path(self, joints: Vector, touch: Collection[str]) -> JointPath:
        return JointPath(joints, self.scene, frozenset(touch))

    def _checker(self, touch: Collection[str], scene: MotionScene | None = None) -> CollisionChecker:
        wanted, names = self.scene if scene is None else scene, frozenset(touch)
        kept = self._checkers.get((id(wanted), names))
        if kept is None or kept[0] is not wanted:
            kept = wanted, CollisionChecker(self.arm, wanted, names)
            self._checkers[(id(wanted), names)] = kept
            while len(self._checkers) > _KEPT:
                del self._checkers[next(iter(self._checkers))]
        return kept[1]

    def _joints(self, joints: Sequence[float] | Vector, what: str) -> Vector:
        return checked_joints(joints, self.arm.count, what)

    def _target(self, pose: ArrayLike) -> Pose:
        """Return a pose for the tool that lies in the workspace. Raises: MotionError: it does not, or is none."""
        target = checked_pose(pose, "the tool")
        low, high = self.arm.workspace_low, self.arm.workspace_high
        for axis, value, least, most in zip("xyz", target[:3, 3], low, high, strict=True):
            if not least <= value <= most:
                raise MotionError(
                    MotionProblem.WORKSPACE,
                    f"the tool cannot go to {axis} {value:.3f} m: the workspace has {axis} {least:g} to {most:g} m",
                )
        return target
