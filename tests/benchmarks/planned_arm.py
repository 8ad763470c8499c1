"""The graph in which a planner has an arm moved by skills: time of each stage, and memory of each node."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from kc_vla.reports.files import SUMMARY

from .measuring import MeasurementError, Table
from .processes import Processes, node_processes

_SEED = 1
_INSTRUCTION = "put the milk onto the tray"
_SAMPLE_S, _PATIENCE_S = 2.0, 900.0
_QUICK = ("image_size:=64",)


def measure(quick: bool, work: Path) -> Table:
    """Have one instruction carried out in a kitchen, and read what the nodes say of their stages."""
    runs = work / "runs"
    samples: defaultdict[str, list[float]] = defaultdict(list)
    with Processes(work / "planned.log") as processes:
        launch = processes.start(
            *("ros2", "launch", "kc_vla", "maniskill.launch.py", "task:=kitchen", f"seed:={_SEED}", "planner:=true"),
            *(f"instruction:={_INSTRUCTION}", f"output:={runs}", f"memory_store:={work / 'memory.db'}"),
            *("report:=summary", "viewer_port:=0", *(_QUICK if quick else ())),
        )
        for _ in range(round(_PATIENCE_S / _SAMPLE_S)):
            if launch.poll() is not None:
                break
            for name, process in node_processes(launch).items():
                try:
                    samples[name].append(process.memory_full_info().pss / 1e6)
                except psutil.NoSuchProcess:
                    continue
            time.sleep(_SAMPLE_S)  # the launch ends by itself
    found = next(runs.glob(f"kitchen-*/{SUMMARY}"), None)
    if found is None:
        raise MeasurementError("the episode left no summary: its output is above")
    summary = json.loads(found.read_text())
    if not summary["success"]:
        raise MeasurementError(f"the instruction was not done: {summary['instructions']}")
    return Table(
        "A planner has a simulated arm moved by skills: stages in ms, and memory of each node in MB",
        [row for name in sorted(samples) for row in _rows(name, samples[name], summary["latency_ms"].get(name, {}))],
        [
            f'`task:=kitchen seed:={_SEED} planner:=true instruction:="{_INSTRUCTION}"`, in lock-step: the simulator '
            f"waits for the stack; {summary['steps']} control steps.",
            "Memory: proportional set size, the median of samples 2 s apart; the largest one beside it.",
            "`predict` of the first chunk of a skill has the search for a path around all things.",
            *(["Quick: cameras of 64 px in place of 256."] if quick else []),
        ],
    )


def _rows(name: str, memory: list[float], stages: Mapping[str, Mapping[str, float]]) -> list[dict[str, Any]]:
    used: dict[str, Any] = {"MB": f"{median(memory):.0f}", "most MB": f"{max(memory):.0f}"}
    empty: dict[str, Any] = {"stage": "", "times": "", "p50": "", "p99": ""}
    if not stages:
        return [{"node": name, **empty, **used}]
    rows: list[dict[str, Any]] = [
        {
            "node": name if number == 0 else "",
            "stage": stage.replace("_", " "),
            "times": f"{figures.get('count', 0):.0f}",
            "p50": f"{figures.get('p50', 0.0):.1f}",
            "p99": f"{figures.get('p99', 0.0):.1f}",
            **(used if number == 0 else {"MB": "", "most MB": ""}),
        }
        for number, (stage, figures) in enumerate(sorted(stages.items()))
    ]
    return rows
