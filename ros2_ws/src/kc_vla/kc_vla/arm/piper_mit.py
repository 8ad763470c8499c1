"""Impedance commands for the motors of a Piper: its MIT frames, in the encoding of its firmware.

The vendor's SDK knows one of the two encodings, and wraps what is out of range silently. So the frames are made here,
and every value is cut to what a frame can carry.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import reduce
from operator import xor

import numpy as np

from kc_vla.arm.interface import ArmError, Impedance
from kc_vla.core.robot import FIRMWARE, firmware_version

_FIRST_ID = 0x15A
MIT_FRAMES = frozenset(range(_FIRST_ID, _FIRST_ID + 6))
"""Ids of the commands of joints 1 to 6."""
_EARLIER, _LATER = 4, 6
MIT_MOVES = frozenset({_EARLIER, _LATER})
"""Numbers of the MIT mode in frames 0x151 and 0x2A1, before S-V1.8-8 and from it on."""
_SERIES, _OLDEST, _TWELVE_BITS = (1, 8), (1, 8, 3), (1, 8, 8)
"""The only firmwares with a known encoding, the first that gives all joints the torque of the frame, and the first
with 12 bits of torque and no checksum. Before the second one, joints 1 to 3 give four times that torque."""
_ANGLE, _SPEED, _STIFFNESS = (-12.5, 12.5, 16), (-45.0, 45.0, 12), (0.0, 500.0, 12)
_DAMPING = (-5.0, 5.0, 12)
"""Lowest and highest value of a frame, and bits. A damping below 0 would drive a joint: it is never sent."""


@dataclass(frozen=True)
class MitEncoding:
    """How a firmware wants its MIT frames.

    Attributes:
        move: number of the mode in frames 0x151 and 0x2A1.
        torque: largest torque of a frame, N m.
        bits: of the torque.
        has_checksum: whether 4 bits of checksum follow it.
    """

    move: int
    torque: float
    bits: int
    has_checksum: bool

    def frames(self, impedance: Impedance) -> list[tuple[int, bytes]]:
        """Return the id and the bytes of one frame for each joint.

        Raises:
            ValueError: a number is not finite.
        """
        rows = np.array(
            [impedance.angles, impedance.velocities, impedance.stiffness, impedance.damping, impedance.torques]
        )
        if not np.isfinite(rows).all():
            raise ValueError("an impedance command with a number that is not finite")
        return [(_FIRST_ID + joint, self._packed(*row)) for joint, row in enumerate(rows.T.tolist())]

    def _packed(self, angle: float, speed: float, stiffness: float, damping: float, torque: float) -> bytes:
        speed_code, stiff_code = _code(speed, *_SPEED), _code(stiffness, *_STIFFNESS)
        damping_code = _code(max(damping, 0.0), *_DAMPING)
        torque_code = _code(torque, -self.torque, self.torque, self.bits)
        gains = struct.pack(">I", speed_code << 20 | stiff_code << 8 | damping_code >> 4)
        head = struct.pack(">H", _code(angle, *_ANGLE)) + gains
        if not self.has_checksum:
            return head + struct.pack(">H", (damping_code & 0xF) << 12 | torque_code)
        seventh = (damping_code & 0xF) << 4 | torque_code >> 4
        checksum = reduce(xor, head + bytes([seventh])) & 0xF
        return head + bytes([seventh, (torque_code & 0xF) << 4 | checksum])


def encoding_of(firmware: str) -> MitEncoding:
    """Return how the arm with this firmware wants its MIT frames.

    Args:
        firmware: as the arm reports it; empty if it is not understood.

    Raises:
        ArmError: that is not known, so that no torque may be sent.
    """
    version = firmware_version(firmware) if FIRMWARE.fullmatch(firmware) else ()
    if version[:2] != _SERIES or version < _OLDEST:
        raise ArmError(
            f"the firmware '{firmware}' of the arm has no compliance: only S-V1.8-3 and later ones of S-V1.8 are known "
            "to give the torque that they are sent"
        )
    if version < _TWELVE_BITS:
        return MitEncoding(move=_EARLIER, torque=8.0, bits=8, has_checksum=True)
    return MitEncoding(move=_LATER, torque=16.0, bits=12, has_checksum=False)


def _code(value: float, low: float, high: float, bits: int) -> int:
    """Return the nearest code of a value, cut to what the frame can carry."""
    most = (1 << bits) - 1
    return round((min(max(value, low), high) - low) * most / (high - low))
