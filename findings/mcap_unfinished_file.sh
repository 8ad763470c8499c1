#!/usr/bin/env bash
# mcap: the default reader hands out no message of a file whose recorder was killed, though 97 % of them are in it.
#
# Guess:  MCAP is made for this case: reading yields the messages of the whole chunks and then stops with an error.
# Truth:  make_reader() reads the footer first, takes other bytes for it, and raises an error about a record of
#         several terabytes before the first message, with log_time_order=False as well. NonSeekingReader sorts by
#         default, so it meets the end of the file before it yields anything. Only
#         NonSeekingReader(...).iter_messages(log_time_order=False) hands out what is there.
# Seen:   mcap 1.6.0, Python 3.11, 2026-11-28.
# Source: mcap/reader.py, SeekingReader.get_summary and NonSeekingReader.iter_messages.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq mcap==1.6.0 lz4==4.4.5 zstandard==0.25.0
"$folder/venv/bin/python" - "$folder/killed.mcap" <<'PROGRAM'
import sys
from importlib.metadata import version

from mcap.reader import NonSeekingReader, make_reader
from mcap.writer import Writer

print("mcap", version("mcap"))
WRITTEN = 2000
with open(sys.argv[1], "wb") as stream:
    writer = Writer(stream, chunk_size=100_000)
    writer.start("ros2", "recorder")
    schema = writer.register_schema("note", "jsonschema", b"{}")
    channel = writer.register_channel("/notes", "json", schema)
    for stamp in range(WRITTEN):
        writer.add_message(channel, stamp, b"x" * 1000, stamp)
    # finish() is never called: the recorder is killed here


def read(reader, in_order):
    """Return the number of messages that the reader hands out and the error that ends it."""
    count = 0
    with open(sys.argv[1], "rb") as stream:
        try:
            for _ in reader(stream).iter_messages(log_time_order=in_order):
                count += 1
        except Exception as error:
            return count, f"{type(error).__name__} {error}"
    return count, "no error"


counts = []
for reader in (make_reader, NonSeekingReader):
    for in_order in (True, False):
        count, error = read(reader, in_order)
        counts.append(count)
        print(f"{reader.__name__}, log_time_order={in_order}: {count} of {WRITTEN} messages, {error}")
if counts[:3] != [0, 0, 0] or counts[3] < 0.9 * WRITTEN:
    sys.exit("CHANGED: another reader hands out messages of the unfinished file, or none does.")
print("As recorded: three of four ways to read the file give nothing.")
PROGRAM
