"""How well the Piper's control process keeps time, how long the bus takes there and back, and what it costs."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import can
import numpy as np
from tqdm import tqdm

from kc_vla.arm.control_process import main as control
from kc_vla.arm.emulator.bus import INTERFACE, SocketBus
from kc_vla.arm.emulator.process import main as emulate
from kc_vla.arm.remote import Remote
from kc_vla.arm.servo_modes import ServoSettings
from kc_vla.arm.wiring import Wiring
from tests.support.piper import PIPER

from .handover import MIDDLE, SWING
from .measuring import MeasurementError, Spread, Table
from .processes import Processes, cpu_seconds

_PRIORITY = 50
_STATE_RATE = 100.0
_LOOK_S = 0.05
_AIM_S = 0.05
_ASK_LIMITS, _LIMITS = 0x472, 0x473
_ANSWER_S = 1.0


def measure(quick: bool, work: Path) -> Table:
    """Swing an emulated arm, idle and beside one inference on each core, with and without a real-time priority."""
    seconds, asks = (8.0, 200) if quick else (60.0, 1000)
    settings = [(load, priority) for load in (False, True) for priority in (_PRIORITY, 0)]
    rows = []
    for number, (load, priority) in enumerate(tqdm(settings, desc="piper", unit="setting")):
        folder = work / str(number)
        folder.mkdir()
        with ExitStack() as stack:
            if load:
                stack.enter_context(_inference_on_every_core(folder))
            rows.append(_row(load, priority, seconds, asks, folder / "bus"))
    return Table(
        "The Piper's control loop, 200 Hz: p50 / p99 / max in ms",
        rows,
        (
            "The arm swings; the emulated arm is a process of its own at a real-time priority, the bus a Unix socket.",
            f"`late`: how long after its deadline a period begins, {seconds:g} s of them. `bus round trip`: from "
            f"asking for a joint's limits to the answer, {asks} times, by an ordinary process.",
            f"Inference: ResNet-18, 224x224, torch, one process on each of {os.cpu_count()} cores, without pause.",
            "`CPU`: of one core, the control process with the vendor's SDK.",
        ),
    )


def _row(load: bool, priority: int, seconds: float, asks: int, bus: Path) -> dict[str, Any]:
    with closing(Remote(emulate)) as arm, closing(Remote(control)) as loop:
        arm.call("begin", str(bus), PIPER, patience=30.0)
        wiring = Wiring("piper", PIPER, {"channel": str(bus), "bus": INTERFACE})
        greeting = loop.call("connect", wiring, ServoSettings(), _STATE_RATE, priority, patience=60.0)
        loop.call("resume", patience=30.0)
        if greeting.warnings and priority:
            raise MeasurementError("; ".join(greeting.warnings))
        _swing(loop, 2.0, [])
        late: list[float] = []
        before, began = cpu_seconds(loop.pid), time.monotonic()
        _swing(loop, seconds, late)
        share = (cpu_seconds(loop.pid) - before) / (time.monotonic() - began)
        there_and_back = _ask(bus, asks)
    return {
        "other load": "inference on every core" if load else "nothing",
        "SCHED_FIFO": "yes" if priority else "no",
        "late": Spread.of(1e3 * np.array(late)),
        "bus round trip": Spread.of(1e3 * np.array(there_and_back)),
        "CPU": f"{100 * share:.0f} %",
    }


def _swing(loop: Remote, seconds: float, late: list[float]) -> None:
    begun = time.monotonic()
    while (now := time.monotonic() - begun) < seconds:
        loop.tell("set_target", MIDDLE + SWING * np.sin(now), 0.0, time.monotonic(), _AIM_S)
        time.sleep(_LOOK_S)
        for told in loop.look():
            late.extend(told.lateness)


def _ask(path: Path, asks: int) -> list[float]:
    took = []
    with SocketBus(str(path), can_filters=[{"can_id": _LIMITS, "can_mask": 0x7FF}]) as bus:
        for _ in range(asks):
            began = time.perf_counter()
            bus.send(
                can.Message(arbitration_id=_ASK_LIMITS, data=bytes([1, 1, 0, 0, 0, 0, 0, 0]), is_extended_id=False)
            )
            if bus.recv(_ANSWER_S) is None:
                raise MeasurementError("the arm does not answer")
            took.append(time.perf_counter() - began)
    return took


@contextmanager
def _inference_on_every_core(folder: Path) -> Iterator[None]:
    with Processes(folder / "load.log") as processes:
        for core in range(os.cpu_count() or 1):
            processes.helper("inference_load", output=folder / f"{core}.json", threads=1)
        processes.sleep(8.0)  # until the networks are there
        yield
