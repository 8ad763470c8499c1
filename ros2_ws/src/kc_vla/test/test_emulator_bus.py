"""The vendor's own SDK moves the emulated arm, over the bus that needs no kernel module."""

import socket
import threading
import time
from collections.abc import Iterator

import can
import pytest
from emulated_piper import wait_for
from piper import PIPER
from piper_sdk import C_PiperInterface_V2

from kc_vla.arm.emulator.bus import INTERFACE, BusServer, SocketBus
from kc_vla.arm.emulator.frames import Frame
from kc_vla.arm.emulator.process import RATE, EmulatorProcess


@pytest.fixture
def sdk(emulator, bus_path) -> Iterator[C_PiperInterface_V2]:
    interface = C_PiperInterface_V2(str(bus_path), judge_flag=False, can_auto_init=False)
    interface.CreateCanBus(str(bus_path), INTERFACE, 1_000_000, judge_flag=False)
    interface.ConnectPort()
    yield interface
    interface.DisconnectPort()


def test_the_sdk_enables_the_arm_moves_it_and_reads_where_it_is(sdk, emulator):
    wait_for(lambda: sdk.GetArmJointMsgs().time_stamp > 0)
    sdk.MotionCtrl_2(1, 1, 50)
    sdk.EnableArm(7)
    wait_for(lambda: all(sdk.GetArmEnableStatus()))
    target = (20_000, 60_000, -40_000, 0, 10_000, -5_000)
    sdk.JointCtrl(*target)

    def reached() -> bool:
        told = sdk.GetArmJointMsgs().joint_state
        return all(abs(getattr(told, f"joint_{k}") - wanted) <= 20 for k, wanted in enumerate(target, 1))

    wait_for(reached)
    assert sdk.GetArmStatus().arm_status.arm_status == 0
    sdk.GripperCtrl(50_000, 1_000, 1, 0)
    wait_for(lambda: abs(sdk.GetArmGripperMsgs().gripper_state.grippers_angle - 50_000) < 100)
    sdk.EmergencyStop(1)
    wait_for(lambda: sdk.GetArmStatus().arm_status.arm_status == 1)
    assert emulator.misunderstood == []


def test_the_sdk_reads_limits_and_firmware(sdk):
    wait_for(lambda: sdk.GetArmJointMsgs().time_stamp > 0)

    def limits() -> object:
        sdk.SearchMotorMaxAngleSpdAccLimit(3, 1)
        told = sdk.GetCurrentMotorAngleLimitMaxVel().current_motor_angle_limit_max_vel
        return (told.motor_num, told.max_angle_limit, told.min_angle_limit) == (3, 0, -1700)

    wait_for(limits)

    def firmware() -> bool:
        sdk.SearchPiperFirmwareVersion()  # the SDK may forget an answer that comes too soon
        time.sleep(0.3)
        return str(sdk.GetPiperFirmwareVersion()).startswith("S-V")

    wait_for(firmware)


def test_an_arm_that_is_always_late_still_hears(bus_path):
    process, ended = EmulatorProcess(bus_path, PIPER), threading.Event()
    late = threading.Thread(target=process.run, args=(ended, lambda number: time.sleep(2 / RATE)))
    late.start()
    end = SocketBus(str(bus_path))
    try:
        wait_for(lambda: end.recv(0.1) is not None)
        end.send(can.Message(arbitration_id=0x471, data=bytes([7, 2, 0, 0, 0, 0, 0, 0]), is_extended_id=False))
        wait_for(process.arm.body.powered.all)
    finally:
        ended.set()
        late.join()
        end.shutdown()


def test_what_one_end_sends_reaches_the_others_and_not_itself(bus_path):
    server = BusServer(bus_path)
    ends = [SocketBus(str(bus_path)) for _ in range(3)]
    list(server.receive(1.0))
    for _ in range(3):
        list(server.receive())
    ends[0].send(can.Message(arbitration_id=0x155, data=bytes(8), is_extended_id=False))
    assert list(server.receive(1.0)) == [Frame(0x155, bytes(8))]
    assert [end.recv(1.0).arbitration_id for end in ends[1:]] == [0x155, 0x155]
    assert ends[0].recv(0.1) is None
    for end in ends:
        end.shutdown()
    server.close()


def test_an_end_that_does_not_listen_holds_nobody_up(bus_path):
    server = BusServer(bus_path)
    deaf, awake = SocketBus(str(bus_path)), SocketBus(str(bus_path))
    list(server.receive(1.0)), list(server.receive())
    for number in range(20_000):
        server.send([Frame(0x2A5, number.to_bytes(8, "big"))])
        assert awake.recv(1.0).data == number.to_bytes(8, "big")
    deaf.shutdown(), awake.shutdown()
    server.close()


def test_the_last_words_of_an_end_that_leaves_with_frames_unread_are_heard(bus_path):
    server = BusServer(bus_path)
    end = SocketBus(str(bus_path))
    list(server.receive(1.0))
    server.send([Frame(0x2A1, bytes(8))])
    end.send(can.Message(arbitration_id=0x155, data=bytes(8), is_extended_id=False))
    end.shutdown()
    server.send([Frame(0x2A1, bytes(8))])
    assert list(server.receive(1.0)) == [Frame(0x155, bytes(8))]
    server.close()


def test_an_end_is_told_that_the_bus_is_gone(bus_path):
    server = BusServer(bus_path)
    end = SocketBus(str(bus_path))
    list(server.receive(1.0))
    server.close()
    with pytest.raises(can.CanOperationError, match="is gone"):
        end.recv(1.0)
    with pytest.raises(can.CanOperationError, match="is gone"):
        end.send(can.Message(arbitration_id=1, data=bytes(8)))
    end.shutdown()
    with pytest.raises(OSError, match="no emulated CAN bus at"):
        SocketBus(str(bus_path))


def test_a_second_bus_at_the_same_place_is_refused_and_one_left_behind_replaced(bus_path):
    server = BusServer(bus_path)
    with pytest.raises(OSError, match="cannot serve a bus at"):
        BusServer(bus_path)
    server.close()
    left = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    left.bind(str(bus_path))
    left.close()
    BusServer(bus_path).close()


def test_a_broken_packet_is_passed_over(bus_path):
    server = BusServer(bus_path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as end:
        end.connect(str(bus_path))
        list(server.receive(1.0))
        end.send(b"short")
        end.send(bytes(13))
        assert list(server.receive(1.0)) == [Frame(0, b"")]
    server.close()
