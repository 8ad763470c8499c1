"""`kc-vla memory ask`: a question to a long-term memory, answered with what the answer rests on."""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

from kc_vla.core.errors import StackError

if TYPE_CHECKING:
    from kc_vla.memory.asking.answer import MemoryAnswer
    from kc_vla.memory.asking.answering import Reader
    from kc_vla.memory.long_term.memory import LongTermMemory

_CLOCK_S = 1e9
"""Stamps above this are of the wall clock, since 1970."""


class AskError(StackError):
    """What is asked of cannot be asked; the text says why, and what to do."""


def add_arguments(ask: argparse.ArgumentParser) -> None:
    """Add the arguments beside the store and the map."""
    ask.add_argument("question", help='such as "where could I find a knife?"')
    ask.add_argument("--at", default="", metavar="AREA", help="id of the area to ask from: for nearest, left of ...")
    ask.add_argument("--model", default="", help="a language model of the server that reads the question")
    ask.add_argument(
        "--server", default="", metavar="URL", help="address of an OpenAI-compatible API (default: OpenAI's own)"
    )
    ask.add_argument("--json", action="store_true", help="the answer as JSON")


def print_answer(memory: LongTermMemory, map_id: str, options: argparse.Namespace) -> None:
    """Print the answer, and what it rests on.

    Raises:
        AskError: there is no such area.
        EmbeddingError: the model of sentences cannot be had.
        ServerError: the settings of the server make no sense.
    """
    answer = _answer(memory, map_id, options)
    if options.json:
        print(json.dumps(asdict(answer)))
        return
    sure = f"confidence {answer.confidence:.2f}" if answer.known else "a guess" if answer.guess else "not known"
    print(f"{answer.text} [{sure}]")
    for line in (*map(str, answer.found), *answer.notes):
        print(f"  {line}")


def _answer(memory: LongTermMemory, map_id: str, options: argparse.Namespace) -> MemoryAnswer:
    from kc_vla.memory.asking.answering import Asker
    from kc_vla.memory.asking.surroundings import HomeSurroundings
    from kc_vla.memory.embedding.models import open_embedder
    from kc_vla.memory.robot.long_term import OwnScene
    from kc_vla.memory.robot.robot_memory import LONG, assemble_robot_memory

    graph = memory.graph(map_id)
    if options.at and options.at not in graph.areas:
        raise AskError(f"map {map_id!r} has no area {options.at!r}: name one of {', '.join(sorted(graph.areas)[:10])}")
    asked = assemble_robot_memory(LONG, open_embedder(), OwnScene(memory, map_id), None)
    now_s = time.time() if asked.latest_s > _CLOCK_S else 0.0
    around = HomeSurroundings(graph.areas, options.at, now_s, tuple(graph.floors.values()))
    return Asker(asked, lambda: around, _reader(options)).ask(options.question)


def _reader(options: argparse.Namespace) -> Reader:
    from kc_vla.memory.asking.answering import read_by_grammar

    if not options.model:
        return read_by_grammar
    from kc_vla.memory.asking.model import ModelReader
    from kc_vla.memory.served import Server, ServerSettings

    return ModelReader(Server(ServerSettings(options.model, options.server)))
