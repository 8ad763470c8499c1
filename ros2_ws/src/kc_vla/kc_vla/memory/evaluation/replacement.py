"""`kc-vla eval replacement`: hit rates on household tasks one after the other, and on traces of other caches.

KARMA, section 4.4 and figures 4 to 6; its requests are not published, so ours are drawn from the annotated tasks of
ALFRED: the objects of 200 random kitchen tasks, by type, and 50 such streams.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from tqdm import tqdm

from kc_vla.core.files import write_whole
from kc_vla.memory.evaluation.hit_rate import hits, optimal_hits
from kc_vla.memory.evaluation.requests import RequestsError, household_requests, read_household, read_trace
from kc_vla.memory.replacement.interface import Key, Replacement
from kc_vla.memory.replacement.policies import ADAPTIVE, POLICIES, open_replacement
from kc_vla.memory.replacement.w_tinylfu import WTinyLfu

OPTIMUM = "optimum"
"""Belady's, which knows the future."""
HOUSEHOLD_SIZES, SPLIT_SIZE, SPLITS = (5, 10, 15, 20, 25), 10, (1, 3, 5, 7, 9)
_TASKS = 200
_WARM = 0.95
"""Share of the units that are taken from which on a memory is warm, as in the paper."""
_KITCHENS = range(1, 31)
"""ALFRED's scenes are numbered; each kind of room has its hundred."""
_SHIPPED = Path(__file__).parent / "data" / "household.jsonl.gz"


@dataclass(frozen=True)
class Row:
    """A hit rate.

    Attributes:
        requests: where they come from.
        size: units of the memory.
        policy: its name.
        rate: mean share of the requests that find their unit.
        spread: half the 95 % interval of that mean over the streams; 0 for a single trace.
    """

    requests: str
    size: int
    policy: str
    rate: float
    spread: float


def evaluate_household(output: Path, streams: int, file: Path | None = None) -> list[Row]:
    """Hit rates by size, by split and after each task; written to `output` as tables, JSON and plots.

    Raises:
        RequestsError: `file` is no file of tasks, or has no kitchens.
        OSError: it cannot be read, or the results cannot be written.
    """
    tasks = [task for task in read_household(file or _SHIPPED) if _is_kitchen(task.scene)]
    if not tasks:
        raise RequestsError(f"{file} has no tasks in kitchens, FloorPlan1 to FloorPlan30")
    requests = [household_requests(tasks, _TASKS, seed) for seed in range(streams)]
    rows = [
        _row("household", size, policy, [_hits(policy, size, each).mean() for each in requests])
        for size in tqdm(HOUSEHOLD_SIZES, desc="sizes", unit="size")
        for policy in (OPTIMUM, *POLICIES)
    ]
    splits = [
        _row("splits", SPLIT_SIZE, f"window {window}, main {SPLIT_SIZE - window}", _rates(window, requests))
        for window in SPLITS
    ]
    _write(output, [*rows, *splits])
    _plot_sizes(rows, output / "sizes.png")
    _plot_course(requests, output / "course.png")
    return [*rows, *splits]


def evaluate_traces(output: Path, traces: Sequence[Path], sizes: Sequence[int]) -> list[Row]:
    """Hit rates of all policies on each trace and at each size.

    Raises:
        RequestsError: a trace is no trace.
        OSError: it cannot be read, or the results cannot be written.
    """
    read = {path.name.split(".")[0]: read_trace(path) for path in traces}
    rows = [
        _row(name, size, policy, [_hits(policy, size, requests).mean()])
        for name, requests in tqdm(read.items(), desc="traces", unit="trace")
        for size in sizes
        for policy in (OPTIMUM, *POLICIES)
    ]
    _write(output, rows)
    return rows


def table(rows: Iterable[Row]) -> str:
    """The hit rates as a Markdown table, a line for each size of each source of requests."""
    rows = list(rows)
    groups = dict.fromkeys((row.requests, row.size) for row in rows if row.requests != "splits")
    names = dict.fromkeys(row.policy for row in rows if row.requests != "splits")
    lines = [f"| requests | units | {' | '.join(names)} |", f"| --- | --- | {' | '.join('---' for _ in names)} |"]
    for requests, size in groups:
        cells = [_cell(row) for row in rows if (row.requests, row.size) == (requests, size)]
        lines.append(f"| {requests} | {size} | {' | '.join(cells)} |")
    splits = [row for row in rows if row.requests == "splits"]
    if splits:
        lines += ["", f"| {SPLIT_SIZE} units | hit rate |", "| --- | --- |"]
        lines += [f"| {row.policy} | {_cell(row)} |" for row in splits]
    return "\n".join(lines) + "\n"


