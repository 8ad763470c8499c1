"""Images of `kc-vla eval replacement`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter
from numpy.typing import NDArray

from kc_vla.core.files import replacing
from kc_vla.memory.evaluation.hit_rate import HitRateRow

OPTIMUM = "optimum"
"""Belady's, which knows the future."""
_MARKERS = "osD^v<>Pp*"
_ABREAST, _WIDE = 3, 4.4
"""Panels beside one another, and the width of one, inches."""
_FAR = 6
"""Sizes further apart than by this factor are shown by their logarithm."""


@dataclass(frozen=True)
class HitRateCurve:
    """A hit rate in the course of household tasks.

    Attributes:
        name: of the memory.
        rates: (T,) of all requests up to each task, mean over the streams, 0..1.
        warm: tasks after which the memory is warm, mean over the streams.
    """

    name: str
    rates: NDArray[np.float64]
    warm: float


def plot_sizes(rows: Sequence[HitRateRow], path: Path) -> None:
    """Plot the hit rates on household tasks by size, with their intervals."""
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axis = figure.subplots()
    _lines(axis, rows)
    axis.set(ylabel="hit rate, %", ylim=(0, 100), title="Household tasks, 95 % intervals")
    _save(figure, path, axis)


def plot_course(panels: Mapping[str, Sequence[HitRateCurve]], path: Path) -> None:
    """Plot the hit rates in the course of the tasks, a panel for each group of memories; dotted where one is warm."""
    figure = Figure(figsize=(_WIDE * len(panels), 4.4), layout="constrained")
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axis, (title, courses) in zip(axes, panels.items(), strict=True):
        alike = len({course.warm for course in courses}) == 1
        for number, course in enumerate(courses):
            tasks = np.arange(1, len(course.rates) + 1)
            axis.plot(tasks, 100 * course.rates, color=f"C{number}", label=course.name)
            axis.axvline(course.warm, color="grey" if alike else f"C{number}", linestyle=":", linewidth=1)
        axis.plot([], [], color="grey", linestyle=":", linewidth=1, label="95 % taken")
        axis.set(xlabel="tasks", title=title)
        axis.grid(alpha=0.3)
        axis.legend(fontsize="small", loc="upper left", ncols=3)
    axes[0].set(ylabel="hit rate so far, %", ylim=(0, 100))
    _save(figure, path)


def plot_traces(rows: Sequence[HitRateRow], path: Path) -> None:
    """Plot the hit rates on traces, a panel for each: by size, or policy by policy where there is one size alone."""
    traces = list(dict.fromkeys(row.requests for row in rows))
    abreast = min(_ABREAST, len(traces))
    deep = -(-len(traces) // abreast)
    one_size = len({row.size for row in rows}) == 1
    figure = Figure(figsize=(max(_WIDE * abreast, 6.5) + (0 if one_size else 1.5), 3.6 * deep), layout="constrained")
    axes = list(figure.subplots(deep, abreast, sharey=one_size, squeeze=False).flat)
    for axis, trace in zip(axes, traces, strict=False):
        of_trace = [row for row in rows if row.requests == trace]
        if one_size:
            _bars(axis, of_trace)
            axis.set(xlabel="hit rate, %", title=f"{trace}, {of_trace[0].size} units")
        else:
            _lines(axis, of_trace)
            axis.set(ylabel="hit rate, %", ylim=(0, None), title=trace)
    for axis in axes[len(traces) :]:
        axis.set_visible(False)
    _save(figure, path, None if one_size else axes[0])


def _lines(axis: Axes, rows: Sequence[HitRateRow]) -> None:
    """Draw a line for each policy by size.

    What is hidden by another one still shows by its larger, hollow mark.
    """
    sizes = sorted({row.size for row in rows})
    for number, policy in enumerate(dict.fromkeys(row.policy for row in rows)):
        of_policy = sorted((row for row in rows if row.policy == policy), key=lambda row: row.size)
        best = policy == OPTIMUM
        axis.errorbar(
            [row.size for row in of_policy],
            [100 * row.rate for row in of_policy],
            [100 * row.spread for row in of_policy] if any(row.spread for row in of_policy) else None,
            marker=_MARKERS[number % len(_MARKERS)],
            markersize=9 - number,
            markerfacecolor="none",
            linewidth=1.2,
            capsize=2,
            label=policy,
            color="black" if best else f"C{number - 1}",
            linestyle="--" if best else "-",
        )
    if sizes[-1] > _FAR * sizes[0]:
        axis.set_xscale("log", base=2)
    axis.xaxis.set_major_locator(FixedLocator(sizes))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axis.set_xlabel("units")
    axis.grid(alpha=0.3)


def _bars(axis: Axes, rows: Sequence[HitRateRow]) -> None:
    """Draw a bar for each policy, with its figure."""
    policies = [row.policy for row in rows]
    colours = ["black" if policy == OPTIMUM else f"C{number - 1}" for number, policy in enumerate(policies)]
    bars = axis.barh(policies, [100 * row.rate for row in rows], color=colours, alpha=0.7)
    axis.bar_label(bars, [f"{100 * row.rate:.2f}" for row in rows], padding=3, fontsize="small")
    axis.margins(x=0.2)
    if not axis.yaxis_inverted():
        axis.invert_yaxis()
    axis.grid(alpha=0.3, axis="x")


def _save(figure: Figure, path: Path, legend_of: Axes | None = None) -> None:
    if legend_of is not None:
        figure.legend(*legend_of.get_legend_handles_labels(), loc="outside right upper", fontsize="small")
    with replacing(path) as part:
        figure.savefig(part, dpi=120, format="png")
