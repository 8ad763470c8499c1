"""Runs an emulated Piper on its bus: takes commands, lets time pass, sends feedback at the vendor's rates."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from kc_vla.arm.emulator.arm import EmulatedArm
from kc_vla.arm.emulator.bus import BusServer
from kc_vla.arm.emulator.frames import Frame, FrameError, read_command

RATE = 200
"""Hz, of the fast feedback and of the motion."""
_SLOW_EVERY = 5
"""Rounds between two words of the joints' drivers: 40 Hz."""


class EmulatorProcess:
    """An arm and its bus.

    Attributes:
        arm: the arm.
        bus: its bus.
        misunderstood: frames that no Piper understands, the latest reason first.
    """

    def __init__(self, path: Path) -> None:
        """Args: `path` of the bus.

        Raises:
            OSError: no bus can be served there.
        """
        self.arm = EmulatedArm()
        self.bus = BusServer(path)
        self.misunderstood: list[str] = []

    def run(self, ended: threading.Event) -> None:
        """Live until `ended` is set; then close the bus."""
        try:
            begin = time.monotonic()
            for number in range(1, 1 << 62):
                due = begin + number / RATE
                while (left := due - time.monotonic()) > 0 and not ended.is_set():
                    for frame in self.bus.receive(left):
                        self._take(frame)
                if ended.is_set():
                    return
                self.arm.step(1 / RATE)
                self.bus.send(self.arm.fast_feedback())
                if number % _SLOW_EVERY == 0:
                    self.bus.send(self.arm.slow_feedback())
        finally:
            self.bus.close()

    def _take(self, frame: Frame) -> None:
        try:
            command = read_command(frame)
        except FrameError as error:
            self.misunderstood.insert(0, str(error))
            return
        if command is not None:
            self.bus.send(self.arm.receive(command))
