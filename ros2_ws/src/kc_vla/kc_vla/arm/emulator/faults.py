"""Faults on demand: what can go wrong with a real arm and its bus, asked for in a word, e.g. "loss 0.2"."""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from kc_vla.arm.emulator.arm import EmulatedArm
from kc_vla.arm.emulator.bus import ERROR
from kc_vla.arm.emulator.frames import Frame, Stop, StopCode
from kc_vla.arm.piper_models import JOINTS
from kc_vla.core.compliance import Payload
from kc_vla.core.robot import RobotError

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
    "gripper_current": "the gripper reports too much current: it has no power until its error is cleared",
    "gripper_lost": "the cable of the gripper breaks: it reports nothing, and has no power",
    "gripper_unhomed": "the gripper does not know its zero",
    "gripper_zero": "the closed gripper reports that width, m",
    "unprotected": "the collision level of every joint is 0, as out of the box: no collision is detected",
    "zero_lost": "the zero of a joint is 5 degrees off",
    "broken_limits": "the arm reports -0.1 degrees as both limits of every joint, as users have seen",
    "leader": "a pendant or another program makes the arm a leader: it sends commands, and obeys none",
    "power_cut": "the arm is switched off for so long, s: it falls, and is on again without power for its motors",
    "pushed": "a hand turns joint 1 with that torque, N m; the arm gives way while it is compliant",
    "payload": "a thing of that mass, kg, hangs at the flange; it counts while the arm is compliant",
    "supported": "people support the arm: without power it does not fall",
}
_NUMBERS = {
    "loss": (0.0, 1.0),
    "delay": (0.0, 2.0),
    "bus_off": (0.0, 60.0),
    "unplugged": (0.0, 60.0),
    "between": (0.0, 0.2),
    "gripper_zero": (0.0, 0.02),
    "power_cut": (0.0, 60.0),
    "pushed": (-20.0, 20.0),
    "payload": (0.0, 5.0),
}
_OF_JOINTS = frozenset({"stuck", "unpowered", "collision", "hot", "zero_lost"})
_OFF_ZERO = np.radians(5.0)
_BROKEN = np.radians(-0.1)
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
        self._silent = self._has_hand = False
        self._off_until = self._on_again_at = 0.0
        self._told: list[Frame] = []
        self.bus_back_at = 0.0

    def ask(self, text: str) -> None:
        """Begin a fault, beside those there are; "none" ends all.

        Raises:
            FaultError: it cannot be understood, or needs inertias that are not known; nothing is changed.
        """
        kind, number = read_fault(text)
        if kind in _OF_JOINTS:
            self._of_joint(kind, int(number) - 1)
        elif kind in ("pushed", "payload"):
            self._of_hand(kind, number)
        elif kind in _NUMBERS:
            self._of_number(kind, number)
        elif kind == "none":
            self._end()
        else:
            self._of_arm(kind)

    def _of_joint(self, kind: str, row: int) -> None:
        arm = self._arm
        match kind:
            case "stuck":
                arm.body.stuck[row] = True
            case "unpowered":
                arm.dead[row] = True
            case "collision":
                arm.collision[row] = True
            case "zero_lost":
                arm.zero[row] += _OFF_ZERO
            case _:
                arm.heat[row] = _HOT

    def _of_hand(self, kind: str, number: float) -> None:
        try:
            dynamics = self._arm.body.dynamics
        except RobotError as error:
            raise FaultError(f"'{kind}': {error}") from error
        self._has_hand = True
        if kind == "pushed":
            dynamics.hand[0] = number
        else:
            dynamics.payload = Payload(number)

    def _of_number(self, kind: str, number: float) -> None:
        now = time.monotonic()
        match kind:
            case "loss":
                self._loss = number
            case "delay":
                self._delay = number
            case "between":
                self._arm.gripper.between = number
            case "gripper_zero":
                self._arm.gripper.zero = -number
            case "power_cut":
                self._arm.switch_off()
                self._on_again_at = now + number
            case "bus_off":
                self._off_until = now + number
                self._told += _BUS_OFF_FRAMES
            case _:
                self.bus_back_at = now + number

    def _of_arm(self, kind: str) -> None:
        arm = self._arm
        match kind:
            case "silence":
                self._silent = True
            case "teach":
                arm.press_teach()
            case "own_stop":
                arm.receive(Stop(StopCode.STOP, 0))
            case "leader":
                arm.lead()
            case "supported":
                arm.body.held = True
            case "gripper_current":
                arm.gripper.fail()
            case "gripper_lost":
                arm.gripper.silent = True
            case "gripper_unhomed":
                arm.gripper.homed = False
            case "unprotected":
                arm.levels = (0,) * JOINTS
            case "broken_limits":
                broken = np.full(JOINTS, _BROKEN)
                arm.limits = replace(arm.limits, lowest=broken, highest=broken)
            case _:
                arm.gripper.setting = replace(arm.gripper.setting, stroke=0)

    def _end(self) -> None:
        """End what has a cause from outside; what the arm is set to, and an error that it remembers, stays."""
        arm = self._arm
        arm.body.stuck[:] = arm.dead[:] = arm.collision[:] = False
        arm.heat[:] = _WARM
        arm.release_teach()
        if self._has_hand:
            arm.body.dynamics.hand[:], arm.body.dynamics.payload = 0.0, Payload()
        arm.body.held, arm.gripper.between, arm.gripper.silent = False, 0.0, False
        self._loss = self._delay = self.bus_back_at = self._on_again_at = 0.0
        self._off_until = min(self._off_until, time.monotonic())
        self._silent = False

    def pass_time(self) -> None:
        """Switch the arm on again where its supply is back; call it once in each round."""
        if self._arm.off and time.monotonic() >= self._on_again_at:
            self._arm.off = False

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
