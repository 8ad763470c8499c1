#!/usr/bin/env bash
# rosbags: Ctrl-C in "with Writer(...)" throws the whole recording away.
#
# Guess:  The with statement closes the bag when an exception leaves it, so Ctrl-C ends a recording. What was written
#         minutes ago is on the disk in any case, as it is with "ros2 bag record".
# Truth:  On an exception the Writer does not close the bag, it rolls it back. The SQLite writer also has one
#         transaction from open() to close(): after a kill or a power cut its bag of any length has no message. MCAP
#         bags keep all but the last chunk, but have no metadata.yaml and rosbags does not open them. Catch the
#         KeyboardInterrupt inside the with statement and choose StoragePlugin.MCAP.
# Seen:   rosbags 0.11.9, numpy 2.4.6, mcap 1.6.0, Python 3.11, 2026-11-28.
# Source: rosbags/rosbag2/writer.py, Writer.__exit__; storage_sqlite3.py commits in close() alone.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq rosbags==0.11.9 numpy==2.4.6 mcap==1.6.0
cat >"$folder/record.py" <<'PROGRAM'
import os
import sys

from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

path, plugin, ending = sys.argv[1:]
store = get_typestore(Stores.ROS2_JAZZY)
data = store.serialize_cdr(store.types["std_msgs/msg/String"]("x" * 1000), "std_msgs/msg/String")
with Writer(path, version=9, storage_plugin=StoragePlugin[plugin]) as bag:
    connection = bag.add_connection("/notes", "std_msgs/msg/String", typestore=store)
    for second in range(20_000):
        bag.write(connection, second * 10**9, data)
    if ending == "ctrl-c":
        raise KeyboardInterrupt
    os._exit(1)  # as a kill or a power cut: nobody closes the bag
PROGRAM
for plugin in SQLITE3 MCAP; do
    for ending in ctrl-c killed; do
        "$folder/venv/bin/python" "$folder/record.py" "$folder/$plugin-$ending" "$plugin" "$ending" 2>/dev/null || true
    done
done
"$folder/venv/bin/python" - "$folder" <<'PROGRAM'
import sqlite3
import struct
import sys
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from mcap.exceptions import McapError
from mcap.reader import NonSeekingReader
from rosbags.rosbag2 import Reader

print("rosbags", version("rosbags"), "- 20000 messages are written to each bag")
left, opened = {}, []
for bag in sorted(path for path in Path(sys.argv[1]).iterdir() if path.name[0] in "SM"):
    with suppress(Exception), Reader(bag):
        opened.append(bag.name)
    left[bag.name] = 0
    if files := list(bag.glob("*.db3")):
        with suppress(sqlite3.OperationalError):  # without even a table of messages
            left[bag.name] = sqlite3.connect(files[0]).execute("select count(*) from messages").fetchone()[0]
    else:
        with next(bag.glob("*.mcap")).open("rb") as stream, suppress(McapError, struct.error):
            for _ in NonSeekingReader(stream).iter_messages(log_time_order=False):
                left[bag.name] += 1
    print(f"{bag.name}: {left[bag.name]} messages are left; rosbags opens it: {bag.name in opened}")
lost = left["SQLITE3-ctrl-c"] == left["SQLITE3-killed"] == 0
if not lost or left["MCAP-ctrl-c"] < 15_000 or left["MCAP-killed"] < 15_000 or opened:
    sys.exit("CHANGED: an interrupted recording keeps more, or less, than it did.")
print("As recorded: SQLite loses the whole recording, MCAP the last chunk and the metadata.")
PROGRAM
