"""`kc-vla setup can|camera|realtime|piper`."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kc_vla.cli.numbers import not_negative, positive
from kc_vla.cli.verbs import exit_status, main_parser
from kc_vla.core.errors import StackError

if TYPE_CHECKING:
    from kc_vla.machine.plan import SetupPlan

_ABOUT = """\
Says what is to be done to this machine, as lines for a shell, and does it with --do, after asking, or --yes. Lines that
need root begin with sudo, unless root runs this. What is as it should be is left alone.
"""
_EPILOG = """\
examples:
  kc-vla setup can can0                           # says what is to be done
  kc-vla setup can can0 --do                      # asks, and does it; it counts until the machine is started again
  kc-vla setup can can0 --name arm --do           # whenever this adapter is plugged in, as "arm"
  kc-vla setup camera wrist --device /dev/video2  # /dev/kc_vla/wrist from then on
  kc-vla setup realtime --do
  kc-vla setup piper can0 --do                    # a new Piper: stroke of its gripper, collision levels
  kc-vla setup piper can0 --gripper-zero --do     # asks, sends, reads back; kc-vla setup piper --help lists all

exit status: 0 said, done, or nothing to do; 1 a failure, told in a line, or not agreed to; 2 wrong arguments
"""

_ABOUT_PIPER = """\
Looks at what a Piper is set to. Without a choice it sets what a new arm lacks: the stroke of its gripper, and a
collision level where a joint has none. Each change says what was found and what would be sent. With --do it asks,
sends, reads back, and says what the arm reports. It sends nothing while a controller has the arm, or a motor has power,
and enables none.
"""


def main(words: Sequence[str]) -> int:
    """Print or do the setup; return the exit status: 0, 1 for a failure shown in a line, 2 for bad arguments, 130."""
    options = main_parser("setup", _add_arguments).parse_args(words)
    return exit_status(f"setup {options.what}", lambda: _set_up(options), StackError)


def add_piper_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what can be set, and where."""
    parser.formatter_class, parser.description = argparse.RawDescriptionHelpFormatter, _ABOUT_PIPER
    parser.add_argument("interface", nargs="?", default="can0", help="CAN interface (default can0)")
    parser.add_argument("--robot", default="piper", help="robot file to compare with (default piper)")
    parser.add_argument("--stroke", type=int, choices=(70, 100), help="stroke of the gripper, mm: small or large")
    parser.add_argument(
        "--gripper-zero", action="store_true", help="set the zero of the gripper; its fingers must be closed now"
    )
    parser.add_argument(
        "--collision", type=int, choices=range(9), metavar="LEVEL", help="level of all joints, 0 (no detection) to 8"
    )
    parser.add_argument("--load", choices=("none", "half", "full"), help="what the arm carries at its end")
    parser.add_argument("--role", choices=("follower", "leader"), help="follow commands, or lead another arm")
    parser.add_argument(
        "--joint-zero",
        type=int,
        choices=range(1, 7),
        metavar="JOINT",
        help="set the zero of this joint, which must be at its mark now",
    )
    parser.add_argument("--factory-limits", action="store_true", help="limits of all joints as from the factory")
    parser.add_argument(
        "--mount", choices=("upright", "left", "right"), help="how its base is mounted, cable to the rear"
    )
    parser.add_argument("--down", metavar="AXIS", help="with --mount left or right: which side is below, +y or -y")
    parser.add_argument("--floor", type=float, metavar="M", help="with them: from the base's axis to the table, m")
    parser.add_argument("--write", metavar="FILE", help="with --mount: write a robot file for it, with its home pose")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description, parser.epilog = _ABOUT, _EPILOG
    whats = parser.add_subparsers(dest="what", required=True, metavar="can|camera|realtime|piper")
    can = whats.add_parser("can", help="a CAN interface: bit rate, restart after bus-off, queue, up; its name")
    can.add_argument("interface", nargs="?", default="", help="(default: the only one)")
    can.add_argument(
        "--name", default="", help="fixed name of the USB adapter; udev then brings it up whenever you plug it in"
    )
    can.add_argument("--bitrate", type=positive, metavar="BIT/S", help="(default 1000000, a Piper's)")
    can.add_argument(
        "--restart-ms",
        type=not_negative,
        metavar="MS",
        help="time after which the interface leaves bus-off (default 100)",
    )
    can.add_argument("--txqueuelen", type=positive, metavar="N", help="frames that may wait (default 1000)")
    camera = whats.add_parser("camera", help="a name that stays, /dev/kc_vla/NAME, by the camera's serial number")
    camera.add_argument("name", help="e.g. that of the robot's view")
    camera.add_argument(
        "--device", default="", help="present path of the device, e.g. /dev/video2 (default: the only one)"
    )
    real_time = whats.add_parser("realtime", help="allow a user's control loop priority and locked memory")
    real_time.add_argument("--user", default="", help="(default: you)")
    piper = whats.add_parser("piper", help="what a Piper lacks out of its box: gripper, collision levels, mount, zeros")
    add_piper_arguments(piper)
    for what in (can, camera, real_time, piper):
        what.add_argument("--do", action="store_true", help="do it, after asking")
        what.add_argument("--yes", action="store_true", help="do it without asking")
    for what in (can, camera, real_time):
        what.add_argument(
            "--replace",
            action="store_true",
            help="also overwrite a file that a person or another program wrote or changed",
        )


def _set_up(options: argparse.Namespace) -> None:
    from kc_vla.cli.asking import confirmed  # imported only where they are used
    from kc_vla.machine.plan import carry_out, running_as_root

    if options.what == "piper":
        from kc_vla.cli.setup_piper import set_up_piper

        set_up_piper(options)
        return
    plan, is_root = _plan(options), running_as_root()
    print(*plan.lines(is_root), sep="\n")
    if plan.steps and confirmed(options):
        carry_out(plan, is_root)
        print("done", *plan.after, sep="\n")


def _plan(options: argparse.Namespace) -> SetupPlan:
    from kc_vla.machine import setup_camera, setup_can, setup_real_time

    if options.what == "camera":
        return setup_camera.plan_camera(options.name, options.device, replace=options.replace)
    if options.what == "realtime":
        return setup_real_time.plan_real_time(options.user or _person(), replace=options.replace)
    usual = setup_can.CanSettings()
    settings = setup_can.CanSettings(
        options.bitrate or usual.bitrate,
        usual.restart_ms if options.restart_ms is None else options.restart_ms,
        options.txqueuelen or usual.queue,
    )
    if options.name:
        return setup_can.plan_can_name(options.interface, options.name, settings, replace=options.replace)
    return setup_can.plan_can(options.interface, settings)


def _person() -> str:
    """Return the user who is meant: with sudo, the one who typed the command."""
    from kc_vla.core.home import user_name

    return os.environ.get("SUDO_USER") or user_name()
