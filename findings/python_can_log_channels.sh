#!/usr/bin/env bash
# python-can: five of six log formats forget which bus a frame came from.
#
# Guess:  A log of two arms on the buses can_left and can_right can be told apart when it is read back. Both arms use
#         the same frame ids, so only the channel says which arm a frame belongs to.
# Truth:  .csv and .db files store no channel. .asc, .blf and .trc files store a number, and a name without a number
#         becomes the default one: left and right merge. They raise and log nothing. Only .log keeps the names.
# Seen:   python-can 4.6.1, Python 3.11, 2026-11-28.
# Source: can/util.py, channel2int; can/io/csv.py and can/io/sqlite.py have no column for it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq python-can==4.6.1
"$folder/venv/bin/python" - "$folder" <<'PROGRAM'
import sys
from importlib.metadata import version
from pathlib import Path

import can

print("python-can", version("python-can"))


def channels_read_back(suffix, channels):
    """Log two frames of each channel with can.Logger and return the channels that can.LogReader gives."""
    path = Path(sys.argv[1]) / f"{'_'.join(channels)}{suffix}"
    with can.Logger(str(path)) as logger:
        for step in range(2):
            for channel in channels:
                logger(can.Message(timestamp=1000.0 + step, arbitration_id=0x2A5, is_extended_id=False,
                                   data=[step] * 8, channel=channel))
    with can.LogReader(str(path)) as reader:
        frames = list(reader)
    assert len(frames) == 4, frames
    return sorted({str(frame.channel) for frame in frames})


merged = {}
for suffix in (".asc", ".blf", ".csv", ".db", ".log", ".trc"):
    named = channels_read_back(suffix, ["can_left", "can_right"])
    numbered = channels_read_back(suffix, ["can0", "can1"])
    merged[suffix] = len(named) == 1
    print(f"{suffix}: can_left and can_right are read as {named}, can0 and can1 as {numbered}")
if merged != {".asc": True, ".blf": True, ".csv": True, ".db": True, ".log": False, ".trc": True}:
    sys.exit("CHANGED: other formats keep or lose the names of the buses.")
print("As recorded: only .log keeps can_left and can_right apart.")
PROGRAM
