#!/usr/bin/env bash
# piper_sdk: EnablePiper() keeps returning True after the arm is gone.
#
# Guess:  EnablePiper() returns True when the motors are enabled now. The vendor's demos wait for it in a loop.
# Truth:  It returns what the last motor frames said, however old they are, and it reads them before it sends the
#         enable command. With a silent arm, and even on a closed port, it stays True. Compare the time stamp of
#         GetArmLowSpdInfoMsgs() with the clock before you believe it.
# Seen:   piper_sdk 0.6.2, python-can 4.6.1, Python 3.11, 2026-11-28.
# Source: interface/piper_interface_v2.py, EnablePiper and GetArmEnableStatus.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq piper_sdk==0.6.2 python-can==4.6.1
"$folder/venv/bin/python" - <<'PROGRAM'
import sys
import time
from importlib.metadata import version

import can
from piper_sdk import C_PiperInterface_V2, LogLevel

print("piper_sdk", version("piper_sdk"), "python-can", version("python-can"))
emulator = can.Bus(channel="bus", interface="virtual")
arm = C_PiperInterface_V2("bus", judge_flag=False, can_auto_init=False, logger_level=LogLevel.CRITICAL)
arm.CreateCanBus("bus", bustype="virtual", judge_flag=False)
arm.ConnectPort(piper_init=False)

seen = {"before the first frame": arm.EnablePiper()}
for motor in range(6):  # one frame 0x261 to 0x266 a motor: 24 V, 30 degrees Celsius, status bit 6 is "enabled"
    data = [0, 240, 0, 30, 30, 0x40, 0, 0]
    emulator.send(can.Message(arbitration_id=0x261 + motor, data=data, is_extended_id=False))
time.sleep(0.3)
seen["right after the frames"] = arm.EnablePiper()
time.sleep(2.0)  # the arm says nothing more: its plug is pulled
seen["2 s without any frame"] = arm.EnablePiper()
arm.DisconnectPort()
emulator.shutdown()
seen["on the closed port"] = arm.EnablePiper()

for when, enabled in seen.items():
    print(f"EnablePiper() {when}: {enabled}")
if list(seen.values()) != [False, True, True, True]:
    sys.exit("CHANGED: EnablePiper() no longer repeats what an absent arm said last.")
print("As recorded: EnablePiper() returns True for an arm that is gone.")
PROGRAM
