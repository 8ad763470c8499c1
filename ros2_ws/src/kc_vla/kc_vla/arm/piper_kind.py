"""The row `piper` of the arm drivers."""

from __future__ import annotations

from dataclasses import dataclass

from kc_vla.arm.interface import ArmDriver
from kc_vla.arm.kinds import ArmKind
from kc_vla.arm.wiring import Wiring
from kc_vla.core.options import option


@dataclass(frozen=True)
class PiperOptions:
    """Where a Piper is."""

    channel: str = option("CAN interface, up at 1 Mbit/s", "can0")
    bus: str = option("python-can's name of the kind of bus; kc_vla_socket: an emulated arm", "socketcan")


def _make(wiring: Wiring, options: PiperOptions) -> ArmDriver:
    from kc_vla.arm.piper import PiperArm

    return PiperArm(wiring.robot, options.channel, options.bus)


PIPER = ArmKind(
    meaning="an AgileX Piper on a CAN interface, by the vendor's SDK",
    options=PiperOptions,
    make=_make,
    identity=lambda robot, options: options.channel,
)
