"""An arm that follows at once, and a detector that reports anything: a bench for what skills must never send."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from geometry_msgs.msg import Vector3
from numpy.typing import NDArray
from std_msgs.msg import Header

from kc_vla.arm.kinematics import Kinematics
from kc_vla.core.robot import Robot, load_robot
from kc_vla.motion.arm_model import ArmModel
from kc_vla.planning.skills import Call
from kc_vla.ros.convert import attributes_message, pose_message
from kc_vla.ros.perceived import things_from
from kc_vla.skills.context import SkillContext
from kc_vla.skills.interface import ArmReading
from kc_vla.skills.motion_paths import MotionPathMaker
from kc_vla.skills.perceived_scene import PerceivedScene
from kc_vla.skills.skill_run import SkillOutcome
from kc_vla.skills.station import SkillStation
from kc_vla_msgs.msg import ObjectDetection, ObjectDetections

_LOOK_EVERY, _ROWS = 5, 4
_SKILL_S = 60.0


@dataclass(frozen=True)
class Claim:
    """What a detector claims of one thing.

    Attributes:
        name: its id; its type is that without the number.
        place: of its middle (3,), m.
        size: (3,), m.
        turn: quaternion x, y, z, w.
        moves: from report to report (3,), m.
        state: of it.
        attributes: of it.
    """

    name: str
    place: Sequence[float]
    size: Sequence[float]
    turn: Sequence[float] = (0.0, 0.0, 0.0, 1.0)
    moves: Sequence[float] = (0.0, 0.0, 0.0)
    state: str = ""
    attributes: Mapping[str, str] | None = None

    def message(self, report: int) -> ObjectDetection:
        """Return the claim as it is published in a report."""
        x, y, z = map(float, self.size)
        place = np.asarray(self.place, float) + report * np.asarray(self.moves, float)
        return ObjectDetection(
            object_id=self.name,
            object_type=self.name.rpartition("_")[0],
            state=self.state,
            pose=pose_message([*place.tolist(), *map(float, self.turn)]),
            size=Vector3(x=x, y=y, z=z),
            confidence=1.0,
            attributes=attributes_message(self.attributes or {}),
        )


@cache
def _equipment(name: str) -> tuple[Robot, MotionPathMaker]:
    robot = load_robot(name)
    return robot, MotionPathMaker(robot)


class HostileBench:
    """One arm on its bench.

    Attributes:
        robot: its robot file.
        sent: set-points of the joints (N,), rad, one for each control step; the first is where the arm begins.
    """

    def __init__(self, name: str, claims: Sequence[Claim], grips: float) -> None:
        """Place the arm.

        Args:
            name: of the robot.
            claims: of the detector.
            grips: the fingers close no further than this, m: something is between them.
        """
        self.robot, paths = _equipment(name)
        self._claims, self._grips, self._index = claims, grips, 0
        self._joints = np.clip(self.robot.rest, self.robot.limits.lowest, self.robot.limits.highest)
        self._width = 0.0
        self.sent: list[NDArray[np.float64]] = [self._joints]
        self._scene = PerceivedScene()
        context = SkillContext(self._reading(), self._scene, paths, self.robot.opening, self.robot.control_rate)
        self._station = SkillStation(context, seconds=_SKILL_S)
        self._report()

    def do(self, call: Call) -> SkillOutcome:
        """Do a skill to its end."""
        run = self._station.begin(call)
        while run.outcome is None:
            joints, widths = self._station.advance(self._reading(), _ROWS)
            self._joints = joints[0].copy()
            self._width = max(float(widths[0]), min(self._grips, self._width))
            self.sent.append(self._joints)
            self._index += 1
            if self._index % _LOOK_EVERY == 0:
                self._report()
        return run.outcome

    def lowest(self) -> float:
        """Return the height of the lowest point of the hand in all set-points, m."""
        arm = ArmModel(self.robot)
        hand = np.vstack(
            [each.points for width in (0.0, None) for each in arm.shapes(width) if each.joint == arm.count]
        )
        in_tool = (hand - arm.end[:3, 3]) @ arm.end[:3, :3]
        poses = Kinematics(self.robot.links_of("")).flange(np.array(self.sent))
        return float((in_tool @ poses[:, 2, :3].T + poses[:, 2, 3]).min())

    def _reading(self) -> ArmReading:
        stamp_s = self._index / self.robot.control_rate
        return ArmReading(self._index, self._joints.copy(), self._width, stamp_s=stamp_s)

    def _report(self) -> None:
        stamp_s = self._index / self.robot.control_rate
        message = ObjectDetections(header=Header(frame_id=self.robot.base_frame))
        hidden = self._station.context.held_ids  # the hand hides what it holds
        shown = [each for each in self._claims if each.name not in hidden]
        message.detections = [each.message(self._index // _LOOK_EVERY) for each in shown]
        things, _ = things_from(message, self.robot.base_frame, stamp_s)
        self._scene.take(things, stamp_s)
