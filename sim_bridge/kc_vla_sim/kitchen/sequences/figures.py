"""The figures of sequences in kitchens as table and plot: shares with Wilson's intervals, costs, failures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure as Picture

from kc_vla.core.files import replacing
from kc_vla.core.shares import Share
from kc_vla.memory.robot.robot_memory import NONE
from kc_vla_sim.kitchen.sequences.drawing import KINDS_OF_INSTRUCTIONS
from kc_vla_sim.kitchen.sequences.outcomes import InstructionOutcome, SequenceOutcome

BUDGET_S = 45.0
"""The step budget: so much of the robot's time for each thing that an instruction has to move, s; see the docs."""
_DRAWS = 2000
_MOST_REASONS = 12
_ID = re.compile(r"\b[a-z]+(?:_[a-z]+)*_\d+\b")
_NUMBERS = re.compile(r"[-+]?\d+(?:\.\d+)?")
_REST_OF_REASON = re.compile(r"; .* failed \d+ times: .*")
Cost = Callable[[InstructionOutcome], float]
_HEADS = (
    "memory",
    "instructions",
    "which",
    "done, %",
    f"done in {BUDGET_S:g} s a thing, %",
    "reported as done, and were not",
    "opened to search",
    "opened in all",
    "skills",
    "s, mean",
)


def sequence_table(outcomes: Sequence[SequenceOutcome]) -> str:
    """Return the figures as Markdown; shares have Wilson's intervals of 95 %.

    Args:
        outcomes: of kitchens, each played with one or more memories.
    """
    memories = list(dict.fromkeys(each.memory for each in outcomes))
    lines = [_line(_HEADS), _line(["---"] * len(_HEADS))]
    for memory in memories:
        told = [each for outcome in outcomes if outcome.memory == memory for each in outcome.instructions]
        for which, some in _groups(told):
            lines.append(_line((memory, str(len(some)), which, *_figures(some))))
    lines += ["", *_whole(outcomes, memories)]
    if NONE in memories:
        lines += ["", *_against_none(outcomes, [each for each in memories if each != NONE])]
    lines += ["", *_reasons(outcomes)]
    wall = float(np.median([each.wall_s for each in outcomes]))
    lines += ["", f"A kitchen takes {wall:.0f} s to play with one memory, median."]
    return "\n".join(lines) + "\n"


def _groups(told: Sequence[InstructionOutcome]) -> Iterator[tuple[str, list[InstructionOutcome]]]:
    groups = {"all": list(told)}
    groups |= {kind: [each for each in told if each.kind == kind] for kind in KINDS_OF_INSTRUCTIONS}
    groups["about what is in a closed drawer"] = [each for each in told if each.hidden]
    groups["of these, put there by the robot"] = [each for each in told if each.hidden and each.again]
    yield from ((which, some) for which, some in groups.items() if some)


def _figures(some: Sequence[InstructionOutcome]) -> Iterator[str]:
    yield str(Share(sum(each.done for each in some), len(some)))
    yield str(Share(sum(each.in_time(BUDGET_S) for each in some), len(some)))
    yield str(sum(each.believed and not each.done for each in some))
    yield str(sum(each.searched for each in some))
    yield str(sum(each.opened for each in some))
    yield str(sum(each.calls for each in some))
    yield f"{np.mean([each.seconds for each in some]):.0f}"


def _whole(outcomes: Sequence[SequenceOutcome], memories: Sequence[str]) -> Iterator[str]:
    """Yield how many sequences were done from their beginning to their end."""
    for memory in memories:
        played = [each for each in outcomes if each.memory == memory]
        whole = Share(sum(all(one.done for one in each.instructions) for each in played), len(played))
        yield f"Whole sequences with memory `{memory}`: {whole} %, {whole.right} of {whole.of}."
        yield ""


