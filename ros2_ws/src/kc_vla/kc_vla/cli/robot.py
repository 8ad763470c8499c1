"""`kc-vla robot show|convert`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from kc_vla.cli.verbs import exit_status, main_parser
from kc_vla.core.errors import StackError
from kc_vla.core.options import OptionError

_EPILOG = """\
examples:
  kc-vla robot show piper
  kc-vla robot show mine.yaml
  kc-vla robot convert old.yaml mine.yaml         # writes mine.yaml and mine.urdf

exit status: 0 done; 1 an error; 2 wrong arguments
"""


def main(words: Sequence[str]) -> int:
    """Run a subcommand; return the exit status: 0, 1 after an error, 2 for bad arguments, 130 after Ctrl-C."""
    options = main_parser("robot", _add_arguments).parse_args(words)
    return exit_status(f"robot {options.what}", lambda: options.run(options), StackError, OptionError)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class, parser.epilog = argparse.RawDescriptionHelpFormatter, _EPILOG
    parser.description = "Look at a robot file, or write one from a file of rigs/."
    whats = parser.add_subparsers(dest="what", required=True, metavar="show|convert")
    show = whats.add_parser("show", help="its joints with their limits, its home pose, and the tool there")
    show.add_argument("robot", help="a name of robots/, or a YAML file")
    show.set_defaults(run=_show)
    convert = whats.add_parser("convert", help="write a robot file and its URDF from a file of rigs/")
    convert.add_argument("former", type=Path, metavar="OLD.yaml", help="with limits in degrees, and links as a table")
    convert.add_argument("new", type=Path, metavar="NEW.yaml", help="file to write; NEW.urdf beside it")
    convert.set_defaults(run=_convert)


def _show(options: argparse.Namespace) -> None:
    from kc_vla.arm.kinds import ARMS, choose_arm
    from kc_vla.core.robot import RobotError, load_robot
    from kc_vla.core.robot_model import SIMULATED
    from kc_vla.description.shown import shown

    robot = load_robot(options.robot)
    if (driver := robot.driver.type) != SIMULATED:
        if driver not in ARMS.names():
            known = ", ".join((*ARMS.names(), SIMULATED))
            raise RobotError(
                f"robot '{robot.name}': there is no driver '{driver}': the types are {known}; "
                f"a package adds one with an entry point of the group '{ARMS.group}'"
            )
        choose_arm(driver, robot)  # so that options that it cannot have are refused here, not at the first launch
    print(shown(robot))


def _convert(options: argparse.Namespace) -> None:
    from kc_vla.description.convert import convert

    print("\n".join(f"{file}: written" for file in convert(options.former, options.new)))
