"""Controller period jitter, alone and beside an inference load, against a bare Python loop at the same time."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kc_vla.core import topics

from .chunk import own_latency
from .measuring import Spread, Table
from .stack import CONTROL, LONG_CHUNK, SELECTION, Record, Setting, moving_parameters, record

WHOLE = (*SELECTION, *CONTROL)
FULL = (
    *itertools.product((100, 200), (("arm_controller",),), (0,)),
    *itertools.product((100, 200), (WHOLE,), (0, 1, 2)),
)
QUICK = ((100, WHOLE, 0), (200, WHOLE, 0), (200, WHOLE, 2))
LATE = 0.1
"""A period is late if it is longer than it should be by more than this share."""
CAMERA_HZ = 20


def measure(quick: bool, work: Path) -> Table:
    """Run the controller at each rate beside each load."""
    rows = []
    for number, (rate, nodes, threads) in enumerate(QUICK if quick else FULL):
        folder = work / str(number)
        parameters = moving_parameters(folder, rate)
        load = (("inference_load", {"threads": threads}),) if threads else ()
        size = 256 if nodes == WHOLE else 0
        setting = Setting(
            *(size, size, CAMERA_HZ, nodes, parameters),
            frames=100_000,
            control_period=0.5 / rate,
            helpers=(("bare_loop", {"rate": rate}), *load),
        )
        found = record(setting, 8 if quick else 20, folder, f"jitter: {rate} Hz, {threads} threads beside")
        rows.append(_row(rate, nodes, threads, found))
    return Table(
        "Controller period jitter, |period - nominal| in ms: p50 / p99 / max",
        rows,
        [
            f"`whole`: {', '.join(WHOLE)} with two 256x256 cameras at {CAMERA_HZ} Hz, the arm executing replayed "
            f"chunks of {LONG_CHUNK} steps. `controller`: arm_controller alone, holding.",
            "Control steps last half a period of the loop here, so that every period sends a command and can be seen "
            "from outside.",
            "`own`: the controller's `latency/control_period_error`. `outside`: time between two commands at a reader "
            "in another process, its own wake-up included. `bare loop`: a Python process that sleeps to absolute "
            "deadlines, running at the same time.",
            f"Late: longer than nominal by more than {LATE:.0%}. Inference: ResNet-18, 224x224, torch, without pause.",
        ],
    )


def _row(rate: int, nodes: Sequence[str], threads: int, found: Record) -> dict[str, Any]:
    commands = [c["at"] for c in found.results[topics.ARM_COMMAND] if c["episode"] != "warm-up"]
    outside, beats = periods_ms(commands), periods_ms(found.helpers["bare_loop"])
    own = own_latency(found.diagnostics("arm_controller"), "control_period_error")
    bare = Spread.of(np.abs(beats - 1e3 / rate))
    load = found.helpers.get("inference_load")
    return {
        "rate, Hz": rate,
        "nodes": "whole" if nodes == WHOLE else "controller",
        "other load": f"inference, {threads} thread{'s' * (threads > 1)}, {load['ms']:.0f} ms a pass"
        if load
        else "nothing",
        "own": own,
        "outside": Spread.of(np.abs(outside - 1e3 / rate)),
        "late, outside": _late(outside, rate),
        "bare loop": bare,
        "late, bare": _late(beats, rate),
        "own p99 / bare p99": own.p99 / bare.p99,
    }


def periods_ms(times_ns: Sequence[int]) -> np.ndarray:
    """Return the time between each and the next, ms."""
    return np.diff(np.asarray(times_ns, np.int64)) / 1e6


def _late(periods_ms: np.ndarray, rate: int) -> str:
    return f"{np.mean(periods_ms > (1 + LATE) * 1e3 / rate):.1%}"
