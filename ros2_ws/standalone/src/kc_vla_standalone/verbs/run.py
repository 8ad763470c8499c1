"""`ros2 run`: becomes an executable of a package."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence

from ..packages import executable


def main(arguments: Sequence[str]) -> int:
    """Replace this process by the executable, so that signals and exit code are the executable's own."""
    parser = argparse.ArgumentParser(prog="ros2 run", description="Run an executable of a package")
    parser.add_argument("--prefix", default="", help="a command to start the executable with, such as 'gdb --args'")
    parser.add_argument("package_name", help="the package")
    parser.add_argument("executable_name", help="the executable")
    parser.add_argument("argv", nargs=argparse.REMAINDER, help="arguments of the executable")
    options = parser.parse_args(arguments)
    path = executable(options.package_name, options.executable_name)
    words = [*shlex.split(options.prefix), str(path), *options.argv]
    sys.stdout.flush()
    os.execvp(words[0], words)
