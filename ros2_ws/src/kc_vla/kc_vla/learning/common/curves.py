"""Learning curves as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator


def draw_curves(log: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Draw each figure of a run's log over the epochs: a row for each stage, losses left, shares right."""
    stages = list(dict.fromkeys(line["stage"] for line in log))
    figure = Figure(figsize=(11, 3.4 * max(len(stages), 1)), layout="constrained")
    axes = figure.subplots(max(len(stages), 1), 2, squeeze=False)
    for row, stage in zip(axes, stages, strict=False):
        lines = [line for line in log if line["stage"] == stage]
        names = dict.fromkeys(name for line in lines for name in line if name not in ("stage", "epoch"))
        for name in names:
            axis = row[0] if "loss" in name else row[1]
            points = [(line["epoch"] + 1, line[name]) for line in lines if name in line]
            axis.plot(*zip(*points, strict=True), marker="." if len(points) < 60 else "", label=name.replace("_", " "))
        row[1].set_ylim(-0.02, 1.02)
        for axis, title in zip(row, ("loss", "share that is right, or F1"), strict=True):
            axis.set(title=f"{stage}: {title}", xlabel="epoch")
            axis.grid(alpha=0.3)
            axis.xaxis.set_major_locator(MaxNLocator(integer=True))
            if axis.lines:
                axis.legend(fontsize="small", loc="lower right" if axis is row[1] else "upper right")
    figure.savefig(path, dpi=110)
