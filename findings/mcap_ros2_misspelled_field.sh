#!/usr/bin/env bash
# mcap-ros2-support: a misspelled field is left out of the recording without a word.
#
# Guess:  write_message() refuses a field that the message definition does not have, as rclpy and rosbags do.
# Truth:  The writer asks the message for each field of the definition and writes the default where it finds none. What
#         is named "positions" instead of "position" is lost, for dictionaries and for objects, and the file is valid.
# Seen:   mcap-ros2-support 0.6.0, mcap 1.6.0, Python 3.11, 2026-11-28.
# Source: mcap_ros2/_dynamic.py, the encoder of complex types.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq mcap-ros2-support==0.6.0 mcap==1.6.0
"$folder/venv/bin/python" - "$folder/arm.mcap" <<'PROGRAM'
import sys
from importlib.metadata import version
from types import SimpleNamespace

from mcap_ros2.reader import read_ros2_messages
from mcap_ros2.writer import Writer

print("mcap-ros2-support", version("mcap-ros2-support"))
given = [
    {"name": ["a", "b"], "position": [0.5, 0.6]},
    {"name": ["a", "b"], "positions": [0.5, 0.6]},
    SimpleNamespace(name=["a", "b"], positions=[0.5, 0.6]),
]
with open(sys.argv[1], "wb") as stream:
    writer = Writer(stream)
    schema = writer.register_msgdef("arm_msgs/msg/Joints", "string[] name\nfloat64[] position\n")
    for stamp, message in enumerate(given):
        writer.write_message("/joints", schema, message, stamp, stamp)
    writer.finish()

read = [list(message.ros_msg.position) for message in read_ros2_messages(sys.argv[1])]
for message, position in zip(given, read, strict=True):
    print(f"given {message}, position read back: {position}")
if read != [[0.5, 0.6], [], []]:
    sys.exit("CHANGED: fields that the definition does not have are no longer left out.")
print("As recorded: the misspelled positions are lost.")
PROGRAM
