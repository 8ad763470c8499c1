#!/usr/bin/env bash
# piper_sdk: start_sdk_joint_limit falsifies what is read, and one arm's limits hold for all arms of the process.
#
# Guess:  start_sdk_joint_limit clamps the commands of the arm that it was set for.
# Truth:  It clamps the measured angles, too: an arm at 100 degrees reads 5.73 with a limit of 0.1 rad, so nobody sees
#         that it left its range. SetSDKJointLimitParam() of the left arm also clamps the commands of the right arm,
#         since all interfaces of a process share one C_PiperParamManager.
# Seen:   piper_sdk 0.6.2, python-can 4.6.1, Python 3.11, 2026-11-28.
# Source: interface/piper_interface_v2.py, __CalJointSDKLimit; piper_param/piper_param_manager.py, a singleton.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq piper_sdk==0.6.2 python-can==4.6.1
"$folder/venv/bin/python" - <<'PROGRAM'
import struct
import sys
import time
from importlib.metadata import version

import can
from piper_sdk import C_PiperInterface_V2, LogLevel

print("piper_sdk", version("piper_sdk"), "python-can", version("python-can"))
arms, emulators = {}, {}
for side in ("left", "right"):
    emulators[side] = can.Bus(channel=side, interface="virtual")
    arms[side] = C_PiperInterface_V2(side, judge_flag=False, can_auto_init=False, start_sdk_joint_limit=True,
                                     logger_level=LogLevel.CRITICAL)
    arms[side].CreateCanBus(side, bustype="virtual", judge_flag=False)
    arms[side].ConnectPort(piper_init=False)
arms["left"].SetSDKJointLimitParam("j1", -0.1, 0.1)  # rad: 5.73 degrees to either side

data = struct.pack(">ii", 100_000, 30_000)  # frame 0x2A5: joints 1 and 2 in 0.001 degree
emulators["left"].send(can.Message(arbitration_id=0x2A5, data=data, is_extended_id=False))
time.sleep(0.3)
read = arms["left"].GetArmJointMsgs().joint_state.joint_1

arms["right"].JointCtrl(90_000, 30_000, 0, 0, 0, 0)
commanded = None
while frame := emulators["right"].recv(0.5):
    if frame.arbitration_id == 0x155:  # the command of joints 1 and 2
        commanded = struct.unpack(">ii", frame.data)[0]
for side in arms:
    arms[side].DisconnectPort()
    emulators[side].shutdown()

print(f"left arm, joint 1: stands at 100000, GetArmJointMsgs() reads {read} (0.001 degree)")
print(f"right arm, joint 1: commanded 90000, on its bus {commanded} (0.001 degree)")
if (read, commanded) != (5730, 5730):
    sys.exit("CHANGED: the option no longer clamps readings, or no longer reaches the other arm.")
print("As recorded: the left arm's limit changes its readings and the right arm's commands.")
PROGRAM
