"""What a live page that is open costs the selector and the control loop, against none, in turns in one run."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kc_vla.core import topics

from .measuring import Spread, Table
from .stack import CONTROL, SELECTION, Setting, chain_parameters, record

WIDTH, HEIGHT, CAMERA_HZ, CONTROL_HZ = 640, 480, 30, 120
_STEPS = 2 * CONTROL_HZ // CAMERA_HZ
"""Control steps of half a period between two pictures: by these the frames of an episode are counted."""
_CHUNK_STEPS = 500
_REFERENCE = "no viewer"
WAYS: dict[str, tuple[bool, int, int]] = {
    _REFERENCE: (False, 0, 0),
    "no viewer, again": (False, 0, 0),
    "no page open": (True, 0, 0),
    "1 page": (True, 1, 0),
    "10 pages, one of which takes nothing": (True, 10, 1),
}
"""Of each way whether the node runs, how many pages are open, and how many of them are stalled."""


@dataclass(frozen=True)
class _Run:
    """Of one run: ms from each picture to its score, ms by which each control period is off, and of the viewer its
    share of a core and the pictures a second that each page got, where there are such.
    """

    scores: Sequence[float]
    periods: Sequence[float]
    cpu: Sequence[float]
    seen: Sequence[float]


def measure(quick: bool, work: Path) -> Table:
    """Run the stack in each way, in turns, so that other work on the machine weighs on all alike."""
    seconds, turns = (8, 1) if quick else (30, 4)
    runs: dict[str, list[_Run]] = {way: [] for way in WAYS}
    for turn in range(turns):
        for number, way in enumerate(WAYS):
            runs[way].append(_run(way, work / f"{turn}-{number}", seconds))
    scores = {way: [each.scores for each in found] for way, found in runs.items()}
    periods = {way: [each.periods for each in found] for way, found in runs.items()}
    rows = [
        {
            "viewer": way,
            "picture to score, ms": Spread.of(np.concatenate(scores[way])),
            "p99 / without": _against(scores[way], scores[_REFERENCE]),
            "control period off, ms": Spread.of(np.concatenate(periods[way])),
            "p99 / without, control": _against(periods[way], periods[_REFERENCE]),
            "viewer's CPU": f"{np.mean(cpu):.0%}" if (cpu := [share for each in found for share in each.cpu]) else "-",
            "pictures/s of a page": f"{np.median(got):.1f}"
            if (got := [rate for each in found for rate in each.seen])
            else "-",
        }
        for way, found in runs.items()
    ]
    return Table(
        f"A live page open, two {WIDTH}x{HEIGHT} cameras at {CAMERA_HZ} Hz: p50 / p99 / max",
        rows,
        [
            f"Selector by rules, buffer, replayed chunks, a controller of {CONTROL_HZ} Hz in real time; the pages are "
            "open on the same machine, and what they do themselves gives way, as if they were open elsewhere.",
            "`picture to score` and `control period off`: at a reader in another process, its own wake-up included.",
            f"`/ without`: of each of {turns} turns the p99 by that of '{_REFERENCE}'; median (least to most). By "
            "how much two runs of the same differ is in the second row.",
            "`viewer's CPU`: of one core. `pictures/s`: of both cameras together, median of the pages that look.",
        ],
    )


def _against(found: Sequence[Sequence[float]], reference: Sequence[Sequence[float]]) -> str:
    ratios = [Spread.of(own).p99 / Spread.of(other).p99 for own, other in zip(found, reference, strict=True)]
    return f"{np.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def _run(way: str, folder: Path, seconds: float) -> _Run:
    runs, pages, stalled = WAYS[way]
    each = record(_setting(folder, runs, pages, stalled), seconds, folder, way)
    sent = {(picture["episode"], picture["frame"] * _STEPS): picture["at"] for picture in each.sent}
    scored = {(score["episode"], score["frame"]): score["at"] for score in each.results[topics.KEYFRAME_SCORE]}
    commands = np.array([command["at"] for command in each.results[topics.ARM_COMMAND]], np.int64)
    return _Run(
        scores=[(scored[frame] - sent[frame]) / 1e6 for frame in scored.keys() & sent.keys()],
        periods=list(np.abs(np.diff(commands) / 1e6 - 1e3 / CONTROL_HZ)),
        cpu=[each.cpu["viewer"]] if "viewer" in each.cpu else [],
        seen=[rate for rate in each.helpers.get("pages", []) if rate],
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
