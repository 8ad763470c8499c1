"""`kc-vla eval ask`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from kc_vla.cli.verbs import exit_status, main_parser
from kc_vla.core.errors import StackError

_ABOUT = """\
Ask the robots of 30 generated homes more than 300 questions about what they saw and did, and compare the answers with
the world: how many are right, refused and wrong. Beside it stands what the cosine alone finds: the thing that is most
like the question. Writes table.md and results.json.
"""


def main(words: Sequence[str]) -> int:
    """Run the subcommand; return the exit status: 0, 1 for a failure shown in one line, 2 for bad arguments, 130."""
    options = main_parser("eval", _add_arguments).parse_args(words)
    return exit_status("eval", lambda: _evaluate(options), StackError, ValueError)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = _ABOUT
    parser.add_argument("what", choices=["ask"], help="what is measured")
    parser.add_argument(
        "--split", choices=["development", "test", "both"], default="both", help="split of the homes (both)"
    )
    parser.add_argument("--model", metavar="MODEL", help="a language model of the server that reads the questions")
    parser.add_argument(
        "--server", metavar="URL", default="", help="address of an OpenAI-compatible API (default: OpenAI's own)"
    )
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/ask"), help="folder for the results")


def _evaluate(options: argparse.Namespace) -> None:
    from kc_vla.memory.asking.answering import read_by_grammar
    from kc_vla.memory.asking.model import ModelReader
    from kc_vla.memory.embedding.models import shared_embedder
    from kc_vla.memory.served import Server, ServerSettings
    from kc_vla_sim.household.questions.evaluation import evaluate_asking, table
    from kc_vla_sim.household.questions.table import read_home_questions

    questions = [each for each in read_home_questions() if options.split in (each.split, "both")]
    reader = ModelReader(Server(ServerSettings(options.model, options.server))) if options.model else read_by_grammar
    print(table(evaluate_asking(options.output, shared_embedder(), questions, reader)))
    print(f"{options.output}: table and results")
