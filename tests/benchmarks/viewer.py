"""What a live page that is open costs the selector and the control loop, against none, in turns in one run."""

from __future__ import annotations

import socket
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from kc_vla.core import topics

from .measuring import Spread, Table
from .stack import CONTROL, SELECTION, Record, Setting, chain_parameters, record

WIDTH, HEIGHT, CAMERA_HZ, CONTROL_HZ = 640, 480, 30, 120
_STEPS = 2 * CONTROL_HZ // CAMERA_HZ
"""Control steps of half a period between two pictures: by these the frames of an episode are counted."""
_CHUNK_STEPS = 500
WAYS: dict[str, tuple[bool, int, int]] = {
    "no viewer": (False, 0, 0),
    "no page open": (True, 0, 0),
    "1 page": (True, 1, 0),
    "10 pages, one of which takes nothing": (True, 10, 1),
}
"""Of each way whether the node runs, how many pages are open, and how many of them are stalled."""


def measure(quick: bool, work: Path) -> Table:
    """Run the stack in each way, in turns, so that other work on the machine weighs on all alike."""
    found: defaultdict[str, list[Record]] = defaultdict(list)
    for turn in range(1 if quick else 3):
        for number, (way, (runs, pages, stalled)) in enumerate(WAYS.items()):
            folder = work / f"{turn}-{number}"
            found[way].append(record(_setting(folder, runs, pages, stalled), 8 if quick else 30, folder, way))
    figures = {way: _figures(records) for way, records in found.items()}
    reference = figures["no viewer"]
    rows = [
        {
            "viewer": way,
            "picture to score, ms": scores,
            "p99 / without": scores.p99 / reference[0].p99,
            "control period off, ms": periods,
            "p99 / without, control": periods.p99 / reference[1].p99,
            "viewer's CPU": cpu,
            "pictures/s of a page": seen,
        }
        for way, (scores, periods, cpu, seen) in figures.items()
    ]
    return Table(
        f"A live page open, two {WIDTH}x{HEIGHT} cameras at {CAMERA_HZ} Hz: p50 / p99 / max",
        rows,
        [
            f"Selector by rules, buffer, replayed chunks, a controller of {CONTROL_HZ} Hz in real time; the pages are "
            "on the same machine, which does their work too.",
            "`picture to score` and `control period off`: at a reader in another process, its own wake-up included.",
            "`viewer's CPU`: of one core. `pictures/s`: of both cameras together, median of the pages that look.",
        ],
    )


def _setting(folder: Path, runs: bool, pages: int, stalled: int) -> Setting:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    parameters = chain_parameters(folder)
    parameters["keyframe_selector"] = {"source": "rules"}
    parameters["policy_server"]["horizon"] = _CHUNK_STEPS
    parameters["arm_controller"] |= {"control_rate": float(CONTROL_HZ), "execute_steps": _CHUNK_STEPS // 2}
    parameters["viewer"] = {"port": port}
    nodes = (*SELECTION, *CONTROL, *(("viewer",) if runs else ()))
    looking = (("pages", {"port": port, "number": pages, "stalled": stalled}),) if pages else ()
    return Setting(
        *(WIDTH, HEIGHT, CAMERA_HZ, nodes, parameters),
        frames=100_000,
        control_period=0.5 / CONTROL_HZ,
        helpers=looking,
    )


def _figures(records: list[Record]) -> tuple[Spread, Spread, str, str]:
    scores: list[float] = []
    periods: list[float] = []
    for each in records:
        sent = {(picture["episode"], picture["frame"] * _STEPS): picture["at"] for picture in each.sent}
        scored = {(score["episode"], score["frame"]): score["at"] for score in each.results[topics.KEYFRAME_SCORE]}
        scores += [(scored[frame] - sent[frame]) / 1e6 for frame in scored.keys() & sent.keys()]
        commands = np.array([command["at"] for command in each.results[topics.ARM_COMMAND]], np.int64)
        periods += list(np.abs(np.diff(commands) / 1e6 - 1e3 / CONTROL_HZ))
    cpu: list[Any] = [each.cpu["viewer"] for each in records if "viewer" in each.cpu]
    seen = [rate for each in records for rate in each.helpers.get("pages", []) if rate]
    return (
        Spread.of(scores),
        Spread.of(periods),
        f"{np.mean(cpu):.0%}" if cpu else "-",
        f"{np.median(seen):.1f}" if seen else "-",
    )
