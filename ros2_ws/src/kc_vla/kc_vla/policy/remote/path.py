"""Where an arm is led: a row for each action, in the units of the stack, whatever form a server gives it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from kc_vla.core.chunk import ActionType
from kc_vla.core.robot import Robot
from kc_vla.policy.remote.rotations import Numbers, chained, unchained


@dataclass(frozen=True, eq=False)
class RobotPose:
    """Where the robot is.

    Attributes:
        pose: (7,) of the tool in the base frame, m and quaternion x, y, z, w; None if nobody says.
        joints: (N,) of the arm, rad; None likewise.
        share: how far the gripper is open, 0..1; None likewise.
    """

    pose: Numbers | None
    joints: Numbers | None
    share: float | None


@dataclass(frozen=True, eq=False)
class Path:
    """H places, one after the other; of the tool, or of the joints.

    Attributes:
        places: (H, 3) of the tool, m, or (H, N) of the joints, rad.
        turns: (H,) of the tool; None of joints.
        shares: (H,) how far the gripper is to be open, 0..1.
    """

    places: Numbers
    turns: Rotation | None
    shares: Numbers

    def actions(self, robot: Robot, body: RobotPose) -> Numbers:
        """Return the path as actions of the stack (H, A).

        They are tool deltas from where the tool is on, or positions of the joints.
        """
        if self.turns is None:
            return np.concatenate([self.places, _fingers(robot, self.shares)], axis=1)
        pose = _known(body.pose)
        moves = np.diff(self.places, axis=0, prepend=pose[None, :3])
        turns = unchained(Rotation.from_quat(pose[3:]), self.turns, in_tool=False).as_rotvec()
        return np.concatenate([moves, turns, self.shares[:, None]], axis=1)

    def at_rate(self, given: float, wanted: float, body: RobotPose) -> Path:
        """Return the same way in the same time: rows that come `given` times a second as rows that come `wanted` times.

        Row i is reached (i + 1) / rate seconds after the robot was where it is. The gripper gets the command of the row
        that is under way.
        """
        if given == wanted:
            return self
        ends = np.arange(1, len(self.places) + 1) / given
        count = max(1, int(ends[-1] * wanted + 1e-6))
        times = np.minimum(np.arange(1, count + 1) / wanted, ends[-1])
        first = _known(body.joints if self.turns is None else body.pose)[: self.places.shape[1]]
        knots, places = np.concatenate([[0.0], ends]), np.concatenate([first[None], self.places])
        found = np.stack([np.interp(times, knots, column) for column in places.T], axis=1)
        turns = self.turns
        if turns is not None:
            begun = Rotation.from_quat(_known(body.pose)[3:])
            turns = Slerp(knots, Rotation.concatenate([begun, turns]))(times)
        return Path(found, turns, self.shares[np.searchsorted(ends, times - 1e-9).clip(max=len(ends) - 1)])


def path_of(actions: Numbers, kind: ActionType, robot: Robot, body: RobotPose) -> Path:
    """Return the inverse of `Path.actions`."""
    if kind is ActionType.JOINT_POSITION:
        joints = len(robot.joints)
        return Path(actions[:, :joints], None, robot.gripper_share(actions))
    pose = _known(body.pose)
    turns = chained(Rotation.from_quat(pose[3:]), Rotation.from_rotvec(actions[:, 3:6]), in_tool=False)
    return Path(pose[:3] + np.cumsum(actions[:, :3], axis=0), turns, actions[:, 6])


def state_of(body: RobotPose, kind: ActionType, robot: Robot) -> Numbers:
    """Return the state (S,) of `kc_vla.core.codec` of a robot with such commands."""
    share = _known(body.share)
    if kind is ActionType.JOINT_POSITION:
        return np.concatenate([_known(body.joints), _fingers(robot, np.array([share]))[0]])
    return np.array([*_known(body.pose), share])


def _fingers(robot: Robot, shares: Numbers) -> Numbers:
    """Return positions of the gripper's joints (H, G), m."""
    return np.repeat(shares[:, None] * robot.opening / len(robot.gripper), len(robot.gripper), axis=1)


def _known(value: Numbers | float | None) -> Numbers:
    if value is None:
        raise AssertionError("the mapping was not checked for what it needs to know of the robot")
    return np.asarray(value)
