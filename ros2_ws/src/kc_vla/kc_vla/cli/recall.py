"""`kc-vla eval recall`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from kc_vla.cli.verbs import exit_status, main_parser
from kc_vla.core.errors import StackError
from kc_vla.core.files import write_whole
from kc_vla.core.threads import one_blas_thread

_ABOUT = """\
How often the short-term memory recalls what was meant, on exact, composite and vague instructions, with and without
what is added beyond similarity, and what its confidence is worth. Writes table.md, results.json and plots.
"""


def main(words: Sequence[str]) -> int:
    """Run the subcommand; return the exit status: 0, 1 for a failure shown in one line, 2 for bad arguments, 130."""
    options = main_parser("eval", _add_arguments).parse_args(words)
    one_blas_thread()
    return exit_status("eval", lambda: _evaluate(options), StackError)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = _ABOUT
    parser.add_argument("what", choices=["recall"], help="what is measured")
    parser.add_argument(
        "--embedding",
        action="append",
        metavar="NAME",
        help="offline (default), a folder with an ONNX model, or hub:OWNER/NAME@REVISION#SHA256; can be repeated",
    )
    parser.add_argument(
        "--server", metavar="URL", default="", help="address of an OpenAI-compatible API (default: OpenAI's own)"
    )
    parser.add_argument("--served-embedding", metavar="MODEL", help="embedding model of the server, to measure too")
    parser.add_argument("--ranker", metavar="MODEL", help="a language model of the server that ranks again; likewise")
    parser.add_argument(
        "--split", choices=["development", "test", "both"], default="both", help="split of the questions"
    )
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/recall"), help="folder for the results")


def _evaluate(options: argparse.Namespace) -> None:
    from kc_vla.memory.embedding.models import OFFLINE, open_embedder
    from kc_vla.memory.evaluation.accuracy import table
    from kc_vla.memory.evaluation.questions import read_questions
    from kc_vla.memory.evaluation.recall import evaluate_recall
    from kc_vla.memory.recall.ranking import LanguageRanker
    from kc_vla.memory.served import Server, ServerSettings

    questions = [each for each in read_questions() if options.split in (each.split, "both")]
    names = options.embedding or ([] if options.served_embedding else [OFFLINE])
    embedders = [open_embedder(name) for name in names]
    if options.served_embedding:
        embedders.append(open_embedder(server=ServerSettings(options.served_embedding, options.server)))
    server = Server(ServerSettings(options.ranker, options.server)) if options.ranker else None
    found = evaluate_recall(options.output, questions, embedders, LanguageRanker(server) if server else None)
    print(table(*found))
    if server is not None:
        line = f"{options.ranker}: {server.cost.requests} requests, {server.cost.failures} failed, "
        line += f"{server.cost.input_tokens} tokens sent, {server.cost.output_tokens} received"
        print(line)
        write_whole(options.output / "cost.txt", line + "\n")
    print(f"{options.output}: table, figures and plots")
