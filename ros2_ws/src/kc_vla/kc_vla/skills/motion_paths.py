"""A `PathMaker` with the motion planner: its free ways keep clear of all that was perceived, for any robot file."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from kc_vla.arm.kinematics import Kinematics
from kc_vla.core.robot import JointLimits, Robot
from kc_vla.motion.hand import PAD
from kc_vla.motion.planner import MotionPlanner
from kc_vla.motion.problem import MotionError, MotionProblem
from kc_vla.motion.scene import HeldBox, MotionScene, SceneBox
from kc_vla.skills.boxes import UprightBox
from kc_vla.skills.grips import best_grip
from kc_vla.skills.hands import CARRYING
from kc_vla.skills.held_thing import HeldThing
from kc_vla.skills.interface import BlockedStartError, SkillError, Vector
from kc_vla.skills.tool_path import VELOCITY_SHARE, StraightPathMaker, ToolPose

MOST_SPEED = 0.8
"""Velocity of a joint that ways use at most, rad/s: less than the arm controller's own limit, so that it can follow."""
_MOST_BOXES = 300
_LEAST_M = 1e-3
_NEAR_M = 0.002
"""The arm keeps so far from things on straight ways at them, m, beside what the planner adds on ways."""
_EDGE_RAD, _BEYOND_RAD = 1e-3, 0.02
"""A path begins so far within the limits of the joints, where the arm is no further than the second beyond, rad."""
_CLEAR_M = 5e-4
"""The tips of the fingers stay so far above the surface at work, m."""

_LEADS_OUT = (MotionProblem.COLLISION, MotionProblem.WORKSPACE)
"""What an arm that stands still gets out of, a little upwards and inwards or the way it came."""


class MotionPathMaker(StraightPathMaker):
    """Goes straight as its base does, for a hand at work, and plans all other ways."""

    def __init__(self, robot: Robot, max_speed: float = MOST_SPEED) -> None:
        """Build the arm.

        Args:
            robot: its robot file.
            max_speed: of a joint, rad/s.

        Raises:
            RobotError, DescriptionError: the robot has no links, or no description that can be used.
        """
        self._planner = MotionPlanner(robot, max_speed=max_speed)
        self._near_planner: MotionPlanner | None = None
        self.lean, grip = best_grip(robot)
        kinematics = Kinematics(robot.links_of(""))
        slow = np.minimum(robot.limits.speed, max_speed / VELOCITY_SHARE)
        limits = JointLimits(robot.limits.lowest, robot.limits.highest, slow)
        super().__init__(kinematics, limits, robot.rest, robot.control_rate, grip=grip, lowest=PAD + _CLEAR_M)

    def avoid(self, boxes: Sequence[tuple[str, UprightBox]], held: HeldThing | None, width: float) -> None:
        """Take in what free ways keep clear of from now on: see `PathMaker.avoid`."""
        found = []
        for name, each in boxes[:_MOST_BOXES]:
            try:
                found.append(SceneBox(name, _pose(each.middle, each.yaw), np.maximum(each.size, _LEAST_M)))
            except MotionError:
                continue  # a box that cannot be, as a detector may report: no planned way leads there either
        carried = None
        if held is not None:
            sides, height = held.thing.footprint[0], held.thing.extent[2]
            carried = HeldBox(held.thing.object_id, self._grip @ held.in_grip, np.array([*sides, height]))
        self._planner.scene = MotionScene(boxes=tuple(found), held=carried, width=width)
        self._near_planner = None

    def free(self, start: Vector, goal: ToolPose, then: Sequence[ToolPose] = ()) -> Vector:
        """Return set-points to a pose by any free way: see `PathMaker.free`."""
        begin = self._inside(start)
        try:
            self._planner.check_start(begin)
        except MotionError as error:
            raise (BlockedStartError if error.problem in _LEADS_OUT else SkillError)(str(error)) from None
        try:
            ends = self._planner.solutions(goal.matrix @ self._ungrip, begin)
            if then and not (ends := [each for each in ends if self._goes_on(each, then)]):
                raise SkillError("the arm gets there, but not on from there")
            path = self._planner.to_any(begin, ends)
            held = self._planner.scene.held is not None
            joints = self._planner.trajectory(path, tool_speed=CARRYING if held else np.inf).joints
        except MotionError as error:
            raise SkillError(str(error)) from None
        return np.asarray(joints[1:] if len(joints) > 1 else joints)

    def _goes_on(self, joints: Vector, poses: Sequence[ToolPose]) -> bool:
        """Return whether the tool can go straight through poses from joint angles (N,), rad."""
        try:
            self.straight(joints, poses, CARRYING)
        except SkillError:
            return False
        return True

    def clear(self, start: Vector, poses: Sequence[ToolPose], speed: float, touch: Collection[str]) -> Vector:
        """Return set-points along straight lines that touch nothing: see `PathMaker.clear`."""
        near = self._near()
        try:
            path = near.line(self._inside(start), *(each.matrix @ self._ungrip for each in poses), touch=touch)
            joints = near.trajectory(path, tool_speed=speed).joints
        except MotionError as error:
            raise SkillError(str(error)) from None
        return np.asarray(joints[1:] if len(joints) > 1 else joints)

    def fits(self, pose: ToolPose, touch: Collection[str]) -> bool:
        """Return whether the hand touches nothing at a pose: see `PathMaker.fits`."""
        try:
            return self._near().why_hand_blocked(pose.matrix @ self._ungrip, touch) is None
        except MotionError:
            return False

    def _near(self) -> MotionPlanner:
        """Return the planner for ways close to things."""
        if self._near_planner is None:
            self._near_planner = self._planner.in_scene(replace(self._planner.scene, clearance=_NEAR_M))
        return self._near_planner

    def _inside(self, start: Vector) -> Vector:
        """Return where a path begins: measured angles (N,), rad, may lie at a limit."""
        inside = np.clip(start, self._planner.arm.lower + _EDGE_RAD, self._planner.arm.upper - _EDGE_RAD)
        return inside if np.abs(inside - start).max() < _BEYOND_RAD else np.asarray(start)


def _pose(place: Vector, yaw: float) -> Vector:
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_euler("z", yaw).as_matrix()
    pose[:3, 3] = place
    return pose
