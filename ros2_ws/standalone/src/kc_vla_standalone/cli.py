"""Entry point of `ros2`: finds the verb, and turns errors of use into one line and exit code 1."""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import sys
from collections.abc import Sequence

from .errors import UsageError

# Verb and its one line of help; each lives in the module of its name in `verbs`.
_VERBS = {
    "launch": "Run a launch file",
    "run": "Run an executable of a package",
    "topic": "List, show, measure and publish topics",
    "node": "List and show nodes",
    "service": "List and call services",
    "action": "List and show actions, send goals",
    "param": "List, show, set and dump parameters",
    "pkg": "List packages and their executables",
    "interface": "Show message, service and action definitions",
    "lifecycle": "Show and change the state of lifecycle nodes",
    "bag": "Record, play and show bags",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run `ros2 <verb> ...` and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    parser = argparse.ArgumentParser(prog="ros2", description="The stand-in for the ros2 command (see its README)")
    parser.add_argument("verb", choices=[*_VERBS], metavar="verb", help=_help())
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="ros2 <verb> -h says what a verb takes")
    options = parser.parse_args(arguments)
    verb = importlib.import_module(f".verbs.{options.verb}", __package__)
    try:
        return int(verb.main(options.arguments) or 0)
    except UsageError as error:
        return _fail(str(error))
    except KeyboardInterrupt:
        # As upstream: the number of the signal.
        return signal.SIGINT
    except BrokenPipeError:
        # The reader of the output is gone (`ros2 topic echo ... | head`); Python must not try to flush again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _help() -> str:
    return "; ".join(f"{name}: {text.lower()}" for name, text in _VERBS.items())


def _fail(message: str) -> int:
    print(f"ros2: {message}", file=sys.stderr)
    return 1