def _against_none(outcomes: Sequence[SequenceOutcome], memories: Sequence[str]) -> Iterator[str]:
    """Yield what each memory changes against none in the same kitchens; intervals are by draws of kitchens."""
    heads = ("memory", "points done", "points done in time", "share of openings to search", "share of all openings")
    yield _line(heads)
    yield _line(["---"] * len(heads))
    by_seed = {(each.seed, each.memory): each.instructions for each in outcomes}
    for memory in memories:
        seeds = [seed for seed, of in by_seed if of == memory and (seed, NONE) in by_seed]
        if not seeds:
            continue
        pairs = [(by_seed[seed, memory], by_seed[seed, NONE]) for seed in seeds]
        done, in_time = (_points(pairs, each) for each in (lambda one: one.done, lambda one: one.in_time(BUDGET_S)))
        searched, opened = (_ratio(pairs, each) for each in (lambda one: one.searched, lambda one: one.opened))
        yield _line((memory, done, in_time, searched, opened))


_Pairs = Sequence[tuple[Sequence[InstructionOutcome], Sequence[InstructionOutcome]]]


def _points(pairs: _Pairs, cost: Cost) -> str:
    """Return by how many points a share is above that without a memory."""
    sums = _sums(pairs, cost)
    count = np.array([len(one) for one, _ in pairs], float)
    drawn = _drawn(len(pairs))
    apart = 100 * (sums[drawn, 0] - sums[drawn, 1]).sum(axis=1) / count[drawn].sum(axis=1)
    low, high = np.quantile(apart, (0.025, 0.975))
    return f"{100 * (sums[:, 0] - sums[:, 1]).sum() / count.sum():.1f} ({low:.1f} to {high:.1f})"


def _ratio(pairs: _Pairs, cost: Cost) -> str:
    """Return a cost over that without a memory."""
    sums = _sums(pairs, cost)
    if not sums[:, 1].sum():
        return "-"
    drawn = sums[_drawn(len(pairs))].sum(axis=1)
    low, high = np.quantile(drawn[:, 0] / np.maximum(drawn[:, 1], 1.0), (0.025, 0.975))
    return f"{sums[:, 0].sum() / sums[:, 1].sum():.2f} ({low:.2f} to {high:.2f})"


def _sums(pairs: _Pairs, cost: Cost) -> np.ndarray:
    return np.array([[sum(map(cost, some)) for some in pair] for pair in pairs], float)


def _drawn(count: int) -> np.ndarray:
    return np.random.default_rng(0).integers(count, size=(_DRAWS, count))


def _reasons(outcomes: Sequence[SequenceOutcome]) -> Iterator[str]:
    counted: Counter[tuple[str, str]] = Counter()
    for outcome in outcomes:
        counted.update((outcome.memory, reason_of(each)) for each in outcome.instructions if not each.done)
    if counted:
        yield from (_line(("memory", "reason of a failure", "times")), _line(["---"] * 3))
        yield from (_line((*reason, str(count))) for reason, count in counted.most_common(_MOST_REASONS))


def reason_of(outcome: InstructionOutcome) -> str:
    """Return why an instruction was not done, without ids and numbers, so that equal reasons count together."""
    if outcome.believed:
        return "the robot takes it for done"
    text = _REST_OF_REASON.sub("", outcome.reason)
    return _NUMBERS.sub("N", _ID.sub("THING", text)).replace("|", "/")


def plot_times(outcomes: Sequence[SequenceOutcome], folder: Path) -> None:
    """Plot the share of instructions that are done within a time for each thing, by memory: times.png.

    Args:
        outcomes: of kitchens.
        folder: of the results.
    """
    figure = Picture(figsize=(7.0, 4.2), layout="constrained")
    axis = figure.subplots()
    for memory in dict.fromkeys(each.memory for each in outcomes):
        told = [each for outcome in outcomes if outcome.memory == memory for each in outcome.instructions]
        times = np.sort([each.seconds / each.things for each in told if each.done])
        share = 100 * np.arange(1, len(times) + 1) / max(len(told), 1)
        axis.step([0.0, *times], [0.0, *share], where="post", label=memory)
    axis.axvline(BUDGET_S, color="black", linewidth=0.8, linestyle=":")
    axis.set(xlabel="robot's time for each thing to be moved, s", ylabel="instructions done, %", ylim=(0, 101))
    axis.legend(title="memory")
    with replacing(folder / "times.png") as part:
        figure.savefig(part, format="png", dpi=110)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
