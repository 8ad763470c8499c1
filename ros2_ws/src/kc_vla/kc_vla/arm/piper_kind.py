"""The row `piper` of the arm drivers."""

from __future__ import annotations

from dataclasses import dataclass

from kc_vla.arm.interface import ArmDriver
from kc_vla.arm.kinds import ArmKind
from kc_vla.arm.wiring import Wiring
from kc_vla.core.options import option


@dataclass(frozen=True)
class PiperOptions:
    """Where a Piper is, how it is mounted, and what it is sent at enabling."""

    channel: str = option("CAN interface, up at 1 Mbit/s", "can0")
    bus: str = option("kind of bus, by python-can's name; kc_vla_socket: the bus of an emulated arm", "socketcan")
    mount: str = option(
        "installation position, seen with the cable to the rear; the controller sends it whenever it enables the "
        "arm. Without this option the arm keeps its own setting",
        "",
        choices=("", "upright", "left", "right"),
    )
    load: str = option(
        "end load; the controller sends it whenever it enables the arm. Without this option the arm keeps its own "
        "setting",
        "",
        choices=("", "none", "half", "full"),
    )
    gripper_effort: float = option("largest torque of the gripper, N m", 1.0, low=0.05, high=5.0)


def _make(wiring: Wiring, options: PiperOptions) -> ArmDriver:
    from kc_vla.arm.piper import PiperArm

    return PiperArm(
        wiring.robot,
        options.channel,
        options.bus,
        mount=options.mount,
        load=options.load,
        gripper_effort=options.gripper_effort,
    )


PIPER = ArmKind(
    meaning="an AgileX Piper on a CAN interface, by the vendor's SDK",
    options=PiperOptions,
    make=_make,
    identity=lambda robot, options: options.channel,
)
