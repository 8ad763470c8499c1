"""`ros2 bag play`: becomes the node `bag_player` of kc_vla."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from ...packages import executable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("bag_path", type=Path, help="bag folder, .mcap or .db3 file")
    parser.add_argument("-r", "--rate", type=float, default=1.0, help="times as fast as recorded (0.01..100)")
    parser.add_argument("-l", "--loop", action="store_true", help="begin again at the end")
    parser.add_argument("-p", "--start-paused", action="store_true", help="wait for the service bag_player/resume")
    parser.add_argument("-d", "--delay", type=float, default=1.0, help="s before the first message (default: 1)")
    parser.add_argument("--start-offset", type=float, default=0.0, help="s of the bag that are left out")
    parser.add_argument("--topics", nargs="+", default=[], metavar="TOPIC", help="topics to play (default: all)")
    parser.add_argument(
        "--clock", nargs="?", const=100.0, type=float, help="publish /clock, 100 times a second whatever is given"
    )


def run(options: argparse.Namespace) -> None:
    """Replace this process by the player, so that signals and exit code are its own."""
    values = {
        "bag": _quoted(str(options.bag_path)),
        "rate": repr(options.rate),
        "loop": str(options.loop).lower(),
        "paused": str(options.start_paused).lower(),
        "wait": repr(options.delay),
        "start": repr(options.start_offset),
        "topics": _quoted(",".join(options.topics)),
        "clock": str(options.clock is not None).lower(),
    }
    player = str(executable("kc_vla", "bag_player"))
    words = [word for name, value in values.items() for word in ("-p", f"{name}:={value}")]
    sys.stdout.flush()
    os.execv(player, [player, "--ros-args", *words])


def _quoted(text: str) -> str:
    """Return a text as a string of YAML, whatever is in it."""
    return "'" + text.replace("'", "''") + "'"
