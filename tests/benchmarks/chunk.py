"""Chunk request-to-first-command latency: policy server with the backend `replay`, controller in real time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from kc_vla.core import topics

from .measuring import Spread, Table
from .stack import CONTROL, SELECTION, Record, Setting, chain_parameters, record

RATE_HZ = 20
FULL = ((256, 256, 0), (640, 480, 0), (256, 256, 1))
QUICK = ((256, 256, 0),)


def measure(quick: bool, work: Path) -> Table:
    """Let the controller ask for chunk after chunk."""
    rows = []
    for number, (width, height, threads) in enumerate(QUICK if quick else FULL):
        folder = work / str(number)
        load = (("inference_load", {"threads": threads}),) if threads else ()
        setting = Setting(
            width, height, RATE_HZ, (*SELECTION, *CONTROL), chain_parameters(folder), frames=100_000, helpers=load
        )
        found = record(setting, 15 if quick else 45, folder, f"chunk: {setting.pictures}")
        rows.append(_row(setting, threads, found))
    return Table(
        "Chunk request-to-first-command latency, ms: p50 / p99 / max",
        rows,
        [
            f"Real time, {1000 / RATE_HZ:g} ms a control step, backend `replay`, a chunk asked for every 5 steps.",
            "`request to chunk` and `request to command`: the controller's own `latency/chunk_round_trip` and "
            "`latency/request_to_command`. The request is made at the beginning of a control step and waits for the "
            "image of that very step; an answer is used from the next step on, so one step is the least possible "
            "`request to command`.",
            "`image to command`: from outside, from the publishing of the image that the chunk was computed from to "
            "the first command of that chunk at a reader in another process. `steps`: rows of the chunk skipped, "
            "median and maximum.",
        ],
    )


def _row(setting: Setting, threads: int, found: Record) -> dict[str, Any]:
    own = found.diagnostics("arm_controller")
    published = {(s["episode"], s["frame"]): s["at"] for s in found.sent}
    observed = {(c["episode"], c["sequence"]): c["frame"] for c in found.results[topics.POLICY_CHUNK]}
    first: dict[tuple[str, int], dict[str, Any]] = {}
    for command in found.results[topics.ARM_COMMAND]:
        if "sequence" in command:
            first.setdefault((command["episode"], command["sequence"]), command)
    outside, skipped = [], []
    for (episode, sequence), command in first.items():
        image = published.get((episode, observed.get((episode, sequence), -1)))
        if image is not None:
            outside.append((command["at"] - image) / 1e6)
            skipped.append(command["index"])
    holds = sum("sequence" not in c for c in found.results[topics.ARM_COMMAND])
    return {
        "images": setting.pictures,
        "other load": f"inference, {threads} thread" if threads else "nothing",
        "chunks": len(outside),
        "request to chunk": own_latency(own, "chunk_round_trip"),
        "request to command": own_latency(own, "request_to_command"),
        "image to command": Spread.of(outside),
        "steps": f"{np.median(skipped):g} / {max(skipped)}",
        "holds": holds,
    }


def own_latency(diagnostics: Any, stage: str) -> Spread:
    """Return what a node says of a stage, ms."""
    count, *parts = (diagnostics[f"latency/{stage}/{name}"] for name in ("count", "p50_ms", "p99_ms", "max_ms"))
    return Spread(int(count), *map(float, parts))
