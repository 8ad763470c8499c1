"""Faults on demand: what can go wrong with a real arm and its bus, asked for in a word, e.g. "loss 0.2"."""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import replace

from kc_vla.arm.emulator.arm import EmulatedArm
from kc_vla.arm.emulator.bus import ERROR
from kc_vla.arm.emulator.frames import Frame, Stop, StopCode
from kc_vla.arm.piper_models import JOINTS

KINDS = {
    "none": "all is well again",
    "loss": "a share of all frames is lost, 0 to 1",
    "delay": "frames of the arm come so much later, s",
    "silence": "no frame of the arm comes",
    "bus_off": "the controller is off the bus for so long, s, after too many errors; it tells so",
    "unplugged": "the bus goes for so long, s, as when the adapter is pulled out",
    "stuck": "a joint does not turn",
    "unpowered": "a joint loses its power",
    "collision": "a joint feels a collision",
    "hot": "a joint's motor is too hot",
    "teach": "the teach button is pressed",
    "own_stop": "another program stops the arm by the vendor's frame: only a reset frees it",
    "between": "a thing of that width, m, is between the fingers",
    "new_gripper": "the stroke of the gripper is not set, as out of the box: it does not move, and reports 0",
    "supported": "people support the arm: without power it does not fall",
}
_NUMBERS = {
    "loss": (0.0, 1.0),
    "delay": (0.0, 2.0),
    "bus_off": (0.0, 60.0),
    "unplugged": (0.0, 60.0),
    "between": (0.0, 0.2),
}
_OF_JOINTS = frozenset({"stuck", "unpowered", "collision", "hot"})
_HOT, _WARM = 95, 35
_BUS_OFF_FRAMES = (
    Frame(ERROR | 0x204, bytes([0, 0x08, 0, 0, 0, 0, 104, 0])),  # warning: 104 errors in sending
    Frame(ERROR | 0x204, bytes([0, 0x20, 0, 0, 0, 0, 136, 0])),  # passive
    Frame(ERROR | 0x240, bytes([0, 0, 0, 0, 0, 0, 248, 0])),  # off
)
_RESTARTED = Frame(ERROR | 0x100, bytes(8))
"""What a controller tells, see `kc_vla.arm.can_health`."""


class FaultError(ValueError):
    """No such fault; the text says what there is."""


def read_fault(text: str) -> tuple[str, float]:
    """Return one of `KINDS` and its number, 0.0 where it has none.

    Raises:
        FaultError: it cannot be understood.
    """
    kind, _, value = text.strip().partition(" ")
    if kind not in KINDS:
        raise FaultError(f"no fault '{text}': {', '.join(KINDS)}")
    if kind in _NUMBERS:
        return kind, _number(text, value, *_NUMBERS[kind])
    if kind not in _OF_JOINTS:
        if value:
            raise FaultError(f"'{text}': nothing follows '{kind}'")
        return kind, 0.0
    joint = _number(text, value, 1, JOINTS)
    if joint != int(joint):
        raise FaultError(f"'{text}': joints are 1 to {JOINTS}")
    return kind, joint


class Faults:
    """What is wrong now.

    Attributes:
        bus_back_at: monotonic time until which the bus is gone, s.
    """

    def __init__(self, arm: EmulatedArm, seed: int = 0) -> None:
        self._arm = arm
        self._chance = random.Random(seed)
        self._late: deque[tuple[float, Frame]] = deque()
        self._loss = self._delay = 0.0
        self._silent = False
        self._off_until = 0.0
        self._told: list[Frame] = []
        self.bus_back_at = 0.0

    def ask(self, text: str) -> None:
        """Begin a fault, beside those there are; "none" ends all.

        Raises:
            FaultError: it cannot be understood; nothing is changed.
        """
        kind, number = read_fault(text)
        arm = self._arm
        if kind in _OF_JOINTS:
            row = int(number) - 1
            if kind == "stuck":
                arm.body.stuck[row] = True
            elif kind == "unpowered":
                arm.dead[row] = True
            elif kind == "collision":
                arm.collision[row] = True
            else:
                arm.heat[row] = _HOT
        elif kind in _NUMBERS:
            if kind == "loss":
                self._loss = number
            elif kind == "delay":
                self._delay = number
            elif kind == "between":
                arm.between = number
            elif kind == "bus_off":
                self._off_until = time.monotonic() + number
                self._told += _BUS_OFF_FRAMES
            else:
                self.bus_back_at = time.monotonic() + number
        elif kind == "silence":
            self._silent = True
        elif kind == "teach":
            arm.press_teach()
        elif kind == "own_stop":
            arm.receive(Stop(StopCode.STOP, 0))
        elif kind == "supported":
            arm.body.held = True
        elif kind == "new_gripper":
            arm.setting = replace(arm.setting, stroke=0)
        else:
            arm.body.stuck[:] = arm.dead[:] = arm.collision[:] = False
            arm.heat[:] = _WARM
            arm.release_teach()
            arm.body.held, arm.between = False, 0.0
            self._loss = self._delay = self.bus_back_at = 0.0
            self._off_until = min(self._off_until, time.monotonic())
            self._silent = False

    def lost(self) -> bool:
        """Return whether the next frame to the arm is lost."""
        return self._off or self._chance.random() < self._loss

    def pass_on(self, frames: Iterable[Frame]) -> list[Frame]:
        """Return which frames of the arm come out at the other end now."""
        now = time.monotonic()
        told, self._told = self._told, []
        if told or self._off:
            return told  # what the controller tells of itself is not lost
        if self._off_until:
            self._off_until = 0.0
            return [_RESTARTED]
        kept = [] if self._silent else [(now + self._delay, frame) for frame in frames if not self.lost()]
        if not self._delay and not self._late:
            return [frame for _, frame in kept]
        self._late.extend(kept)
        due = []
        while self._late and self._late[0][0] <= now:
            due.append(self._late.popleft()[1])
        return due

    @property
    def _off(self) -> bool:
        return time.monotonic() < self._off_until


def _number(text: str, value: str, low: float, high: float) -> float:
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not low <= number <= high:
        raise FaultError(f"'{text}': a number from {low:g} to {high:g} must follow, e.g. '{text.split()[0]} {high:g}'")
    return number
