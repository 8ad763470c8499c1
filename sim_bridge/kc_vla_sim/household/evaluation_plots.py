"""Images of `kc-vla eval household`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure as Picture

from kc_vla.core.files import replacing
from kc_vla_sim.household.evaluation_figures import SequenceRow

_SHOWN = (
    ("success", "goal reached, %"),
    ("exploration", "exploration saved, %"),
    ("known", "exploration saved for what was seen before, %"),
    ("seconds", "time saved, %"),
)


def plot_memories(rows: Sequence[SequenceRow], folder: Path) -> None:
    """Plot success, reduced exploration and time of each memory, by the kind of sequence: memories.png."""
    kinds = list(dict.fromkeys(row.kind for row in rows))
    arms = list(dict.fromkeys(row.arm for row in rows))
    figure = Picture(figsize=(10.0, 7.5), layout="constrained")
    for axis, (name, label) in zip(figure.subplots(2, 2).flat, _SHOWN, strict=True):
        for number, arm in enumerate(arms):
            found = [(kinds.index(row.kind), getattr(row, name)) for row in rows if row.arm == arm]
            found = [(at, each) for at, each in found if each.value is not None]
            at = [at + 0.8 * (number + 0.5) / len(arms) - 0.4 for at, _ in found]
            value = [100 * each.value for _, each in found]
            ends = [
                [100 * (each.value - each.low) for _, each in found],
                [100 * (each.high - each.value) for _, each in found],
            ]
            said = f"{arm.memory}{', disturbed' if arm.disturbed else ''}{'' if arm.feedback else ', no feedback'}"
            axis.bar(at, value, 0.8 / len(arms), yerr=ends, capsize=2, label=said)
        axis.set_xticks(range(len(kinds)), kinds)
        axis.set(ylabel=label, ylim=(None, 101))
        axis.axhline(0, color="black", linewidth=0.8)
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    with replacing(folder / "memories.png") as part:
        figure.savefig(part, format="png", dpi=110)


def plot_capacities(rows: Sequence[SequenceRow], folder: Path) -> None:
    """Plot the hit rate by the size of the short-term memory, and the exploration saved by hit rate (capacities.png).

    It is KARMA's figure 7, made where there is more than one size.
    """
    lines: dict[tuple[str, str], list[SequenceRow]] = {}
    for row in sorted(rows, key=lambda row: row.arm.capacity):
        if row.kind != "all" and row.retrieval.value is not None and row.exploration.value is not None:
            lines.setdefault((row.arm.memory, row.kind), []).append(row)
    lines = {name: some for name, some in lines.items() if len({row.arm.capacity for row in some}) > 1}
    if not lines:
        return
    figure = Picture(figsize=(10.0, 4.2), layout="constrained")
    by_size, by_hits = figure.subplots(1, 2)
    for (memory, kind), some in lines.items():
        hits = [100 * (row.retrieval.value or 0.0) for row in some]
        saved = [100 * (row.exploration.value or 0.0) for row in some]
        by_size.plot([row.arm.capacity for row in some], hits, marker="o", label=f"{memory}, {kind}")
        by_hits.plot(hits, saved, marker="o")
        for row, x, y in zip(some, hits, saved, strict=True):
            by_hits.annotate(str(row.arm.capacity), (x, y), textcoords="offset points", xytext=(4, -9), fontsize=7)
    by_size.set(xlabel="units of the short-term memory", ylabel="hit rate, %", ylim=(0, 101))
    by_hits.set(xlabel="hit rate, %", ylabel="exploration saved, %")
    figure.legend(*by_size.get_legend_handles_labels(), loc="outside lower center", ncols=4)
    with replacing(folder / "capacities.png") as part:
        figure.savefig(part, format="png", dpi=110)