def _is_kitchen(scene: str) -> bool:
    number = scene.removeprefix("FloorPlan")
    return number.isdecimal() and int(number) in _KITCHENS


def _hits(policy: str, size: int, requests: Sequence[Key]) -> NDArray[np.bool_]:
    return optimal_hits(size, requests) if policy == OPTIMUM else hits(open_replacement(policy, size), requests)


def _rates(window: int, requests: Sequence[Sequence[Key]]) -> list[float]:
    return [float(hits(WTinyLfu(SPLIT_SIZE, window), each).mean()) for each in requests]


def _row(requests: str, size: int, policy: str, rates: Sequence[float]) -> Row:
    spread = 1.96 * float(np.std(rates, ddof=1)) / math.sqrt(len(rates)) if len(rates) > 1 else 0.0
    return Row(requests, size, policy, float(np.mean(rates)), spread)


def _cell(row: Row) -> str:
    return f"{100 * row.rate:.2f}" + (f" ± {100 * row.spread:.2f}" if row.spread else "")


def _write(output: Path, rows: Sequence[Row]) -> None:
    output.mkdir(parents=True, exist_ok=True)
    write_whole(output / "results.json", json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    write_whole(output / "table.md", table(rows))


def _plot_sizes(rows: Sequence[Row], path: Path) -> None:
    figure = Figure(figsize=(6.5, 4.2), layout="constrained")
    axis = figure.subplots()
    for policy in dict.fromkeys(row.policy for row in rows):
        of_policy = [row for row in rows if row.policy == policy]
        axis.errorbar(
            [row.size for row in of_policy],
            [100 * row.rate for row in of_policy],
            [100 * row.spread for row in of_policy],
            marker=".",
            capsize=2,
            label=policy,
            linestyle="--" if policy == OPTIMUM else "-",
        )
    axis.set_xticks(HOUSEHOLD_SIZES)
    axis.set(
        xlabel="units", ylabel="hit rate, %", title="Household tasks: hit rate by size, 95 % intervals", ylim=(0, 100)
    )
    _finish(figure, path)


def _plot_course(requests: Sequence[Sequence[Key]], path: Path) -> None:
    """Hit rate up to each request, mean over the streams, and where a memory was warm on average."""
    makes: dict[str, Callable[[], Replacement]] = {
        f"[{window}, {SPLIT_SIZE - window}]": partial(WTinyLfu, SPLIT_SIZE, window) for window in SPLITS[::2]
    }
    makes |= {name: partial(open_replacement, name, SPLIT_SIZE) for name in ("fifo", ADAPTIVE)}
    length = min(map(len, requests))
    figure = Figure(figsize=(6.5, 4.2), layout="constrained")
    axis = figure.subplots()
    for name, make in makes.items():
        found = np.array([hits(make(), each)[:length] for each in requests])
        axis.plot(100 * (found.cumsum(axis=1) / np.arange(1, length + 1)).mean(axis=0), label=name)
    warm = np.mean([_warm_after(each) for each in requests])
    axis.axvline(float(warm), color="grey", linestyle=":", label="warm")
    axis.set(xlabel="requests", ylabel="hit rate so far, %", title=f"[window, main] of {SPLIT_SIZE} units")
    _finish(figure, path)


def _warm_after(requests: Sequence[Key]) -> int:
    """Requests after which a memory is warm: every new key takes a unit, until all are taken."""
    seen: set[Key] = set()
    for index, key in enumerate(requests):
        seen.add(key)
        if len(seen) >= _WARM * SPLIT_SIZE:
            return index + 1
    return len(requests)


def _finish(figure: Figure, path: Path) -> None:
    for axis in figure.axes:
        axis.grid(alpha=0.3)
        axis.legend(fontsize="small")
    figure.savefig(path, dpi=110)
