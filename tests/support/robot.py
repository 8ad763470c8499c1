"""The graph around a Piper, and what a person sees of the arm and asks of it."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from kc_vla.arm.servo_modes import ServoSettings
from kc_vla.launching.graph import emulated_bus
from kc_vla.ros import qos
from tests.support.node_process import Peer
from tests.support.stack import PATIENCE_S, PIPER, Stack

SAW = re.compile(
    r"the emulated arm saw: (?P<commands>\d+) joint commands, (?P<outside>\d+) out of limits, largest step "
    r"(?P<step>[\d.]+) degrees, .* (?P<raised>\d+) times disabled while raised\.(?P<powered>.*)"
)
SPEED, PERIOD = ServoSettings.speed, 0.005
"""max_speed of arm_controller, and control_rate of launch/params/piper.yaml."""
ROUNDING = 0.002
"""degrees, twice a unit of the wire."""
_WINDOWS = 6
"""How often it is looked whether the arm has come to rest."""


class Robot(Stack):
    """See the module."""

    def __init__(
        self,
        folder: Path,
        arguments: Mapping[str, object],
        peer: Peer,
        states: str = "/joint_states",
        driver: str = "/piper_emulator",
    ) -> None:
        """Args: `states`: our topic of joint states; `driver`: the node whose parameter `fault` harms the arm."""
        self.peer, self._driver = peer, driver
        self.states = peer.hear(JointState, states, qos.STATE)
        super().__init__(folder / "runs", arguments, launch_file=PIPER, environment={"ROS_HOME": str(folder)})

    def call(self, service: str) -> str:
        """What the person is told who calls a service."""
        return str(self.peer.call(Trigger, service, Trigger.Request()).message)

    def ask_for(self, fault: str) -> None:
        """Let something go wrong with the arm, or nothing any more."""
        value = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=fault)
        request = SetParameters.Request(parameters=[Parameter(name="fault", value=value)])
        (done,) = self.peer.call(SetParameters, f"{self._driver}/set_parameters", request).results
        assert done.successful, done.reason

    def angles(self) -> np.ndarray:
        """Where the joints are now, rad."""
        self.states.clear()
        self.peer.until(lambda: len(self.states) > qos.STATE.depth)  # so many may have waited to be heard
        return np.array(self.states[-1].position)[:6]

    def is_moving(self) -> bool:
        """Whether the arm is seen on its way just now."""
        before = self.angles()
        time.sleep(0.5)
        return bool(np.abs(self.angles() - before).max() > 0.02)

    def stands(self, limp: int | None = None) -> bool:
        """It is not seen to move for a second, once it had the time to come to rest; joint `limp` may sink.

        On a busy machine that takes a while. The script, on the other hand, rests in no pose for a second.
        """
        for _ in range(_WINDOWS):
            time.sleep(0.5)
            before = self.angles()
            time.sleep(1.0)
            moved = np.abs(self.angles() - before)
            if limp is not None:
                moved[limp - 1] = 0.0
            if moved.max() < 0.005:
                return True
        return False

    def resume_in_the_end(self) -> None:
        """A person asks until the arm may move again."""
        until = time.monotonic() + PATIENCE_S
        while "the arm moves again" not in (told := self.call("/arm/resume")):
            assert time.monotonic() < until, told

    def wait_until_it_moves(self) -> None:
        """The script rests in no pose for long."""
        until = time.monotonic() + PATIENCE_S
        while not self.is_moving():
            assert time.monotonic() < until, f"the arm does not move:\n{self.text[-6000:]}"


def second_controller() -> list[str]:
    """The command that starts another controller on the emulated arm."""
    parameters = {"arm": "piper", "mode": "realtime", "channel": emulated_bus(), "bus": "kc_vla_socket"}
    words = [word for name, value in parameters.items() for word in ("-p", f"{name}:={value}")]
    return ["ros2", "run", "kc_vla", "arm_controller", "--ros-args", "-r", "__node:=second", *words]


def check_what_the_arm_saw(stack: Stack, steps_at_once: int = 1) -> None:
    """Nothing that a real arm would have answered with a jump or a fall; it lies without power."""
    saw = SAW.search(stack.text)
    assert saw, stack.text
    assert int(saw["commands"]) > 1000
    assert int(saw["outside"]) == 0
    assert float(saw["step"]) <= steps_at_once * np.degrees(SPEED * PERIOD) + ROUNDING, saw[0]
    assert int(saw["raised"]) == 0
    assert saw["powered"] == "", stack.tail()
