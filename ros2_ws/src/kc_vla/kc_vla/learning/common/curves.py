"""Learning curves as an image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator


class _Panel(NamedTuple):
    """Curves of one kind: the end of their names, the title, a factor, and the range of the axis from 0."""

    ending: str
    title: str
    factor: float = 1.0
    highest: float | None = None


_PANELS = (
    _Panel("loss", "loss"),
    _Panel("_m", "off on episodes that are held out, mm", 1e3),
    _Panel("_rad", "off on episodes that are held out, mrad", 1e3),
    _Panel("", "share that is right, or F1", highest=1.0),
)


def draw_curves(log: Sequence[Mapping[str, Any]], path: Path, counted: str = "epoch") -> None:
    """Draw each figure of a run's log over the epochs: a row for each stage, a panel for each kind of figure.

    Args:
        log: log of a run.
        path: path of the image.
        counted: name of what the log counts, such as epochs.
    """
    stages = list(dict.fromkeys(line["stage"] for line in log))
    names = dict.fromkeys(name for line in log for name in line if name not in ("stage", "epoch"))
    panels = [panel for panel in _PANELS if any(_panel(name) is panel for name in names)]
    shape = max(len(stages), 1), max(len(panels), 1)
    figure = Figure(figsize=(5.5 * shape[1], 3.4 * shape[0]), layout="constrained")
    axes = figure.subplots(*shape, squeeze=False)
    for row, stage in zip(axes, stages, strict=False):
        lines = [line for line in log if line["stage"] == stage]
        for axis, panel in zip(row, panels, strict=True):
            for name in names:
                points = [(line["epoch"] + 1, panel.factor * line[name]) for line in lines if name in line]
                if points and _panel(name) is panel:
                    label = name.removesuffix(panel.ending).rstrip("_") if panel.factor != 1 else name
                    marker = "." if len(points) < 60 else ""
                    axis.plot(*zip(*points, strict=True), marker=marker, label=label.replace("_", " "))
            axis.set_ylim(bottom=0, top=panel.highest and panel.highest + 0.02)
            axis.set(title=f"{stage}: {panel.title}", xlabel=counted)
            axis.grid(alpha=0.3)
            axis.xaxis.set_major_locator(MaxNLocator(integer=True))
            if axis.lines:
                axis.legend(fontsize="small", loc="lower right" if panel.highest else "upper right")
    figure.savefig(path, dpi=110)


def _panel(name: str) -> _Panel:
    """Return the first whose ending a figure has."""
    return next(panel for panel in _PANELS if name.endswith(panel.ending))
