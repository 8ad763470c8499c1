"""`ros2 launch`: runs a launch file of a package or at a path."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from launch import LaunchDescription, LaunchDescriptionSource, LaunchIntrospector, LaunchService
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import (
    InvalidLaunchFileError,
    get_launch_description_from_python_launch_file,
)

from ..errors import UsageError, check_home
from ..packages import is_package, package_share

# Configurations that actions of the launch system itself read: not declared by any launch file, yet not typos.
_SYSTEM_ARGUMENTS = frozenset({"emulate_tty", "sigterm_timeout", "sigkill_timeout"})


def main(arguments: Sequence[str]) -> int:
    """Run the verb."""
    options = _parser().parse_args(arguments)
    path, texts = _resolve(options.package_name, options.launch_file_name, options.launch_arguments)
    launch_arguments = parse_launch_arguments(texts)
    if options.show_all_subprocesses_output:
        os.environ["OVERRIDE_LAUNCH_PROCESS_OUTPUT"] = "both"
    if not (options.show_args or options.print):
        check_home()
    description, declared = _load(path, debug=options.debug)
    if options.show_args:
        print(format_arguments(declared))
        return 0
    if options.print:
        print(LaunchIntrospector().format_launch_description(description))
        return 0
    for line in undeclared_arguments(launch_arguments, declared, path):
        print(f"[WARNING] [launch]: {line}", file=sys.stderr, flush=True)
    service = LaunchService(argv=texts, noninteractive=options.noninteractive, debug=options.debug)
    source = LaunchDescriptionSource(description, str(path), "interpreted python launch file")
    service.include_launch_description(
        LaunchDescription([IncludeLaunchDescription(source, launch_arguments=launch_arguments.items())])
    )
    return service.run()


def parse_launch_arguments(texts: Sequence[str]) -> dict[str, str]:
    """Parse `name:=value` texts; of a repeated name the last counts. UsageError shows a malformed one."""
    parsed: dict[str, str] = {}
    for text in texts:
        name, separator, value = text.partition(":=")
        if not separator or not name or (not value and text.count(":=") == 1):
            raise UsageError(f"malformed launch argument '{text}', expected format '<name>:=<value>'")
        parsed[name] = value
    return parsed


def format_arguments(declared: Sequence[DeclareLaunchArgument]) -> str:
    """Return the text of `--show-args`."""
    lines = ["Arguments (pass arguments as '<name>:=<value>'):"]
    for argument in declared:
        mark = "*" if argument._conditionally_included else ""
        lines += ["", f"    '{argument.name}':{mark}", f"        {argument.description}"]
        if argument.default_value is not None:
            default = " + ".join(part.describe() for part in argument.default_value)
            lines.append(f"        (default: {default})")
    if not declared:
        lines += ["", "  No arguments."]
    elif any(argument._conditionally_included for argument in declared):
        lines += ["", "* argument(s) which are only used if specific conditions occur"]
    return "\n".join(lines)


def undeclared_arguments(given: dict[str, str], declared: Sequence[DeclareLaunchArgument], path: Path) -> list[str]:
    """Return one warning for each given argument that the launch file does not declare."""
    known = {argument.name for argument in declared}
    warnings = []
    for name in given.keys() - known - _SYSTEM_ARGUMENTS:
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"; did you mean '{close[0]}'?" if close else "; --show-args lists those that it does"
        warnings.append(f"'{path.name}' does not declare the launch argument '{name}'{hint}")
    return sorted(warnings)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="ros2 launch", description="Run a launch file")
    parser.add_argument("-n", "--noninteractive", action="store_true", help="run without a terminal")
    parser.add_argument("-d", "--debug", action="store_true", help="more output, with tracebacks")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "-p", "--print", "--print-description", action="store_true", help="print the launch description only"
    )
    what.add_argument("-s", "--show-args", "--show-arguments", action="store_true", help="show the arguments only")
    parser.add_argument(
        "-a",
        "--show-all-subprocesses-output",
        action="store_true",
        help="show the output of all processes, whatever their actions say",
    )
    parser.add_argument("package_name", help="a package, or the path of a launch file")
    parser.add_argument("launch_file_name", nargs="?", help="a launch file of the package")
    parser.add_argument("launch_arguments", nargs="*", help="'<name>:=<value>'; of a repeated name the last counts")
    return parser


def _resolve(first: str, second: str | None, rest: Sequence[str]) -> tuple[Path, list[str]]:
    """Return the path of the launch file and the texts of its arguments."""
    if second is None or (not is_package(first) and os.path.exists(first)):
        if not os.path.isfile(first):
            raise UsageError(f"no launch file '{first}' (give <package> <launch file>, or a path)")
        return Path(first), [*([] if second is None else [second]), *rest]
    share = package_share(first)
    found = sorted(path for path in share.rglob("*") if path.name == second and path.is_file())
    if not found:
        known = ", ".join(sorted({path.name for path in share.rglob("*launch.py")})) or "none"
        raise UsageError(f"package '{first}' has no launch file '{second}' (it has: {known})")
    if len(found) > 1:
        paths = ", ".join(str(path) for path in found)
        raise UsageError(f"package '{first}' has '{second}' more than once: {paths}; give the path instead")
    return found[0], list(rest)


def _load(path: Path, *, debug: bool) -> tuple[LaunchDescription, list[DeclareLaunchArgument]]:
    """Return the description of a launch file and the arguments that it and its includes declare."""
    try:
        description = get_launch_description_from_python_launch_file(str(path))
        return description, description.get_launch_arguments()
    except InvalidLaunchFileError as error:
        raise UsageError(str(error)) from error
    except Exception as error:
        if debug:
            traceback.print_exc()
        # The innermost line of a launch file is what its author has to look at, not where the library noticed.
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.endswith(".launch.py")]
        where = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else str(path)
        problem = " ".join(str(error).split())
        raise UsageError(f"launch file failed at {where}: {type(error).__name__}: {problem}") from error
