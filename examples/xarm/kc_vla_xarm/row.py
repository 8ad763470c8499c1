"""The row `xarm` of the arm drivers. Importing it needs no library of the vendor."""

from __future__ import annotations

from dataclasses import dataclass

from kc_vla.arm.interface import ArmDriver
from kc_vla.arm.kinds import ArmKind, Timing
from kc_vla.arm.wiring import Wiring
from kc_vla.core.options import option


@dataclass(frozen=True)
class XArmOptions:
    """Where an xArm is, and how it is moved."""

    address: str = option("IP address of the control box")
    command_rate: float = option("set-points per second, Hz", 100.0, low=50.0, high=250.0)
    has_gripper: bool = option("the vendor's gripper is at the flange", True)
    gripper_speed: int = option("of the gripper, pulses per second", 3000, low=350, high=5000)
    port_offset: int = option("added to the vendor's ports 502, 30002 and 30003, for a tunnel", 0, low=0, high=35000)


def _make(wiring: Wiring, options: XArmOptions) -> ArmDriver:
    from kc_vla_xarm.driver import XArm

    return XArm(wiring.robot, options)


def _identity(options: XArmOptions) -> str:
    return f"xarm-{options.address}" + (f"+{options.port_offset}" if options.port_offset else "")


XARM = ArmKind(
    meaning="a UFACTORY xArm over Ethernet, by the vendor's SDK in servo mode",
    options=XArmOptions,
    make=_make,
    identity=lambda robot, options: _identity(options),
    timing=lambda robot, options: Timing(command_rate=options.command_rate),
)
