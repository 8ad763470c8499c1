"""`kc-vla eval replacement`: hit rates on household tasks, on generated requests, and on traces of other caches.

KARMA, section 4.4 and figures 4 to 6; its requests are not published, so ours are drawn from the annotated tasks of
ALFRED: the objects of 200 random kitchen tasks, by type, and 50 such streams.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from kc_vla.core.files import write_whole
from kc_vla.memory.evaluation.hit_rate import HitRateRow, hits, optimal_hits
from kc_vla.memory.evaluation.replacement_caffeine import caffeine_hits
from kc_vla.memory.evaluation.replacement_plots import OPTIMUM, HitRateCurve, plot_course, plot_sizes, plot_traces
from kc_vla.memory.evaluation.replacement_streams import STREAMS, generated_stream
from kc_vla.memory.evaluation.requests import (
    HouseholdTask,
    RequestsError,
    household_stream,
    read_household,
    read_trace,
    requests_of,
)
from kc_vla.memory.replacement.interface import Key, Replacement
from kc_vla.memory.replacement.policies import ADAPTIVE, open_replacement, usable_policies
from kc_vla.memory.replacement.w_tinylfu import WTinyLfu

HOUSEHOLD_SIZES, SPLIT_SIZE, SPLITS = (5, 10, 15, 20, 25), 10, (1, 3, 5, 7, 9)
GENERATED_SIZES = (12, 80)
CAFFEINE, LEAD = "Caffeine", "adaptive less the better"
_GENERATED = (OPTIMUM, CAFFEINE, "lru", "w-tinylfu", ADAPTIVE)
_USES, _LEAST_USES = 40, 1000
"""Generated requests for each unit of the memory, and at least."""
_FIRST_SEED = 1000
"""The first seed that is reported: the policy was chosen on seeds from 0, at other sizes and lengths."""
_TASKS = 200
_WARM = 0.95
"""Share of the units that are taken from which on a memory is warm, as in the paper."""
_KITCHENS = range(1, 31)
"""ALFRED's scenes are numbered; each kind of room has its hundred."""
_SHIPPED = Path(__file__).parent / "data" / "household.jsonl.gz"


def evaluate_household(output: Path, streams: int, file: Path | None = None) -> list[HitRateRow]:
    """Evaluate the hit rates by size, by split and after each task, and write them to `output`.

    They are tables, JSON and plots.

    Raises:
        RequestsError: `file` is no file of tasks, or has no kitchens.
        OSError: it cannot be read, or the results cannot be written.
    """
    tasks = [task for task in read_household(file or _SHIPPED) if task.types and _is_kitchen(task.scene)]
    if not tasks:
        raise RequestsError(f"{file} has no tasks in kitchens, FloorPlan1 to FloorPlan30")
    output.mkdir(parents=True, exist_ok=True)
    drawn = [household_stream(tasks, _TASKS, seed) for seed in range(streams)]
    requests = [requests_of(stream) for stream in drawn]
    rows = [
        _row("household", size, policy, [_hits(policy, size, each).mean() for each in requests])
        for size in tqdm(HOUSEHOLD_SIZES, desc="sizes", unit="size")
        for policy in (OPTIMUM, *usable_policies())
    ]
    splits = [
        _row("splits", SPLIT_SIZE, f"window {window}, main {SPLIT_SIZE - window}", _rates(window, requests))
        for window in SPLITS
    ]
    _write(output, [*rows, *splits])
    plot_sizes(rows, output / "sizes.png")
    plot_course(_panels(drawn), output / "course.png")
    return [*rows, *splits]


def evaluate_traces(output: Path, traces: Sequence[Path], sizes: Sequence[int]) -> list[HitRateRow]:
    """Evaluate the hit rates of all policies on each trace and at each size, and write them to `output`.

    Raises:
        RequestsError: a trace is no trace.
        OSError: it cannot be read, or the results cannot be written.
    """
    names = [path.name.split(".")[0] for path in traces]
    alone = len(set(names)) == len(names)
    read = {name if alone else str(path): read_trace(path) for name, path in zip(names, traces, strict=True)}
    output.mkdir(parents=True, exist_ok=True)
    rows = [
        _row(name, size, policy, [_hits(policy, size, requests).mean()])
        for name, requests in tqdm(read.items(), desc="traces", unit="trace")
        for size in sizes
        for policy in (OPTIMUM, *usable_policies())
    ]
    _write(output, rows)
    plot_traces(rows, output / "traces.png")
    return rows


