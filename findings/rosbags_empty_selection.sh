#!/usr/bin/env bash
# rosbags: selecting a topic that is not in the bag reads all topics.
#
# Guess:  messages(connections=[c for c in bag.connections if c.topic == "/left/joint_states"]), the form of rosbags'
#         own examples, yields nothing when the bag has no such topic.
# Truth:  An empty selection is no selection: every message of the bag comes out. A plot of the left arm then shows the
#         right one, since both have one type and nothing fails. mcap's reader yields nothing for topics=[].
# Seen:   rosbags 0.11.9, numpy 2.4.6, mcap 1.6.0, Python 3.11, 2026-11-28.
# Source: rosbags/rosbag2/reader.py, Reader.messages, whose docstring says so; AnyReader does the same.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq rosbags==0.11.9 numpy==2.4.6 mcap==1.6.0
"$folder/venv/bin/python" - "$folder/bag" <<'PROGRAM'
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
from mcap.reader import make_reader
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

print("rosbags", version("rosbags"), "mcap", version("mcap"))
folder = Path(sys.argv[1])
store = get_typestore(Stores.ROS2_JAZZY)
JOINTS = "sensor_msgs/msg/JointState"
header = store.types["std_msgs/msg/Header"](store.types["builtin_interfaces/msg/Time"](0, 0), "")
none = np.array([], np.float64)
with Writer(folder, version=9, storage_plugin=StoragePlugin.MCAP) as bag:
    right = bag.add_connection("/right/joint_states", JOINTS, typestore=store)
    for stamp in range(5):
        message = store.types[JOINTS](header, ["joint1"], np.array([1.5]), none, none)
        bag.write(right, stamp, store.serialize_cdr(message, JOINTS))

with AnyReader([folder]) as bag:
    left = [connection for connection in bag.connections if connection.topic == "/left/joint_states"]
    by_rosbags = [connection.topic for connection, _, _ in bag.messages(connections=left)]
with next(folder.glob("*.mcap")).open("rb") as stream:
    by_mcap = [channel.topic for _, channel, _ in make_reader(stream).iter_messages(topics=[])]

print(f"connections found for /left/joint_states: {left}")
print(f"rosbags yields for them: {by_rosbags}")
print(f"mcap yields for topics=[]: {by_mcap}")
if by_rosbags != ["/right/joint_states"] * 5 or by_mcap:
    sys.exit("CHANGED: rosbags takes an empty selection as one, or mcap no longer does.")
print("As recorded: rosbags hands out the right arm when the left one is asked for.")
PROGRAM
