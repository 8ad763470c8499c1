#!/usr/bin/env bash
# rosbags: an integer array in a float64[] field is recorded as zeros, and nothing is raised.
#
# Guess:  JointState.position = np.array([0, 1, 2]) is converted to float64 or refused, as rclpy does it.
# Truth:  rosbags writes the bits of the int64 numbers as if they were float64. The bag is valid, every reader opens
#         it, and each position reads as 5e-324 or so: all zeros in a plot. Only item sizes other than 8 bytes are
#         refused. Give np.asarray(values, np.float64).
# Seen:   rosbags 0.11.9, numpy 2.4.6, Python 3.11, 2026-11-28.
# Source: rosbags/serde/cdr.py writes val.view(numpy.uint8) without a look at the type of the array.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq rosbags==0.11.9 numpy==2.4.6
"$folder/venv/bin/python" - "$folder/bag" <<'PROGRAM'
import sys
from importlib.metadata import version

import numpy as np
from rosbags.rosbag2 import Reader, Writer
from rosbags.typesys import Stores, get_typestore

print("rosbags", version("rosbags"), "numpy", version("numpy"))
store = get_typestore(Stores.ROS2_JAZZY)
JOINTS = "sensor_msgs/msg/JointState"
header = store.types["std_msgs/msg/Header"](store.types["builtin_interfaces/msg/Time"](0, 0), "")
none = np.array([], np.float64)
given = {"float64": np.array([0.0, 1.0, 2.0]), "int64": np.array([0, 1, 2])}

with Writer(sys.argv[1], version=9) as bag:
    connection = bag.add_connection("/joint_states", JOINTS, typestore=store)
    for stamp, position in enumerate(given.values()):
        message = store.types[JOINTS](header, ["a", "b", "c"], position, none, none)
        bag.write(connection, stamp, store.serialize_cdr(message, JOINTS))

read = {}
with Reader(sys.argv[1]) as bag:
    for kind, (_, _, data) in zip(given, bag.messages(), strict=True):
        read[kind] = store.deserialize_cdr(data, JOINTS).position
        print(f"position given as {kind} {given[kind].tolist()}, read from the bag: {read[kind].tolist()}")
if not np.array_equal(read["float64"], given["float64"]) or np.abs(read["int64"]).max() > 1e-300:
    sys.exit("CHANGED: integers in a float64[] field are now converted.")
print("As recorded: the joints that were given as integers read as zero.")
PROGRAM
