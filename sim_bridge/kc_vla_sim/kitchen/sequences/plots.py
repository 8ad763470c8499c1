"""The plot of `kc-vla eval kitchen`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure as Picture

from kc_vla.core.files import replacing
from kc_vla_sim.kitchen.sequences.figures import BUDGET_S
from kc_vla_sim.kitchen.sequences.outcomes import SequenceOutcome


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
