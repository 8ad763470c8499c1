"""Node `transforms`: publishes the robot's description, and its links and cameras on /tf and /tf_static.

A link whose joint no message names has no transform. None is published twice: what viewers show is never older than its
stamp.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from kc_vla.calibration.reading import load_camera
from kc_vla.cameras.errors import CalibrationError
from kc_vla.core import topics
from kc_vla.core.episode import Episode
from kc_vla.core.urdf import DescriptionError
from kc_vla.description.live import MovingTransforms, StandingTransforms, camera_places, robot_places
from kc_vla.description.robot import description_of
from kc_vla.ros import qos
from kc_vla.ros.base import StackNode, StartError
from kc_vla.ros.convert import BadMessageError, check_sample, check_stamp, nanoseconds
from kc_vla.ros.parameters import parameter
from kc_vla.ros.process import run_node
from kc_vla.ros.robot import RobotParameters
from kc_vla.ros.transforms import placed_in, transforms_message


@dataclass(frozen=True)
class TransformsParameters(RobotParameters):
    """Parameters of the node."""

    robot_links: bool = parameter(
        True, "false: this node publishes only the cameras, because the robot's driver publishes the links"
    )
    urdf: str = parameter("", "URDF of the robot, in place of the URDF of the robot file")
    firmware: str = parameter("", "firmware of an arm with an older zero pose, e.g. S-V1.5-2; empty: the newest")
    hand_eye: str = parameter(
        "", f"files with the cameras' poses (kc-vla calibrate hand-eye), separated by '{os.pathsep}'"
    )
    base: str = parameter(
        "0 0 0 0 0 0 1", "x y z qx qy qz qw of the base frame in 'world', m; ' ' (a space): there is no frame 'world'"
    )
    rate: float = parameter(30.0, "transforms a second, at most", low=1.0, high=1000.0)


class TransformsNode(StackNode):
    """The node `transforms`, which publishes the robot's description and its transforms."""

    Parameters = TransformsParameters
    parameters: TransformsParameters

    def __init__(self) -> None:
        super().__init__("transforms")

    def start(self) -> None:
        """Publish what stands, and begin to listen."""
        values, robot = self.parameters, self.parameters.loaded_robot()
        try:
            text, tree = description_of(robot, Path(values.urdf).expanduser() if values.urdf else None, values.firmware)
            files = [Path(name).expanduser() for name in filter(None, values.hand_eye.split(os.pathsep))]
            cameras = camera_places(robot, {str(file): load_camera(file) for file in files})
            fixed = robot_places(robot, tree, values.base) if values.robot_links else []
        except (DescriptionError, CalibrationError) as error:
            raise StartError(str(error)) from error
        self._standing = StandingTransforms([*fixed, *cameras], tree.links)
        self._moving = MovingTransforms(tree, values.rate)
        self._names = ", ".join(joint.name for joint in tree.joints)
        self._told = 0
        self._static = self.advertise(TFMessage, topics.TF_STATIC, qos.STATUS)
        self.subscribe(TFMessage, topics.CAMERA_PLACES, self._on_places, qos.STATUS)
        if values.robot_links:
            self._moved = self.advertise(TFMessage, topics.TF, qos.EVENT)
            self._description = self.advertise(String, topics.ROBOT_DESCRIPTION, qos.STATUS)
            self._description.publish(String(data=text))
            self.subscribe(JointState, topics.JOINT_STATES, self._on_joints, qos.STATE)
        self._tell_standing()
        self.watch_episodes()

    def on_episode(self, episode: Episode) -> None:
        """Publish what stands once more: a bag that begins has it, whichever node was there first."""
        if episode.running:
            self._tell_standing()

    def details(self) -> dict[str, object]:
        """Return what was published."""
        standing = getattr(self, "_standing", None)
        if standing is None:
            return {}
        return {"moving": self._told, "standing": " ".join(each.child for each in standing.all)}

    def _tell_standing(self) -> None:
        self._static.publish(transforms_message(self._standing.all, self.get_clock().now().to_msg()))

    def _on_places(self, message: TFMessage) -> None:
        try:
            changed = self._standing.hear(placed_in(message))
        except BadMessageError as error:
            self.problem(f"the cameras' places are passed over: {error}")
            return
        if changed:
            self._tell_standing()

    def _on_joints(self, message: JointState) -> None:
        stamp_ns = nanoseconds(message.header.stamp)
        try:
            check_sample(message)
            check_stamp(stamp_ns, self.get_clock().now().nanoseconds)
            if stamp_ns <= 0:
                raise BadMessageError("it has no stamp")
        except BadMessageError as error:
            self.statistics.drop("joint_states")
            self.problem(f"a joint state was passed over: {error}")
            return
        placed = self._moving.take(stamp_ns, message.name, message.position)
        if placed:
            self._moved.publish(transforms_message(placed, message.header.stamp))
            self._told += 1
            self.problem("")
        elif not self._told:
            told = ", ".join(message.name) or "none"
            self.problem(f"no link moves: the joint states name {told}, the description has {self._names}")


def main() -> None:
    """Run the node."""
    run_node(TransformsNode)
