"""`ros2 bag info`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from kc_vla.bags.errors import BagError, one_line
from kc_vla.bags.reader import BagReader
from kc_vla.bags.storage import storage_of

from ...errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("bag_path", type=Path, help="bag folder, .mcap or .db3 file")


def run(options: argparse.Namespace) -> int:
    """Print what is in the bag; 1 where a file of it is torn."""
    try:
        reader = BagReader(options.bag_path)
        lines = list(_lines(reader))
    except BagError as error:
        raise UsageError(str(error)) from error
    print("\n".join(["", *lines, *reader.damages]))
    return 1 if reader.damages else 0


def _lines(reader: BagReader) -> Iterator[str]:
    contents = reader.contents()
    size = sum(path.stat().st_size for path in reader.files)
    yield _row("Files:", "\n".join(path.name for path in reader.files))
    yield _row("Bag size:", f"{size / 2**20:.1f} MiB")
    yield _row("Storage id:", storage_of(reader.files[0]))
    yield _row("Duration:", f"{(contents.end_ns - contents.start_ns) / 1e9:.9f}s")
    yield _row("Start:", _time(contents.start_ns))
    yield _row("End:", _time(contents.end_ns))
    yield _row("Messages:", str(contents.messages))
    topics = (
        one_line(f"Topic: {name} | Type: {topic.type} | Count: {topic.count} | Serialization Format: cdr")
        for name, topic in sorted(contents.topics.items())
    )
    yield _row("Topic information:", "\n".join(topics))


def _row(name: str, text: str) -> str:
    return f"{name:<19}" + text.replace("\n", "\n" + " " * 19)


def _time(time_ns: int) -> str:
    seconds, ns = divmod(time_ns, 10**9)
    try:
        return f"{datetime.fromtimestamp(seconds):%b %d %Y %H:%M:%S}.{ns:09d} ({seconds}.{ns:09d})"
    except (ValueError, OverflowError, OSError):
        return f"{seconds}.{ns:09d}"  # no time that a calendar knows
