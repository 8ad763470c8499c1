"""What it costs to ask a policy on a server rather than the same one here, and how many bytes that takes."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from tqdm import tqdm

from kc_vla.core.episode import Episode
from kc_vla.core.robot import load_robot
from kc_vla.core.tasks import TASKS
from kc_vla.core.views import DEFAULT_VIEWS
from kc_vla.policy.backends import PolicyContext, open_backend
from kc_vla.policy.interface import Backend, PolicyInput, Proprioception, RememberedFrame
from kc_vla.policy.remote.websocket_link import WebSocketLink
from kc_vla.policy.remote.zmq_link import ZmqLink
from tests.support.chance_policy import write_chance_policy

from .measuring import MeasurementError, Spread, Table

_CAMERA, _KEPT = 256, 5
_INSTRUCTION = TASKS["counting"].instruction
_EPISODE = Episode("e", "counting", _INSTRUCTION, 0, 50_000_000, True)
_POSE = np.array([0.5, 0.0, 0.2, 1.0, 0.0, 0.0, 0.0])
_FELT = Proprioception(_POSE, np.array([0.0, 0.4, 0.0, -2.0, 0.0, 2.4, 0.8, 0.02, 0.02]))
_STATE = np.array([*_POSE, 0.5])
_LEAST_BYTES = 1000
"""A request with pictures has more; a reset less."""


class _Counted:
    """Notes the bytes of each request of a link."""

    def __init__(self, link: WebSocketLink | ZmqLink) -> None:
        self.sent: list[int] = []
        exchange = link.exchange

        def counting(request: bytes, deadline: float) -> bytes:
            self.sent.append(len(request))
            return exchange(request, deadline)

        link.exchange = counting  # type: ignore[method-assign]


def measure(quick: bool, work: Path) -> Table:
    """Ask the same policy here and through both servers in turn. The weights are of chance: they do not matter."""
    models = write_chance_policy(work / "models")
    rounds = 20 if quick else 100
    with _serving("openpi", models) as openpi, _serving("groot", models) as groot:
        context = PolicyContext(load_robot("panda_sim"), 16)
        alone = {"models_folder": str(models), "device": "cpu"}
        backends: dict[str, Backend] = {"here": open_backend("learned", context, alone)}
        for wire, where in (("openpi", openpi), ("groot", groot)):
            backends[wire] = open_backend(wire, context, {"server": where, "timeout_s": 30.0})
        links = {wire: backends[wire]._session._link for wire in ("openpi", "groot")}  # type: ignore[attr-defined]
        counted = {wire: _Counted(link) for wire, link in links.items()}
        times = _ask(backends, rounds)
    here = Spread.of(times["here"])
    sizes = _sizes(counted)
    rows = [
        {
            "policy runs": "in the node" if name == "here" else name,
            "chunks": (spread := Spread.of(taken)).count,
            "time, ms: p50 / p99 / max": spread,
            "more than in the node, ms, p50": spread.p50 - here.p50,
            "more than in the node, ms, p99": spread.p99 - here.p99,
            "request with keyframes, kB": sizes.get(name, (0, 0))[0] / 1e3,
            "request without keyframes, kB": sizes.get(name, (0, 0))[1] / 1e3,
        }
        for name, taken in times.items()
    ]
    return Table(
        "A policy on a server of this machine, and in the node itself: time of a chunk, bytes of a request",
        rows,
        [
            f"Two cameras, {_CAMERA} px, {_KEPT} keyframes, seen before, 16 actions. Each server is a `kc-vla serve "
            "policy` with one thread; images of 224 px for openpi, of 256 px for GR00T, not compressed.",
            "openpi's server keeps keyframes, as it announces; GR00T's wire has no such thing: its history goes with "
            "each request.",
        ],
    )


def _ask(backends: dict[str, Backend], rounds: int) -> dict[str, list[float]]:
    chance = np.random.default_rng(0)
    shots = [{view: _picture(chance) for view in DEFAULT_VIEWS} for _ in range(_KEPT + 1)]
    keyframes = [RememberedFrame(10 * k, shots[k], _STATE, _FELT) for k in range(_KEPT)]
    times: dict[str, list[float]] = {name: [] for name in backends}
    for backend in backends.values():
        backend.reset(_EPISODE)
    for number in tqdm(range(rounds + 1), desc="policy_servers", unit="round"):
        views = {view: _picture(chance) for view in DEFAULT_VIEWS}
        given = PolicyInput(
            1000 + number, views, keyframes, _STATE, _INSTRUCTION, np.empty((0, 0), np.float32), felt=_FELT
        )
        for name, backend in backends.items():
            began = time.perf_counter()
            backend.infer(given)
            if number:  # the first one looks at the keyframes
                times[name].append(1e3 * (time.perf_counter() - began))
    return times


def _sizes(counted: dict[str, _Counted]) -> dict[str, tuple[int, int]]:
    """Bytes of the first request for a chunk, with the keyframes, and of the last, with those kept that can be."""
    found = {wire: [size for size in each.sent if size > _LEAST_BYTES] for wire, each in counted.items()}
    return {wire: (sizes[0], sizes[-1]) for wire, sizes in found.items()}


def _picture(chance: np.random.Generator) -> np.ndarray:
    return chance.integers(0, 256, (_CAMERA, _CAMERA, 3), np.uint8)


@contextmanager
def _serving(wire: str, models: Path) -> Iterator[str]:
    program = shutil.which("kc-vla")
    if program is None:
        raise MeasurementError("there is no kc-vla: source env.sh first")
    command = [
        program,
        "serve",
        "policy",
        "--protocol",
        wire,
        "--models",
        str(models),
        "--port",
        "0",
        "--device",
        "cpu",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as process:
        assert process.stdout is not None
        told = process.stdout.readline()
        if not told:
            raise MeasurementError(f"kc-vla serve policy --protocol {wire} has ended: its output is above")
        yield told.partition(": ")[0]
        process.terminate()
