"""The emulated Piper's frames, byte for byte as the vendor's SDK writes and reads them."""

import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kc_vla.arm.emulator.frames import (
    FirmwareQuery,
    Frame,
    FrameError,
    GripperTarget,
    JointTarget,
    LimitQuery,
    ModeCommand,
    MotorPower,
    Move,
    Stop,
    StopCode,
    driver_frame,
    firmware_frames,
    gripper_frame,
    joint_frames,
    limits_frame,
    motor_frame,
    pose_frames,
    read_command,
    status_frame,
)

int32 = st.integers(-(2**31), 2**31 - 1)


@pytest.mark.parametrize(
    ("number", "data", "command"),
    [
        (0x150, "0100000000000000", Stop(StopCode.STOP, 0)),
        (0x150, "0200000000000000", Stop(StopCode.RESUME, 0)),
        (0x150, "0000010000000000", Stop(StopCode.NOTHING, 1)),
        (0x151, "0101320000000000", ModeCommand(1, Move.JOINTS, 50)),
        (0x155, "00002710ffffd8f0", JointTarget(0, (10_000, -10_000))),
        (0x157, "000000010000ffff", JointTarget(4, (1, 65_535))),
        (0x159, "0000c35003e80100", GripperTarget(50_000, 1_000, 1, False)),
        (0x159, "00000000000000ae", GripperTarget(0, 0, 0, True)),
        (0x471, "0702000000000000", MotorPower((1, 2, 3, 4, 5, 6), True)),
        (0x471, "ff01000000000000", MotorPower((1, 2, 3, 4, 5, 6), False)),
        (0x471, "0301000000000000", MotorPower((3,), False)),
        (0x472, "0201000000000000", LimitQuery((2,))),
        (0x4AF, "0100000000000000", FirmwareQuery()),
    ],
)
def test_a_command_is_read(number, data, command):
    assert read_command(Frame(number, bytes.fromhex(data))) == command


@pytest.mark.parametrize(
    ("number", "data", "why"),
    [
        (0x151, "0101650000000000", "101 % of the speed"),
        (0x151, "0109000000000000", "has move 9"),
        (0x150, "0900000000000000", "has stopcode 9"),
        (0x471, "0802000000000000", "no motor 8"),
        (0x471, "0103000000000000", "power code 3"),
        (0x155, "00", "has 1 bytes"),
    ],
)
def test_a_command_that_means_nothing_is_told(number, data, why):
    with pytest.raises(FrameError, match=why):
        read_command(Frame(number, bytes.fromhex(data)))


@given(st.integers(0, 0x7FF), st.binary(min_size=0, max_size=8))
def test_no_traffic_on_the_bus_can_break_the_reader(number, data):
    with suppress(FrameError):
        read_command(Frame(number, data))


@given(st.lists(int32, min_size=6, max_size=6))
def test_six_values_go_in_three_frames(values):
    for first, frames in ((0x2A5, joint_frames(values)), (0x2A2, pose_frames(values[:3], values[3:]))):
        assert [frame.id for frame in frames] == [first, first + 1, first + 2]
        assert list(struct.unpack(">6i", b"".join(frame.data for frame in frames))) == values


def test_feedback_is_laid_out_as_the_sdk_reads_it():
    status = status_frame(
        control=1, status=4, move=1, teach=0, moving=True, over_limit=[False, True, *[False] * 4], lost=[True] * 6
    )
    assert (status.id, status.data.hex()) == (0x2A1, "010401000100023f")
    assert gripper_frame(70_000, -200, 0xC0).data.hex() == "00011170ff38c000"
    assert (motor_frame(6, -1, 2, 3).id, motor_frame(6, -1, 2, 3).data.hex()) == (0x256, "ffff000200000003")
    assert (driver_frame(1, 240, 35, -5, 0x40, 900).id, driver_frame(1, 240, 35, -5, 0x40, 900).data.hex()) == (
        0x261,
        "00f00023fb400384",
    )
    assert limits_frame(1, 1500, -1500, 3000).data.hex() == "0105dcfa240bb800"


def test_the_firmware_text_goes_in_pieces():
    frames = firmware_frames("S-V1.6-3 2024")
    assert {frame.id for frame in frames} == {0x4AF}
    assert b"".join(frame.data for frame in frames).rstrip(b"\0") == b"S-V1.6-3 2024"
