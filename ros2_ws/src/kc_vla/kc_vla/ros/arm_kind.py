"""The row `ros` of the arm drivers: an arm that a third-party ROS driver moves."""

from __future__ import annotations

import os

from kc_vla.arm.foreign import ForeignArm
from kc_vla.arm.interface import ArmDriver
from kc_vla.arm.kinds import ArmKind, Timing
from kc_vla.arm.wiring import Wiring
from kc_vla.core.options import NoOptions
from kc_vla.core.rig import Rig, RigError
from kc_vla.core.robot_interface import RobotInterface


def _interface(rig: Rig) -> RobotInterface:
    if rig.interface is None:
        raise RigError(
            f"the robot '{rig.name}' does not say how a ROS driver moves it: give its file driver: {{type: ros, ...}}, "
            "see docs/other_robots.md"
        )
    return rig.interface


def _make(wiring: Wiring, options: NoOptions) -> ArmDriver:
    from kc_vla.ros.arm_line import RosLine

    return ForeignArm(wiring.rig, RosLine(_interface(wiring.rig), wiring.simulated_time))


def _timing(rig: Rig, options: NoOptions) -> Timing:
    interface = _interface(rig)
    return Timing(interface.rate, interface.stale_after)


ROS = ArmKind(
    meaning="any arm that a third-party ROS driver moves, as its robot file says",
    options=NoOptions,
    make=_make,
    identity=lambda rig, options: f"ros{_interface(rig).command}",
    timing=_timing,
    claim=lambda rig, options: f"ros-{os.environ.get('ROS_DOMAIN_ID', '0')}{_interface(rig).command}",
)
