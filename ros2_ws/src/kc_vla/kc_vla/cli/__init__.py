"""`kc-vla <verb>`: what is done with the stack from a shell, beside launching it."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from kc_vla.cli.verbs import VERBS, main_parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; return the exit status: 0, 1 for a failure told in a line, 2 for bad arguments, 130 interrupted."""
    words = list(sys.argv[1:] if argv is None else argv)
    for verb in VERBS:
        if words[:1] == [verb.name]:
            return verb.main(words)
    main_parser().parse_args(words)  # which tells what there is, and ends
    return 2
