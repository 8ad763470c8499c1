"""`kc-vla eval episodic`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from kc_vla.cli.verbs import exit_status, main_parser
from kc_vla.core.errors import StackError

_ABOUT = """\
Play episodes in which a choice depends on a keyframe: another arm swaps cubes, or a stack is taken apart. Afterwards
the memory is asked which cube was in the middle before. Beside it stand the cube that is in the middle now, a guess,
and a memory without keyframes. Nothing is drawn.

With --tasks kitchen, a second hand moves things in the rendered kitchen, and the arm does an instruction that depends
on how they stood before. --memories says what chooses the keyframes meanwhile.

Writes tables, results and a line for each episode; the same command goes on where it was interrupted.
"""


def main(words: Sequence[str]) -> int:
    """Run the subcommand; return the exit status: 0, 1 for a failure shown in one line, 2 for bad arguments, 130."""
    options = main_parser("eval", _add_arguments).parse_args(words)
    told = "kc-vla eval: interrupted: the same command goes on"
    return exit_status("eval", lambda: _evaluate(options), StackError, ValueError, interrupted=told)


_KITCHEN = "kitchen"


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = _ABOUT
    parser.add_argument("what", choices=["episodic"], help="what is measured")
    parser.add_argument(
        "--tasks",
        default="identity,spatial",
        metavar="NAMES",
        help="tasks of the episodes (identity,spatial); or kitchen",
    )
    parser.add_argument(
        "--memories",
        default="oracle,places,none,guess",
        metavar="NAMES",
        help="in the kitchen: what chooses keyframes (oracle, places, events), none for no keyframes, guess for any "
        "thing (oracle,places,none,guess)",
    )
    parser.add_argument("--episodes", type=int, default=50, metavar="N", help="episodes of each task (50)")
    parser.add_argument(
        "--detector", default="truth", metavar="NAME", help="detector that finds the things of the kitchens (truth)"
    )
    parser.add_argument(
        "--first-seed", type=int, default=30_000, metavar="SEED", help="seed of the first kitchen (30000)"
    )
    parser.add_argument("-o", "--output", type=Path, default=Path("runs/episodic"), help="folder for the results")


def _evaluate(options: argparse.Namespace) -> None:
    from kc_vla.memory.embedding.models import shared_embedder
    from kc_vla_sim.evaluate.episodic import TASKS, evaluate_episodic

    by_name = {each.name: each for each in TASKS}
    names = options.tasks.split(",")
    if options.episodes < 1:
        raise ValueError(f"--episodes {options.episodes}: 1 is the least")
    if names == [_KITCHEN]:
        _evaluate_kitchen(options)
        return
    if unknown := [each for each in names if each not in by_name]:
        raise ValueError(
            f"no episodes for the task {unknown[0][:40]!r}: choose of {', '.join(by_name)}, or {_KITCHEN} alone"
        )
    print(evaluate_episodic(options.output, shared_embedder(), [by_name[each] for each in names], options.episodes))
    print(f"{options.output}: table and results")


def _evaluate_kitchen(options: argparse.Namespace) -> None:
    from kc_vla.memory.embedding.models import shared_embedder
    from kc_vla_sim.kitchen.before.evaluation import evaluate_rearrangements
    from kc_vla_sim.kitchen.before.trial import MEMORIES

    memories = options.memories.split(",")
    if unknown := [each for each in memories if each not in MEMORIES]:
        raise ValueError(f"no memory {unknown[0][:40]!r} in the kitchen: choose of {', '.join(MEMORIES)}")
    shown = evaluate_rearrangements(
        options.output, shared_embedder(), memories, options.episodes, options.first_seed, options.detector
    )
    print(shown)
    print(f"{options.output}: table and results")
