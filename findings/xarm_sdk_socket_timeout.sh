#!/usr/bin/env bash
# xarm-python-sdk: connecting to an arm gives every later socket of the whole process a time-out of one second.
#
# Guess:  The SDK's time-outs are its own. A camera, a bus or a policy server that the same process talks to later
#         waits as long as it is told to, by default for ever.
# Truth:  Connecting calls socket.setdefaulttimeout(1). Sockets that other code makes without a time-out of its own
#         raise TimeoutError after a second of silence, also where no arm answered. Set the default back to None after
#         each connection, or keep the SDK in a process of its own.
# Seen:   xarm-python-sdk 1.18.4, 2026-11-29 (no arm is needed).
# Source: xarm/core/comm/socket_port.py, SocketPort.__init__.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq xarm-python-sdk==1.18.4
"$folder/venv/bin/python" - <<'PROGRAM'
import importlib.metadata
import socket
import sys
import time

from xarm.wrapper import XArmAPI

before = socket.getdefaulttimeout()
try:
    XArmAPI("127.0.0.1")  # where no arm is
except Exception as error:  # the SDK raises nothing narrower
    print(f"the arm: {error}")
after = socket.getdefaulttimeout()

quiet = socket.create_server(("127.0.0.1", 0))
other = socket.socket()
other.connect(quiet.getsockname())
began = time.monotonic()
try:
    other.settimeout(other.gettimeout() or 3.0)  # so that this script ends if the SDK has changed
    other.recv(1)
    waited = "it got an answer"
except TimeoutError:
    waited = f"TimeoutError after {time.monotonic() - began:.0f} s"

print("xarm-python-sdk", importlib.metadata.version("xarm-python-sdk"))
print(f"the default time-out of sockets: {before} before, {after} after")
print(f"another socket, on which nothing comes: {waited}")
if before is not None or after != 1.0 or waited != "TimeoutError after 1 s":
    sys.exit("CHANGED: connecting leaves the sockets of the process as they were.")
print("As recorded: connecting to an arm changes the time-out of every later socket.")
PROGRAM
