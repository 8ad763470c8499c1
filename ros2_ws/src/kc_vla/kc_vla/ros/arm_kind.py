"""The row `ros` of the arm drivers: an arm that a third-party ROS driver moves."""

from __future__ import annotations

import os

from kc_vla.arm.foreign import ForeignArm
from kc_vla.arm.interface import ArmDriver
from kc_vla.arm.kinds import ArmKind, Timing
from kc_vla.arm.wiring import Wiring
from kc_vla.core.robot_interface import RosOptions


def _make(wiring: Wiring, options: RosOptions) -> ArmDriver:
    from kc_vla.ros.arm_line import RosLine

    interface = options.interface(wiring.robot.joints)
    return ForeignArm(wiring.robot, interface, RosLine(interface, wiring.simulated_time))


ROS = ArmKind(
    meaning="any arm that a third-party ROS driver moves, as its robot file says",
    options=RosOptions,
    make=_make,
    identity=lambda robot, options: f"ros{options.command}",
    timing=lambda robot, options: Timing(options.rate, options.stale_after),
    claim=lambda robot, options: f"ros-{os.environ.get('ROS_DOMAIN_ID', '0')}{options.command}",
)
