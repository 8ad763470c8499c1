"""The arguments of `kc-vla setup piper`."""

from __future__ import annotations

import argparse

_ABOUT = """\
Looks at what a Piper is set to. Without a choice it sets what a new arm lacks: the stroke of its gripper, and a
collision level where a joint has none. Each change says what was found and what would be sent. With --do it asks,
sends, reads back, and says what the arm reports. It sends nothing while a controller has the arm, or a motor has power,
and enables none.
"""


def add_piper_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what can be set, and where."""
    parser.formatter_class, parser.description = argparse.RawDescriptionHelpFormatter, _ABOUT
    parser.add_argument("interface", nargs="?", default="can0", help="CAN interface (default can0)")
    parser.add_argument("--robot", default="piper", help="robot file to compare with (default piper)")
    parser.add_argument("--stroke", type=int, choices=(70, 100), help="stroke of the gripper, mm: small or large")
    parser.add_argument("--gripper-zero", action="store_true", help="the fingers are closed now: that is 0")
    parser.add_argument(
        "--collision", type=int, choices=range(9), metavar="LEVEL", help="level of all joints, 0 (no detection) to 8"
    )
    parser.add_argument("--load", choices=("none", "half", "full"), help="what the arm carries at its end")
    parser.add_argument("--role", choices=("follower", "leader"), help="follow commands, or lead another arm")
    parser.add_argument("--joint-zero", type=int, choices=range(1, 7), metavar="JOINT", help="it is at its mark now")
    parser.add_argument("--factory-limits", action="store_true", help="limits of all joints as from the factory")
    parser.add_argument(
        "--mount", choices=("upright", "left", "right"), help="how its base is mounted, cable to the rear"
    )
    parser.add_argument("--down", metavar="AXIS", help="with --mount left or right: which side is below, +y or -y")
    parser.add_argument("--floor", type=float, metavar="M", help="with them: from the base's axis to the table, m")
    parser.add_argument("--write", metavar="FILE", help="with --mount: write a robot file for it, with its home pose")
