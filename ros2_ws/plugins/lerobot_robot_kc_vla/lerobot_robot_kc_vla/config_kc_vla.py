"""What can be set of the robot, as `--robot.<name>=...` on the command line."""

from __future__ import annotations

from dataclasses import dataclass, field

from lerobot.robots import RobotConfig

from kc_vla.policy.driven.wire import usual_socket


@RobotConfig.register_subclass("kc_vla")
@dataclass(kw_only=True)
class KcVlaConfig(RobotConfig):
    """The configuration of a robot of this stack in LeRobot.

    Attributes:
        socket: of the stack, `socket:=` of its launch file.
        timeout: s for an answer of the stack.
        wait: s for the stack to be there, with an episode that runs.
        stale_after: s after which what was seen counts no more: the stack asks for nothing any longer.
    """

    socket: str = field(default_factory=usual_socket)
    timeout: float = 10.0
    wait: float = 60.0
    stale_after: float = 2.0