def evaluate_generated(output: Path, streams: int, sizes: Sequence[int]) -> list[HitRateRow]:
    """Evaluate the hit rates on so many streams of each kind of generated requests, and write them to `output`.

    The last column is the hit rate of `adaptive`, less that of LRU or Caffeine's simulator: of the one that finds more.

    Raises:
        OSError: the results cannot be written.
    """
    output.mkdir(parents=True, exist_ok=True)
    rows = [
        row
        for size in tqdm(sizes, desc="sizes", unit="size")
        for kind in tqdm(STREAMS, desc="kinds", unit="kind", leave=False)
        for row in generated_rows(kind, size, [_generated(kind, size, seed) for seed in range(streams)])
    ]
    _write(output, rows)
    return rows


def generated_rows(kind: str, size: int, drawn: Sequence[Sequence[int]]) -> list[HitRateRow]:
    """Return the hit rates on streams of a kind, and last what `adaptive` finds more than the better rival."""
    rates = {policy: [float(_hits(policy, size, each).mean()) for each in drawn] for policy in _GENERATED}
    better = max((CAFFEINE, "lru"), key=lambda policy: float(np.mean(rates[policy])))
    leads = [own - other for own, other in zip(rates[ADAPTIVE], rates[better], strict=True)]
    return [_row(kind, size, policy, each) for policy, each in {**rates, LEAD: leads}.items()]


def table(rows: Iterable[HitRateRow]) -> str:
    """Return the hit rates as a Markdown table, a line for each size of each source of requests."""
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


def _generated(kind: str, size: int, number: int) -> list[int]:
    return generated_stream(kind, size, max(_USES * size, _LEAST_USES), _FIRST_SEED + number)


def _hits(policy: str, size: int, requests: Sequence[Key]) -> NDArray[np.bool_]:
    if policy == OPTIMUM:
        return optimal_hits(size, requests)
    return caffeine_hits(size, requests) if policy == CAFFEINE else hits(open_replacement(policy, size), requests)


def _rates(window: int, requests: Sequence[Sequence[Key]]) -> list[float]:
    return [float(hits(WTinyLfu(SPLIT_SIZE, window), each).mean()) for each in requests]


def _row(requests: str, size: int, policy: str, rates: Sequence[float]) -> HitRateRow:
    spread = 1.96 * float(np.std(rates, ddof=1)) / math.sqrt(len(rates)) if len(rates) > 1 else 0.0
    return HitRateRow(requests, size, policy, float(np.mean(rates)), spread)


def _cell(row: HitRateRow) -> str:
    return f"{100 * row.rate:.2f}" + (f" ± {100 * row.spread:.2f}" if row.spread else "")


def _write(output: Path, rows: Sequence[HitRateRow]) -> None:
    write_whole(output / "results.json", json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    write_whole(output / "table.md", table(rows))


def _panels(streams: Sequence[Sequence[HouseholdTask]]) -> dict[str, list[HitRateCurve]]:
    """Return the paper's figures 4 to 6: window and main part, FIFO by size, W-TinyLFU by size."""
    split = {f"[{window}, {SPLIT_SIZE - window}]": partial(WTinyLfu, SPLIT_SIZE, window) for window in SPLITS}
    makes: dict[str, dict[str, Callable[[], Replacement]]] = {
        f"{SPLIT_SIZE} units, [window, main]": {"fifo": partial(open_replacement, "fifo", SPLIT_SIZE), **split},
        **{
            f"{policy}, by units": {str(size): partial(open_replacement, policy, size) for size in HOUSEHOLD_SIZES}
            for policy in ("fifo", ADAPTIVE)
        },
    }
    return {title: [_course(name, make, streams) for name, make in group.items()] for title, group in makes.items()}


def _course(name: str, make: Callable[[], Replacement], streams: Sequence[Sequence[HouseholdTask]]) -> HitRateCurve:
    rates = np.zeros(_TASKS)
    for stream in streams:
        ends = np.cumsum([len(task.types) for task in stream])
        found = hits(make(), requests_of(stream)).cumsum()
        rates += found[ends - 1] / ends / len(streams)
    return HitRateCurve(name, rates, float(np.mean([_warm_after(stream, make().capacity) for stream in streams])))


def _warm_after(stream: Sequence[HouseholdTask], size: int) -> int:
    """Return the tasks after which a memory is warm: every new type takes a unit, until all are taken."""
    seen: set[Key] = set()
    for number, task in enumerate(stream, start=1):
        seen.update(task.types)
        if len(seen) >= _WARM * size:
            return number
    return len(stream)
