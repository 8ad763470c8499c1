"""The graph around a Piper, and what a person sees of the arm and asks of it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from node_process import Peer
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from sensor_msgs.msg import JointState
from stack import PATIENCE_S, PIPER, Stack
from std_srvs.srv import Trigger

from kc_vla.nodes import qos
from kc_vla.nodes.convert import nanoseconds


class Robot(Stack):
    """See the module."""

    def __init__(self, folder: Path, arguments: Mapping[str, object], peer: Peer) -> None:
        self.peer = peer
        self.states = peer.hear(JointState, "/joint_states", qos.STATE)
        super().__init__(folder / "runs", arguments, launch_file=PIPER, environment={"ROS_HOME": str(folder)})

    def call(self, service: str) -> str:
        """What the person is told who calls a service."""
        return str(self.peer.call(Trigger, service, Trigger.Request()).message)

    def ask_for(self, fault: str) -> None:
        """Let something go wrong with the arm, or nothing any more."""
        value = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=fault)
        request = SetParameters.Request(parameters=[Parameter(name="fault", value=value)])
        (done,) = self.peer.call(SetParameters, "/piper_emulator/set_parameters", request).results
        assert done.successful, done.reason

    def angles(self) -> np.ndarray:
        """Where the joints are now, rad."""
        asked = self.peer.node.get_clock().now().nanoseconds
        return np.array(self.peer.until(lambda: self._heard_since(asked)).position)[:6]

    def _heard_since(self, stamp_ns: int) -> JointState | None:
        newest = self.states[-1] if self.states else None
        return newest if newest is not None and nanoseconds(newest.header.stamp) > stamp_ns else None

    def is_moving(self) -> bool:
        """Whether the arm is seen on its way just now."""
        before = self.angles()
        time.sleep(0.5)
        return bool(np.abs(self.angles() - before).max() > 0.02)

    def stands(self) -> bool:
        """It is not seen to move for a second, once it had the time to come to rest."""
        time.sleep(0.5)
        before = self.angles()
        time.sleep(1.0)
        return bool(np.abs(self.angles() - before).max() < 0.005)

    def wait_until_it_moves(self) -> None:
        """The script rests in no pose for long."""
        until = time.monotonic() + PATIENCE_S
        while not self.is_moving():
            assert time.monotonic() < until, f"the arm does not move:\n{self.text[-6000:]}"
