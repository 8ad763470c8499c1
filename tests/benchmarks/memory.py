"""Memory of every node after some minutes of continuous running, against after the first minute."""

from __future__ import annotations

import time
from collections import defaultdict
from pathlib import Path
from statistics import median

import psutil
from tqdm import tqdm

from .measuring import MeasurementError, Table
from .processes import Processes, node_processes

_SAMPLE_S = 2.0
_WINDOW_S = 20.0
IMAGE_SIZE = 64

Sample = tuple[float, int, float, float]
"""Seconds since the first episode began, process id, resident set, proportional set (MB)."""


def measure(quick: bool, work: Path) -> Table:
    """Run episode after episode and look at the nodes' memory."""
    minutes = 2 if quick else 10
    runs = work / "memory-runs"
    with Processes(work / "memory.log") as processes:
        launch = processes.start(
            *("ros2", "launch", "kc_vla", "maniskill.launch.py", "task:=counting", "seed:=0", "episodes:=100000"),
            *(f"image_size:={IMAGE_SIZE}", f"output:={runs}"),
        )
        processes.wait_for_episode(lambda: any(runs.glob("counting-*")))
        samples: defaultdict[str, list[Sample]] = defaultdict(list)
        began = time.monotonic()
        with tqdm(total=minutes * 60, desc="memory", unit="s") as progress:
            while (elapsed := time.monotonic() - began) < minutes * 60 + _WINDOW_S / 2:
                for name, process in node_processes(launch).items():
                    try:
                        used = process.memory_full_info()
                    except psutil.NoSuchProcess:
                        continue
                    samples[name].append((elapsed, process.pid, used.rss / 1e6, used.pss / 1e6))
                progress.update(min(elapsed, minutes * 60) - progress.n)
                processes.sleep(_SAMPLE_S)
        episodes = len(list(runs.glob("counting-*")))
    rows = [_row(name, taken, minutes) for name, taken in sorted(samples.items())]
    return Table(
        f"Memory of every node after {minutes} minutes against after 1, MB",
        rows,
        [
            f"`ros2 launch kc_vla maniskill.launch.py` with {IMAGE_SIZE}-pixel cameras and a report of every episode: "
            f"{episodes} episodes, one after another without a pause.",
            f"Time counts from the first episode. Each figure is the median of samples, {_SAMPLE_S:g} s apart, of the "
            f"{_WINDOW_S:g} s around that minute; growth is of the proportional set size, its second half from minute "
            f"{minutes / 2:g} on.",
            *(["Quick: 2 minutes in place of 10."] if quick else []),
        ],
    )


def _row(name: str, samples: list[Sample], minutes: int) -> dict[str, object]:
    def at(minute: float, column: int) -> float:
        near = [s[column] for s in samples if abs(s[0] - 60 * minute) <= _WINDOW_S / 2]
        if not near:
            raise MeasurementError(f"{name} was not there in minute {minute:g}")
        return float(median(near))

    first, middle, last = at(1, 3), at(minutes / 2, 3), at(minutes, 3)
    return {
        "node": name,
        "resident, minute 1": at(1, 2),
        f"resident, minute {minutes}": at(minutes, 2),
        "proportional, minute 1": first,
        f"proportional, minute {minutes}": last,
        "growth": last - first,
        "of it in the second half": last - middle,
        "restarts": len({s[1] for s in samples}) - 1,
    }
