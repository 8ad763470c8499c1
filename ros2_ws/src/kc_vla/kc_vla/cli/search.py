"""`kc-vla eval search`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from kc_vla.cli.verbs import exit_status, main_parser
from kc_vla.core.errors import StackError
from kc_vla.core.threads import one_blas_thread

_ABOUT = """\
How often a long-term memory finds by text what was meant, in generated homes: names, states, exclusions, relations,
vague descriptions, and what no home has; beside words alone and cosines; and what its confidence is worth.
"""


def main(words: Sequence[str]) -> int:
    """Run the subcommand; return the exit status: 0, 1 for a failure shown in one line, 2 for bad arguments, 130."""
    options = main_parser("eval", _add_arguments).parse_args(words)
    one_blas_thread()
    return exit_status("eval", lambda: _evaluate(options), StackError)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = _ABOUT
    parser.add_argument("what", choices=["search"], help="what is measured")
    parser.add_argument("--embedding", metavar="NAME", default="offline", help="offline (default), or a folder")


def _evaluate(options: argparse.Namespace) -> None:
    from kc_vla.memory.embedding.models import open_embedder
    from kc_vla.memory.evaluation.search import answers, curves, evidence, sureness, table
    from kc_vla.memory.evaluation.searches import read_searches

    searches, embedder = read_searches(), open_embedder(options.embedding)
    print(table(searches, answers(searches, embedder)))
    for split in ("development", "test"):
        found = evidence([each for each in searches if each.split == split], embedder)
        print(f"{split} phrases without relations, in homes with and without what fits\n\n{sureness(found)}\n")
        if split == "development":
            for (how, fit), curve in curves(found).items():
                print(f"({how}, {fit!r}): {curve},")
            print()
