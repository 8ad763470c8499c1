"""Time of the learned policy for a chunk, after few and many keyframes, and chunks per second in the running graph."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from kc_vla.core import topics
from kc_vla.core.episode import Episode
from kc_vla.core.robot import load_robot
from kc_vla.core.tasks import TASKS
from kc_vla.core.views import DEFAULT_VIEWS
from kc_vla.policy.backends import PolicyContext
from kc_vla.policy.interface import PolicyInput, RememberedFrame
from kc_vla.policy.learned import LearnedBackend, open_learned
from kc_vla.policy.options import LearnedOptions
from tests.support.chance_policy import write_chance_policy

from .chunk import own_latency
from .measuring import Spread, Table
from .stack import CONTROL, SELECTION, Setting, chain_parameters, record

_CAMERA, _RATE_HZ = 256, 20
KEPT, CONDENSED = (5, 12, 50), (5, 50, 500)
_STATE = np.array([0.5, 0.0, 0.2, 1.0, 0.0, 0.0, 0.0, 0.5])
_INSTRUCTION = TASKS["counting"].instruction


def measure(quick: bool, work: Path) -> Table:
    """Ask for chunks, alone and in the graph. The weights are of chance: they do not matter to the time."""
    shown = np.random.default_rng(1).integers(0, 256, (4, len(DEFAULT_VIEWS), 128, 128, 3), np.uint8)
    models = write_chance_policy(work / "models", list(shown))
    condensed = write_chance_policy(work / "condensed", list(shown), condensed=True)
    rounds = 20 if quick else 100
    rows = [
        *_alone(models, "alone", KEPT, rounds),
        *_alone(condensed, "condensed to 8 tokens", CONDENSED, rounds),
        _in_the_graph(models, 15 if quick else 45, work),
    ]
    return Table(
        "Learned policy: time for a chunk, one thread, ms: p50 / p99 / max",
        rows,
        [
            f"Alone: images of two cameras, {_CAMERA} px, to a chunk of 16 actions; the numbers of keyframes take "
            "turns; in each fourth chunk one is new, and is looked at. `ratio`: of the median to that after "
            f"{KEPT[0]} keyframes of the same policy in the same run. Condensed: all keyframes become tokens, "
            "anew when one comes.",
            f"In the graph: {_CAMERA} px at {_RATE_HZ} Hz, the learned selector scores every frame, the next chunk is "
            "asked for in the control step after the last one came; `per second` are those that came.",
        ],
    )


def _alone(models: Path, name: str, counts: tuple[int, ...], rounds: int) -> list[dict[str, Any]]:
    context = PolicyContext(load_robot("panda_sim"), 16)
    options = LearnedOptions(models_folder=str(models), device="cpu")
    chance = np.random.default_rng(0)
    views = {view: chance.integers(0, 256, (_CAMERA, _CAMERA, 3), np.uint8) for view in DEFAULT_VIEWS}
    keyframes = [RememberedFrame(k, views, _STATE) for k in range(max(counts) + 1)]
    backends = {kept: open_learned(context, options) for kept in counts}
    for kept, backend in backends.items():
        backend.reset(Episode("e", "counting", _INSTRUCTION, 0, 50_000_000, True))
        _chunk(backend, keyframes[:kept], views)
    times: dict[int, list[float]] = {kept: [] for kept in counts}
    for _ in tqdm(range(rounds), desc=name, unit="round"):
        for kept, taken in times.items():
            taken += [_chunk(backends[kept], keyframes[: kept + new], views) for new in (0, 0, 0, 1)]
    spreads = {kept: Spread.of(taken) for kept, taken in times.items()}
    return [
        {
            "where": f"{name}, {kept} keyframes",
            "chunks": spread.count,
            "time": spread,
            "per second": 1e3 / spread.p50,
            "ratio": spread.p50 / spreads[counts[0]].p50,
        }
        for kept, spread in spreads.items()
    ]


def _chunk(backend: LearnedBackend, keyframes: list[RememberedFrame], views: dict[str, np.ndarray]) -> float:
    given = PolicyInput(10_000, views, keyframes, _STATE, _INSTRUCTION, np.empty((0, 0), np.float32))
    began = time.perf_counter()
    backend.infer(given)
    return 1e3 * (time.perf_counter() - began)


def _in_the_graph(models: Path, seconds: int, work: Path) -> dict[str, Any]:
    parameters = chain_parameters(work / "graph")
    parameters["policy_server"] = {"backend": "learned", "models_folder": models}
    parameters["arm_controller"] |= {"execute_steps": 1}
    setting = Setting(_CAMERA, _CAMERA, _RATE_HZ, (*SELECTION, *CONTROL), parameters, frames=100_000)
    found = record(setting, seconds, work / "graph", f"policy: {setting.pictures}")
    chunks = found.results[topics.POLICY_CHUNK]
    took = (chunks[-1]["at"] - chunks[0]["at"]) * 1e-9
    spread = own_latency(found.diagnostics("policy_server"), "predict")
    return {
        "where": "in the graph",
        "chunks": len(chunks),
        "time": spread,
        "per second": (len(chunks) - 1) / took,
        "ratio": "",
    }
