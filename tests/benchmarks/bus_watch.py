"""The arm of a running graph, seen on its bus."""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import can
import numpy as np

from kc_vla.arm.emulator.bus import SocketBus
from kc_vla.core.robot import Vector

from .measuring import MeasurementError

FEEDBACK_S = 0.005
_JOINT_FEEDBACK = 0x2A5
"""First of three frames, two joints each, thousandths of a degree."""
_PATIENCE_S = 60.0


class Watch:
    """Reads along on the arm's bus."""

    def __init__(self, join: Callable[[], SocketBus]) -> None:
        """Args: `join` the bus; it may go, and come again."""
        self._join = join
        self._seen: list[tuple[float, Vector]] = []

    def read(self, over: threading.Event) -> None:
        """Keep the joint angles that the arm tells."""
        angles = np.zeros(6)
        while not over.is_set():
            with suppress(can.CanOperationError, OSError), self._join() as bus:
                self._read(bus, angles, over)
            time.sleep(FEEDBACK_S)

    def _read(self, bus: SocketBus, angles: Vector, over: threading.Event) -> None:
        while not over.is_set():
            message = bus.recv(0.1)
            if message is None:
                continue
            pair = message.arbitration_id - _JOINT_FEEDBACK
            angles[2 * pair : 2 * pair + 2] = np.radians(np.array(struct.unpack(">ii", message.data)) / 1e3)
            if pair == 2:
                self._seen.append((time.monotonic(), angles.copy()))

    def since(self, begun: float) -> tuple[Vector, Vector]:
        """Times (N), s, and joint angles (N, 6), rad, from then on."""
        seen = [item for item in list(self._seen) if item[0] >= begun]
        return np.array([when for when, _ in seen]), np.array([angles for _, angles in seen])


@contextmanager
def watching(channel: str) -> Iterator[Watch]:
    ids = [_JOINT_FEEDBACK + pair for pair in range(3)]
    filters = [{"can_id": number, "can_mask": 0x7FF} for number in ids]
    over = threading.Event()
    with _joined(channel, filters):
        watch = Watch(lambda: SocketBus(channel, can_filters=filters))
    thread = threading.Thread(target=watch.read, args=(over,))
    thread.start()
    try:
        yield watch
    finally:
        over.set()
        thread.join()


def _joined(channel: str, filters: list[dict[str, int]]) -> SocketBus:
    until = time.monotonic() + _PATIENCE_S
    while not Path(channel).exists():
        if time.monotonic() > until:
            raise MeasurementError(f"there is no emulated arm on {channel}")
        time.sleep(0.1)
    return SocketBus(channel, can_filters=filters)
