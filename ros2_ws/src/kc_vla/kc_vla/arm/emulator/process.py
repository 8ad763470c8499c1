"""Runs an emulated Piper on its bus: takes commands, lets time pass, sends feedback at the vendor's rates."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from kc_vla.arm.emulator.arm import EmulatedArm
from kc_vla.arm.emulator.bus import BusServer
from kc_vla.arm.emulator.faults import Faults
from kc_vla.arm.emulator.frames import Frame, FrameError, read_command
from kc_vla.arm.emulator.watch import Watch

RATE = 200
"""Hz, of the fast feedback and of the motion."""
_SLOW_EVERY = 5
"""Rounds between two words of the joints' drivers: 40 Hz."""


class EmulatorProcess:
    """An arm and its bus.

    Attributes:
        arm: the arm.
        bus: its bus.
        faults: what is wrong with both.
        watch: whether what came was fit for a real arm.
        misunderstood: frames that no Piper understands, the latest reason first.
    """

    def __init__(self, path: Path) -> None:
        """Args: `path` of the bus.

        Raises:
            OSError: no bus can be served there.
        """
        self._path = path
        self.arm = EmulatedArm()
        self.faults, self.watch = Faults(self.arm), Watch(self.arm)
        self.bus = BusServer(path)
        self.misunderstood: list[str] = []

    def run(self, ended: threading.Event) -> None:
        """Live until `ended` is set; then close the bus."""
        try:
            begin = time.monotonic()
            for number in range(1, 1 << 62):
                due = begin + number / RATE
                while (left := due - time.monotonic()) > 0 and not ended.is_set():
                    self._listen(left)
                if ended.is_set():
                    return
                self.arm.step(1 / RATE)
                self.watch.moved()
                told = [*self.arm.fast_feedback(), *(self.arm.slow_feedback() if number % _SLOW_EVERY == 0 else ())]
                self.bus.send(self.faults.pass_on(told))
        finally:
            self.bus.close()

    def _listen(self, seconds: float) -> None:
        if time.monotonic() < self.faults.bus_back_at:
            self.bus.close()
            time.sleep(seconds)
            return
        if self.bus.closed:
            self.bus = BusServer(self._path)
        for frame in self.bus.receive(seconds):
            if not self.faults.lost():
                self._take(frame)

    def _take(self, frame: Frame) -> None:
        try:
            command = read_command(frame)
        except FrameError as error:
            self.misunderstood.insert(0, str(error))
            return
        if command is not None:
            self.watch.command(command)
            self.bus.send(self.arm.receive(command))
