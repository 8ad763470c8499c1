"""The command line `kc-vla <command>`: all work in a shell that needs no launch file."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from kc_vla.cli.supervised import is_supervised, supervised
from kc_vla.cli.verbs import SIMULATION, VERBS, main_parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand; return the exit status: 0, 1 for a failure shown in a line, 2 for bad arguments, 130.

    Of the command line of this process, a verb of the simulation runs in a process of its own: a library of it, of a
    task or of a planner may crash.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    for verb in VERBS:
        if words[:1] == [verb.name]:
            if argv is None and verb.module_of(words) == SIMULATION and not is_supervised():
                return supervised(words)
            return verb.main(words)
    main_parser().parse_args(words)  # which tells what there is, and ends
    return 2
