"""Frames that set what a Piper keeps: gripper, collision levels, load, role, zeros, limits; and its answers."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from kc_vla.arm.emulator.frames import Frame, FrameError, motors_of

_SET = 0xAE
"""What makes an optional part of a frame count."""
_FAST = 0xAD
"""A leader has its follower follow as fast as it can."""
STROKES = (0, 70, 100)
"""Strokes of a gripper that can be set, mm; 0: none."""
MOST_LEVEL = 8
_OFFSETS = (0x00, 0x10, 0x20)


class ParameterQuery(IntEnum):
    """What frame 0x477 asks for in its first byte."""

    NOTHING = 0
    END_SPEED = 1
    COLLISION = 2
    TRAJECTORY = 3
    GRIPPER = 4


class Role(IntEnum):
    """What an arm is set to by frame 0x470."""

    LEADER = 0xFA
    FOLLOWER = 0xFC


@dataclass(frozen=True)
class RoleSetting:
    """0x470."""

    role: Role


@dataclass(frozen=True)
class JointSetting:
    """0x475: of some motors, whether they are at their zero now, and whether their errors are cleared."""

    motors: tuple[int, ...]
    zero: bool
    clear: bool


@dataclass(frozen=True)
class Parameters:
    """0x477: a query, the factory limits of all joints, and the end load, 0 none, 1 half, 2 full; None: as it is."""

    query: ParameterQuery
    factory_limits: bool
    load: int | None


@dataclass(frozen=True)
class CollisionLevels:
    """0x47A: how a collision is detected by each joint, 0 (not at all) to 8."""

    levels: tuple[int, ...]


@dataclass(frozen=True)
class GripperSetting:
    """0x47D: range of the teaching pendant, percent, stroke of the gripper, mm (0: none is set), and its friction."""

    range: int
    stroke: int
    friction: int


Setting = RoleSetting | JointSetting | Parameters | CollisionLevels | GripperSetting


def read_setting(frame: Frame) -> Setting | None:
    """Return what a frame sets; None for ids that set nothing.

    Raises:
        FrameError: a known id with a content that no Piper understands.
    """
    data = frame.data
    match frame.id:
        case 0x470:
            if data[0] not in (0, *Role) or any(offset not in _OFFSETS for offset in data[1:4]):
                raise FrameError(f"frame 0x470 sets the role {data[0]:#x} with offsets {data[1:4].hex(' ')}")
            return RoleSetting(Role(data[0])) if data[0] else None
        case 0x475:
            motor, zero, accelerates, acceleration, clear = struct.unpack(">BBBHB", data[:6])
            if not {zero, accelerates, clear} <= {0, _SET} or not (acceleration <= 500 or acceleration == 0x7FFF):
                raise FrameError(f"frame 0x475 sets {data.hex(' ')}: 0 and 0xAE are possible, and up to 5 rad/s2")
            return JointSetting(motors_of(motor), zero == _SET, clear == _SET)
        case 0x477:
            return _parameters(data)
        case 0x47A:
            if max(data[:6]) > MOST_LEVEL:
                raise FrameError(f"frame 0x47A sets the collision levels {list(data[:6])}: 0 to {MOST_LEVEL} exist")
            return CollisionLevels(tuple(data[:6]))
        case 0x47D:
            if not (100 <= data[0] <= 200 and data[1] in STROKES and 1 <= data[2] <= 10):
                raise FrameError(
                    f"frame 0x47D sets a range of {data[0]} %, a stroke of {data[1]} mm and a friction of {data[2]}: "
                    "100 to 200, one of 0, 70 and 100, and 1 to 10 are possible"
                )
            return GripperSetting(data[0], data[1], data[2])
    return None


def is_written(command: object) -> bool:
    """Return whether a command sets what the arm keeps, and does not only ask for it."""
    if isinstance(command, Parameters):
        return command.factory_limits or command.load is not None
    return isinstance(command, RoleSetting | JointSetting | CollisionLevels | GripperSetting)


def answer_frame(setting: int, zero: bool = False) -> Frame:
    """Return frame 0x476: a frame of the id `setting` was taken, and whether a joint's zero was set by it."""
    return Frame(0x476, bytes([setting & 0xFF, int(zero), 0, 0, 0, 0, 0, 0]))


def collision_frame(levels: Sequence[int]) -> Frame:
    """Return frame 0x47B: the collision levels of the six joints."""
    return Frame(0x47B, bytes([*levels, 0, 0]))


def gripper_setting_frame(setting: GripperSetting) -> Frame:
    """Return frame 0x47E: what 0x47D has set."""
    return Frame(0x47E, bytes([setting.range, setting.stroke, setting.friction, 0, 0, 0, 0, 0]))


def leader_frames(angles: Sequence[int], opening: int) -> tuple[Frame, ...]:
    """Return the commands that a leader sends: its mode, joint angles (6,), millidegrees, and gripper, micrometers."""
    pairs = (Frame(0x155 + k, struct.pack(">ii", *angles[2 * k : 2 * k + 2])) for k in range(3))
    mode = Frame(0x151, bytes([1, 1, 100, _FAST, 0, 0, 0, 0]))
    return mode, *pairs, Frame(0x159, struct.pack(">iHBB", opening, 1000, 1, 0))


def _parameters(data: bytes) -> Parameters:
    if data[0] > max(ParameterQuery) or data[1] > 2 or data[3] not in (0, _SET) or data[4] > 3:
        raise FrameError(f"frame 0x477 asks for {data.hex(' ')}: no Piper understands that")
    load = data[4] if data[3] == _SET else None
    if load == 3:
        raise FrameError("frame 0x477 sets the end load 3: 0 (none), 1 (half) and 2 (full) are possible")
    return Parameters(ParameterQuery(data[0]), data[1] == 2, load)
