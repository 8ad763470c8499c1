"""The MIT frames of a Piper, 0x15A to 0x15F, as its firmware takes them apart.

Up to S-V1.8-7 the torque has 8 bits, and 4 bits of checksum follow; from S-V1.8-8 on it has 12 bits and no checksum.
Up to S-V1.8-2 joints 1 to 3 give four times the torque of the frame.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import reduce
from operator import xor

from kc_vla.arm.emulator.frames import Frame, FrameError, Move
from kc_vla.core.robot import firmware_version

FIRST_ID = 0x15A
_MORE_BITS, _NOT_FOURFOLD = (1, 8, 8), (1, 8, 3)
_FOURFOLD, _FOURFOLD_JOINTS = 4.0, 3
_ANGLE, _SPEED, _STIFFNESS, _DAMPING = (-12.5, 12.5), (-45.0, 45.0), (0.0, 500.0), (-5.0, 5.0)
_TORQUE, _WIDER_TORQUE = (-8.0, 8.0), (-16.0, 16.0)


@dataclass(frozen=True)
class MitFrame:
    """A command for the driver of one motor, 1 to 6, whose eight bytes are not taken apart yet."""

    motor: int
    data: bytes


@dataclass(frozen=True)
class MitTarget:
    """The command of a driver: angle, rad, speed, rad/s, stiffness, N m/rad, damping, N m s/rad, and torque, N m."""

    angle: float
    speed: float
    stiffness: float
    damping: float
    torque: float


def read_mit(frame: Frame) -> MitFrame | None:
    """Return a command for one motor; None for any other frame. Raises: FrameError: it has not eight bytes."""
    if not FIRST_ID <= frame.id < FIRST_ID + 6:
        return None
    if len(frame.data) != 8:
        raise FrameError(f"frame {frame.id:#x} has {len(frame.data)} bytes: all of the Piper's have 8")
    return MitFrame(frame.id - FIRST_ID + 1, frame.data)


def mit_move(firmware: str) -> Move:
    """Return the number of the MIT mode in frame 0x151 and in the feedback of an arm with this firmware."""
    return Move.MIT_LATER if firmware_version(firmware) >= _MORE_BITS else Move.MIT


def taken_apart(frame: MitFrame, firmware: str) -> MitTarget:
    """Return the command that an arm with this firmware reads in a frame. Raises: FrameError: its checksum is wrong."""
    version, data = firmware_version(firmware), frame.data
    angle, speed = struct.unpack(">H", data[:2])[0], data[2] << 4 | data[3] >> 4
    stiffness, damping = (data[3] & 0xF) << 8 | data[4], data[5] << 4 | data[6] >> 4
    torque = (data[6] & 0xF) << 8 | data[7]
    bits, span = 12, _WIDER_TORQUE
    if version < _MORE_BITS:
        if (checksum := reduce(xor, data[:7]) & 0xF) != data[7] & 0xF:
            raise FrameError(f"frame {FIRST_ID + frame.motor - 1:#x} has the checksum {data[7] & 0xF}, not {checksum}")
        torque, bits, span = torque >> 4, 8, _TORQUE
    fourfold = version < _NOT_FOURFOLD and frame.motor <= _FOURFOLD_JOINTS
    return MitTarget(
        _scaled(angle, 16, *_ANGLE),
        _scaled(speed, 12, *_SPEED),
        _scaled(stiffness, 12, *_STIFFNESS),
        _scaled(damping, 12, *_DAMPING),
        _scaled(torque, bits, *span) * (_FOURFOLD if fourfold else 1.0),
    )


def _scaled(code: int, bits: int, low: float, high: float) -> float:
    return low + code * (high - low) / ((1 << bits) - 1)
