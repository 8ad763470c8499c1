"""Runs an emulated Piper on its bus: takes commands, lets time pass, sends feedback at the vendor's rates."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kc_vla.arm.emulator.arm import FIRMWARE, EmulatedArm
from kc_vla.arm.emulator.bus import BusServer
from kc_vla.arm.emulator.faults import Faults
from kc_vla.arm.emulator.frames import Frame, FrameError, read_command
from kc_vla.arm.emulator.mit_frames import read_mit
from kc_vla.arm.emulator.setting_frames import read_setting
from kc_vla.arm.emulator.simulated_body import FingerDrive, SimulatedBody
from kc_vla.arm.emulator.watch import Watch
from kc_vla.arm.remote import Calls
from kc_vla.arm.scheduling import PriorityError, take_priority
from kc_vla.core.robot import Robot, Vector

RATE = 200
"""Hz, of the fast feedback and of the motion."""
_SLOW_EVERY = 5
"""Rounds between two words of the joints' drivers: 40 Hz."""
_SHOW_EVERY = 4
_PRIORITY = 40
"""Below the controller's."""


class EmulatorProcess:
    """An arm and its bus.

    Attributes:
        arm: the arm.
        bus: its bus.
        faults: what is wrong with both.
        watch: whether what came was fit for a real arm.
        misunderstood: frames that no Piper understands, the latest reason first.
    """

    def __init__(self, path: Path, robot: Robot, firmware: str = FIRMWARE) -> None:
        """Put an emulated arm on a bus of its own.

        Args:
            path: of the bus.
            robot: which Piper the arm is.
            firmware: that it reports.

        Raises:
            OSError: no bus can be served there.
        """
        self._path = path
        self.arm = EmulatedArm(robot, firmware)
        self.faults, self.watch = Faults(self.arm), Watch(self.arm)
        self.bus = BusServer(path)
        self.misunderstood: list[str] = []

    def run(self, ended: threading.Event, after_round: Callable[[int], None] = lambda number: None) -> None:
        """Live until `ended` is set; then close the bus. Each round ends with `after_round(its number)`."""
        try:
            begin = time.monotonic()
            for number in range(1, 1 << 62):
                due = begin + number / RATE
                while not ended.is_set():
                    self._listen(due - time.monotonic())  # at least once: on a busy machine every round may be late
                    if time.monotonic() >= due:
                        break
                if ended.is_set():
                    return
                self.faults.pass_time()
                self.arm.step(1 / RATE)
                self.watch.moved()
                told = [*self.arm.fast_feedback(), *(self.arm.slow_feedback() if number % _SLOW_EVERY == 0 else ())]
                self.bus.send(self.faults.pass_on(told))
                after_round(number)
        finally:
            self.bus.close()

    def _listen(self, seconds: float) -> None:
        if time.monotonic() < self.faults.bus_back_at:
            self.bus.close()
            time.sleep(max(seconds, 0.0))
            return
        if self.bus.closed:
            self.bus = BusServer(self._path)
        for frame in self.bus.receive(seconds):
            if not self.faults.lost():
                self._take(frame)

    def _take(self, frame: Frame) -> None:
        try:
            command = read_command(frame) or read_mit(frame) or read_setting(frame)
            if command is None:
                return
            if not self.arm.off:
                self.watch.command(command)
            answer = self.arm.receive(command)
        except FrameError as error:
            self.misunderstood.insert(0, str(error))
            return
        self.bus.send(answer)


@dataclass(frozen=True)
class View:
    """What an emulated arm shows of itself.

    Attributes:
        angles: of its joints (6,), rad.
        origins: of their frames in the base frame (6, 3), m.
        powered: which joints have power, (6,).
        opening: of its gripper, m.
        status: in a word.
        watch: what it saw so far, in a line.
        time: steady time of this, s.
        drive: what the motor of its gripper does; None without power.
    """

    angles: Vector
    origins: Vector
    powered: NDArray[np.bool_]
    opening: float
    status: str
    watch: str
    time: float
    drive: FingerDrive | None


class EmulatorService:
    """An emulator in a process of its own: what may be called."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._ended = threading.Event()
        self._process: EmulatorProcess | None = None

    def begin(self, path: str, robot: Robot) -> None:
        """Put an arm on its bus at `path`.

        Raises:
            OSError: no bus can be served there.
        """
        self._process = EmulatorProcess(Path(path), robot)

    def ask(self, fault: str) -> None:
        """Begin a fault beside those that there are, or end all of them with "none".

        Raises:
            FaultError: the text names no fault; nothing changes.
        """
        assert self._process is not None
        self._process.faults.ask(fault)

    def touch(self, body: SimulatedBody) -> None:
        """Take in what the simulated body of the arm touches."""
        assert self._process is not None
        arm = self._process.arm
        arm.gripper.simulated, arm.blocked = body, body.blocked

    def run(self) -> None:
        """Live until the other closes the connection."""
        try:
            take_priority(_PRIORITY)  # a real arm has no other work: let this one run first, if the user may
        except PriorityError as error:
            print(f"the emulated arm may be late: {error}", file=sys.stderr)
        self._calls.answer_until(self, lambda: self._process is not None)
        if self._process is not None:
            self._process.run(self._ended, self._after_round)

    def _after_round(self, number: int) -> None:
        assert self._process is not None
        self._calls.answer(self)
        if self._calls.ended:
            self._ended.set()
        if number % _SHOW_EVERY == 0:
            arm = self._process.arm
            status = arm.status.name.lower().replace("_", " ")
            angles, powered = arm.body.angles.copy(), arm.body.powered.copy()
            origins = arm.kinematics.frames(angles)[:-1, :3, 3]
            seen, now, gripper = str(self._process.watch), time.monotonic(), arm.gripper
            self._calls.show(View(angles, origins, powered, gripper.width, status, seen, now, gripper.drive))


def main() -> None:
    """Run the process; it is started by `kc_vla.arm.remote.Remote`."""
    EmulatorService(Calls(sys.argv[1:])).run()
