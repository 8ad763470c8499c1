"""`kc-vla doctor`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kc_vla.cli.interrupts import INTERRUPTED
from kc_vla.cli.numbers import positive
from kc_vla.cli.verbs import main_parser

if TYPE_CHECKING:
    from kc_vla.machine.finding import Finding

_ABOUT = """\
Look at the machine, each thing in a line: ROS 2 and its middleware, shared memory, CAN buses, cameras, GPU and what
uses it, Vulkan, models, real-time permission, disk, ports, clock. The doctor changes nothing, needs no root, and
reports a check that takes too long. `./setup.sh --check` lists missing parts; the doctor checks whether they work here.

With --arm the doctor looks at a Piper: role, firmware, motors, limits, pose, collision levels and gripper. If one of
them is not ok, its line says what to do.
"""
_EPILOG = "exit status: 0 all is well, or warnings only; 1 a failure, or a doctor that could not run; 2 wrong arguments"


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
    parser.add_argument(
        "--arm",
        nargs="?",
        const="can0",
        metavar="CAN",
        help="look at the Piper on this CAN interface (default can0), not at the machine; nothing is enabled or moved",
    )
    parser.add_argument("--robot", default="piper", help="with --arm: robot file to compare with (default piper)")
    parser.add_argument("--json", action="store_true", help="print JSON: {worst, findings: [{name, level, ...}]}")
    parser.add_argument(
        "--patience", type=positive, metavar="S", help="time limit for all checks together, s (default 30)"
    )


def _tell(options: argparse.Namespace) -> int:
    from kc_vla.machine.doctor import PATIENCE_S, Patient, examine  # imported only where it is used
    from kc_vla.machine.finding import Level, last_line, worst

    patience = options.patience or PATIENCE_S
    findings = _look_at_arm(options, patience) if options.arm else examine(Patient(), patience)
    if options.json:
        rows = [finding.as_json() for finding in findings]
        print(json.dumps({"worst": worst(findings), "findings": rows}, indent=2))
    else:
        for finding in findings:
            print(*finding.lines(), sep="\n")
        print(f"\n{last_line(findings)}")
    return 1 if worst(findings) is Level.FAIL else 0


def _look_at_arm(options: argparse.Namespace, patience: float) -> list[Finding]:
    from kc_vla.machine.isolated_checks import look_apart
    from kc_vla.machine.piper_doctor import look_at_piper

    return look_apart({"arm": lambda: look_at_piper(options.arm, options.robot)}, patience)
