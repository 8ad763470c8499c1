"""Node `leader_arm`: a Piper that a person leads by hand, as `leader_joint_states` for `policy:=leader`."""

from __future__ import annotations

import time
from dataclasses import dataclass

from sensor_msgs.msg import JointState

from kc_vla.arm.interface import ArmError
from kc_vla.arm.leader import LeaderArm
from kc_vla.core import topics
from kc_vla.core.robot import RobotError, load_robot
from kc_vla.ros import qos
from kc_vla.ros.base import ERROR, StackNode, StartError
from kc_vla.ros.convert import time_message
from kc_vla.ros.parameters import NodeParameters, parameter
from kc_vla.ros.process import run_node

_STALE_S = 0.2
_RECONNECT_S = 1.0


@dataclass(frozen=True)
class LeaderParameters(NodeParameters):
    """Parameters of the node `leader_arm`."""

    channel: str = parameter("can1", "CAN interface of the leader, never the follower's")
    bus: str = parameter("socketcan", "python-can's name of the kind of bus")
    robot: str = parameter("piper", "which Piper: a name of robots/, or its YAML file", former="rig")
    rate: float = parameter(50.0, "publishing rate, Hz", low=10.0, high=200.0)


class LeaderArmNode(StackNode):
    """The node `leader_arm`, which publishes the joints of a Piper that a person leads by hand."""

    Parameters = LeaderParameters
    parameters: LeaderParameters

    def __init__(self) -> None:
        super().__init__("leader_arm")

    def start(self) -> None:
        """Begin to listen."""
        try:
            self._names = load_robot(self.parameters.robot).names
            self._arm = LeaderArm(self.parameters.channel, self.parameters.bus)
        except (ArmError, RobotError) as error:
            raise StartError(str(error)) from error
        self._reconnect_at = 0.0
        self._states = self.advertise(JointState, topics.LEADER_STATES, qos.STATE)
        self.every(1.0 / self.parameters.rate, self._tell)

    def hardware(self) -> str:
        """Return the arm that is led, and its bus."""
        return f"{super().hardware()} {self.parameters.channel}"

    def stop(self) -> None:
        """Listen no more."""
        self._arm.close()

    def _tell(self) -> None:
        lead = self._arm.read()
        if lead.age > _STALE_S:
            self.problem(f"nothing comes from the leader arm on '{self.parameters.channel}': has it power?", ERROR)
            if time.monotonic() > self._reconnect_at:
                self._reconnect_at = time.monotonic() + _RECONNECT_S
                self._arm.reconnect()
            return
        self.problem("")
        state = JointState(name=list(self._names), position=[*lead.angles.tolist(), lead.opening])
        state.header.stamp = time_message(self.get_clock().now().nanoseconds - round(lead.age * 1e9))
        state.header.frame_id = "leader_base"
        self._states.publish(state)


def main() -> None:
    """Run the node."""
    run_node(LeaderArmNode)
