"""The Piper's CAN frames as the arm sees them: commands that come, feedback that goes. 8 bytes each, big-endian."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeVar

E = TypeVar("E", bound=IntEnum)
ALL_MOTORS = 7
"""Motor number that means all six joints; the SDK also sends 0xFF."""
_FIRMWARE_QUERY = 0x4AF
MOST_GRIPPER_TORQUE = 5000
"""mN m."""
_MIT = 0xAD
_MOUNTS = 3
"""1 upright, 2 on its left side, 3 on its right; 0: as it is."""


@dataclass(frozen=True)
class Frame:
    """A CAN frame with a standard id.

    Attributes:
        id: arbitration id.
        data: 8 bytes.
    """

    id: int
    data: bytes


class FrameError(ValueError):
    """A frame that no Piper understands; the text says why."""


class StopCode(IntEnum):
    """What frame 0x150 asks for in its first byte."""

    NOTHING = 0
    STOP = 1
    RESUME = 2
    """Leaves the stop, and cuts the power of the joints."""


class Move(IntEnum):
    """How targets are approached (frame 0x151)."""

    POSE = 0
    JOINTS = 1
    LINE = 2
    CIRCLE = 3
    MIT = 4
    CPV = 5
    MIT_LATER = 6
    """The MIT mode from firmware S-V1.8-8 on."""


@dataclass(frozen=True)
class Stop:
    """0x150. `teach` is the teach command of the third byte: 1 begins, 2 ends."""

    code: StopCode
    teach: int


@dataclass(frozen=True)
class ModeCommand:
    """0x151: source of the commands (1: the bus), kind of motion, share of the full velocity, percent, and mount.

    The mount is 1 upright, 2 on the left side, 3 on the right side, 0 as it is. `mit` says that the drivers of the
    motors take their commands by MIT frames.
    """

    control: int
    move: Move
    speed: int
    mount: int = 0
    mit: bool = False


@dataclass(frozen=True)
class JointTarget:
    """0x155 to 0x157: targets of two joints, from `first` (0, 2 or 4) on, millidegrees."""

    first: int
    angles: tuple[int, int]


@dataclass(frozen=True)
class GripperTarget:
    """0x159: opening in micrometers, force in mN m, bit 0 of `code` powers it, bit 1 clears errors."""

    opening: int
    torque: int
    code: int
    zero: bool


@dataclass(frozen=True)
class MotorPower:
    """0x471: motors 1 to 6, or all of them, on or off."""

    motors: tuple[int, ...]
    on: bool


@dataclass(frozen=True)
class LimitQuery:
    """0x472: ask for angle limits and top speed of motors, 1 to 6."""

    motors: tuple[int, ...]


@dataclass(frozen=True)
class FirmwareQuery:
    """0x4AF."""


Command = Stop | ModeCommand | JointTarget | GripperTarget | MotorPower | LimitQuery | FirmwareQuery


def read_command(frame: Frame) -> Command | None:
    """Return what a frame asks of the arm; None for ids that this arm does not know.

    Those are like any other traffic on the bus.

    Raises:
        FrameError: a known id with a content that no Piper understands.
    """
    if len(frame.data) != 8:
        raise FrameError(f"frame {frame.id:#x} has {len(frame.data)} bytes: all of the Piper's have 8")
    data = frame.data
    match frame.id:
        case 0x150:
            return Stop(_known(StopCode, data[0], frame), data[2])
        case 0x151:
            if data[2] > 100:
                raise FrameError(f"frame 0x151 asks for {data[2]} % of the speed: 0 to 100 are possible")
            if data[5] > _MOUNTS:
                raise FrameError(f"frame 0x151 sets the installation position {data[5]}: 0 to {_MOUNTS} are possible")
            if data[3] not in (0, _MIT, 0xFF):
                raise FrameError(f"frame 0x151 has the MIT mode {data[3]:#x}: 0, 0xad and 0xff are possible")
            move = _known(Move, data[1], frame)
            return ModeCommand(data[0], move, data[2], data[5], data[3] == _MIT)
        case 0x155 | 0x156 | 0x157:
            first, second = struct.unpack(">ii", data)
            return JointTarget(2 * (frame.id - 0x155), (first, second))
        case 0x159:
            opening, torque, code, zero = struct.unpack(">iHBB", data)
            if torque > MOST_GRIPPER_TORQUE or code > 3 or zero not in (0, 0xAE):
                raise FrameError(
                    f"frame 0x159 has a torque of {torque} mN m, the code {code} and the zero {zero:#x}: up to "
                    f"{MOST_GRIPPER_TORQUE}, 0 to 3, and 0 or 0xAE are possible"
                )
            return GripperTarget(opening, torque, code, zero == 0xAE)
        case 0x471:
            if data[1] not in (1, 2):
                raise FrameError(f"frame 0x471 has power code {data[1]}: 1 is off, 2 is on")
            return MotorPower(motors_of(data[0]), data[1] == 2)
        case 0x472:
            return LimitQuery(motors_of(data[0])) if data[1] == 1 else None
        case 0x4AF:
            return FirmwareQuery() if data[0] == 1 else None
    return None


def status_frame(
    *, control: int, status: int, move: int, teach: int, moving: bool, over_limit: Sequence[bool], lost: Sequence[bool]
) -> Frame:
    """Return frame 0x2A1: the mode and state of the arm.

    It says of each joint whether its target was out of range, and whether it is silent.
    """
    data = bytes([control, status, move, teach, int(moving), 0, _bits(over_limit), _bits(lost)])
    return Frame(0x2A1, data)


def pose_frames(position: Sequence[int], rotation: Sequence[int]) -> tuple[Frame, ...]:
    """Return frames 0x2A2 to 0x2A4: flange position (3,) in micrometers and rotation (3,) in millidegrees.

    The rotation is about x, y, z.
    """
    return _pairs(0x2A2, (*position, *rotation))


def joint_frames(angles: Sequence[int]) -> tuple[Frame, ...]:
    """Return frames 0x2A5 to 0x2A7: joint angles (6,) in millidegrees."""
    return _pairs(0x2A5, angles)


def gripper_frame(opening: int, torque: int, status: int) -> Frame:
    """Return frame 0x2A8: opening in micrometers, torque in mN m, status bits (6: enabled, 7: homed)."""
    return Frame(0x2A8, struct.pack(">ihBx", opening, torque, status))


def motor_frame(motor: int, speed: int, current: int, position: int) -> Frame:
    """Return a frame 0x251 to 0x256: speed in mrad/s, current in mA, position in mrad of motor 1 to 6."""
    return Frame(0x250 + motor, struct.pack(">hhi", speed, current, position))


def driver_frame(motor: int, voltage: int, driver_heat: int, motor_heat: int, status: int, current: int) -> Frame:
    """Return a frame 0x261 to 0x266 of the driver of motor 1 to 6.

    It has the supply in 0.1 V, temperatures in degrees C, status bits, and the supply current in mA.
    """
    return Frame(0x260 + motor, struct.pack(">HhbBH", voltage, driver_heat, motor_heat, status, current))


def limits_frame(motor: int, highest: int, lowest: int, speed: int) -> Frame:
    """Return frame 0x473: angle limits of motor 1 to 6 in 0.1 degrees, top speed in mrad/s."""
    return Frame(0x473, struct.pack(">BhhHx", motor, highest, lowest, speed))


def firmware_frames(text: str) -> tuple[Frame, ...]:
    """Return the frames 0x4AF: an ASCII text in pieces of eight characters."""
    data = text.encode("ascii")
    return tuple(Frame(_FIRMWARE_QUERY, data[k : k + 8].ljust(8, b"\0")) for k in range(0, len(data), 8))


def _pairs(first_id: int, values: Sequence[int]) -> tuple[Frame, ...]:
    return tuple(Frame(first_id + k, struct.pack(">ii", *values[2 * k : 2 * k + 2])) for k in range(3))


def _bits(flags: Sequence[bool]) -> int:
    return sum(int(flag) << k for k, flag in enumerate(flags))


def motors_of(number: int) -> tuple[int, ...]:
    """Return the motors that a number of a frame means: 1 to 6, or all of them. Raises: FrameError."""
    if number in (ALL_MOTORS, 0xFF):
        return (1, 2, 3, 4, 5, 6)
    if not 1 <= number <= 6:
        raise FrameError(f"there is no motor {number}: 1 to 6 are joints, {ALL_MOTORS} is all of them")
    return (number,)


def _known(kind: type[E], value: int, frame: Frame) -> E:
    try:
        return kind(value)
    except ValueError:
        raise FrameError(f"frame {frame.id:#x} has {kind.__name__.lower()} {value}, which does not exist") from None
