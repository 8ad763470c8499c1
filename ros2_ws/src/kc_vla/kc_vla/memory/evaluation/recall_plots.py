"""Images of `kc-vla eval recall`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from kc_vla.core.files import replacing
from kc_vla.memory.evaluation.accuracy import AccuracyRow
from kc_vla.memory.evaluation.confidence import Sureness


def plot_accuracy(rows: Sequence[AccuracyRow], path: Path) -> None:
    """Plot how often the first unit is what was meant, by what is added, for the half that was measured last."""
    split = rows[-1].split
    rows = [row for row in rows if row.split == split]
    names = list(dict.fromkeys((row.embedding, row.variant) for row in rows))
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axis = figure.subplots()
    for kind, series in dict.fromkeys((row.kind, row.series) for row in rows):
        of_kind = [row for row in rows if (row.kind, row.series) == (kind, series)]
        share = [100 * row.top1.share for row in of_kind]
        low = [100 * (row.top1.share - row.top1.interval[0]) for row in of_kind]
        high = [100 * (row.top1.interval[1] - row.top1.share) for row in of_kind]
        at = [names.index((row.embedding, row.variant)) for row in of_kind]
        axis.errorbar(at, share, [low, high], marker="o", capsize=3, linestyle=":", label=f"{kind}, {series}")
    one = len({embedding for embedding, _ in names}) == 1
    axis.set_xticks(range(len(names)), [variant if one else f"{embedding}\n{variant}" for embedding, variant in names])
    axis.tick_params(axis="x", rotation=20)
    axis.set(ylabel="first unit is what was meant, %", ylim=(0, 101), title=f"{split} questions, 95 % intervals")
    axis.legend()
    _save(figure, path)


def plot_confidence(sureness: Sequence[Sureness], path: Path) -> None:
    """Plot the share of right answers by how sure they were."""
    figure = Figure(figsize=(4.8, 4.5), layout="constrained")
    axis = figure.subplots()
    axis.plot([0, 1], [0, 1], color="grey", linestyle=":")
    for each in sureness:
        low = [share.share - share.interval[0] for _, _, share in each.bins]
        high = [share.interval[1] - share.share for _, _, share in each.bins]
        share = [share.share for _, _, share in each.bins]
        label = f"{each.embedding}, {each.split}"
        axis.errorbar([mean for _, mean, _ in each.bins], share, [low, high], marker="o", capsize=3, label=label)
    axis.set(xlabel="confidence", ylabel="share of right answers", xlim=(0, 1), ylim=(0, 1))
    axis.legend()
    _save(figure, path)


def _save(figure: Figure, path: Path) -> None:
    with replacing(path) as part:
        figure.savefig(part, dpi=120, format="png")
