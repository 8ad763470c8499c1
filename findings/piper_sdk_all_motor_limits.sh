#!/usr/bin/env bash
# piper_sdk: GetAllMotorAngleLimitMaxSpd() returns the limits of one motor six times.
#
# Guess:  Entry i of the answer holds the limits of motor i.
# Truth:  All entries are one object, which holds the motor that answered last. Joint 2, that must not go below 0
#         degrees, reads joint 6's -120 to 120. Ask each motor alone and read GetCurrentMotorAngleLimitMaxVel() after
#         each answer. GetAllMotorMaxAccLimit() is built in the same way.
# Seen:   piper_sdk 0.6.2, python-can 4.6.1, Python 3.11, 2026-11-28.
# Source: interface/piper_interface_v2.py assigns the parser's own message to each entry and copies nothing.
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
LIMITS = {1: (-150, 150), 2: (0, 180), 3: (-170, 0), 4: (-100, 100), 5: (-70, 70), 6: (-120, 120)}  # degrees
emulator = can.Bus(channel="bus", interface="virtual")
arm = C_PiperInterface_V2("bus", judge_flag=False, can_auto_init=False, logger_level=LogLevel.CRITICAL)
arm.CreateCanBus("bus", bustype="virtual", judge_flag=False)
arm.ConnectPort(piper_init=False)

for motor, (lower, upper) in LIMITS.items():  # the answer to the query: frame 0x473, limits in 0.1 degree
    data = struct.pack(">BhhHx", motor, 10 * upper, 10 * lower, 3000)
    emulator.send(can.Message(arbitration_id=0x473, data=data, is_extended_id=False))
    time.sleep(0.1)
motors = arm.GetAllMotorAngleLimitMaxSpd().all_motor_angle_limit_max_spd.motor[1:7]
arm.DisconnectPort()
emulator.shutdown()

seen = [(motor.motor_num, motor.min_angle_limit // 10, motor.max_angle_limit // 10) for motor in motors]
for index, (number, lower, upper) in enumerate(seen, 1):
    print(f"entry {index}: motor {number}, {lower} to {upper} degrees; the arm answered {LIMITS[index]}")
if seen != [(6, -120, 120)] * 6:
    sys.exit("CHANGED: the entries no longer repeat the motor that answered last.")
print("As recorded: all six entries are the limits of motor 6.")
PROGRAM
