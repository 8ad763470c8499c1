"""`kc-vla doctor`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from kc_vla.cli.interrupts import INTERRUPTED
from kc_vla.cli.numbers import positive
from kc_vla.cli.verbs import main_parser

_ABOUT = """\
Look at the machine, each thing in a line: ROS 2 and its middleware, shared memory, CAN buses, cameras, GPU and what
uses it, Vulkan, models, real-time permission, disk, ports, clock. Nothing is changed, root is not needed, and what does
not answer in time is told. `./setup.sh --check` looks at what is installed; this at whether it works here.
"""
_EPILOG = "exit status: 0 all is well, or warnings only; 1 a failure, or no look at all; 2 wrong arguments"


def main(words: Sequence[str]) -> int:
    """Check the machine and print it; return the exit status: 0, 1 with a failure, 2 for bad arguments, 130."""
    options = main_parser("doctor", _add_arguments).parse_args(words)
    try:
        return _tell(options)
    except KeyboardInterrupt:
        return INTERRUPTED


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description, parser.epilog = _ABOUT, _EPILOG
    parser.add_argument("--json", action="store_true", help="print JSON: {worst, findings: [{name, level, ...}]}")
    parser.add_argument(
        "--patience", type=positive, metavar="S", help="time limit for all checks together, s (default 30)"
    )


def _tell(options: argparse.Namespace) -> int:
    from kc_vla.machine.doctor import PATIENCE_S, Patient, examine  # imported only where it is used
    from kc_vla.machine.finding import Level, last_line, worst

    findings = examine(Patient(), options.patience or PATIENCE_S)
    if options.json:
        rows = [finding.as_json() for finding in findings]
        print(json.dumps({"worst": worst(findings), "findings": rows}, indent=2))
    else:
        for finding in findings:
            print(*finding.lines(), sep="\n")
        print(f"\n{last_line(findings)}")
    return 1 if worst(findings) is Level.FAIL else 0
