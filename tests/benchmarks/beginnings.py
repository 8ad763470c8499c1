"""How a control loop begins with an arm that is not as its robot file says: rows of the benchmark `safety`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from kc_vla.arm.emulator.bus import INTERFACE
from kc_vla.arm.emulator.frames import limits_frame
from kc_vla.arm.emulator.process import EmulatorProcess
from kc_vla.arm.interface import ArmError
from kc_vla.arm.piper import PiperArm
from kc_vla.arm.scheduling import control_periods
from kc_vla.arm.servo import Servo
from kc_vla.arm.servo_modes import Mode, Report, ServoSettings
from kc_vla.arm.workspace import Workspace
from kc_vla.core.robot import Robot
from tests.support.emulated_piper import running_emulator
from tests.support.piper import LIMITS, PIPER, lengthened

_BLOCKED_S, _RETURN_S, _PARK_S = 0.5, 20.0, 10.0
_SPEED = 1.0
_NARROW = replace(PIPER, name="mine", limits=replace(LIMITS, highest=np.radians([150.0, 180, 0, 100, 10, 120])))
_WRONG_SIGN = replace(PIPER, name="mine", rest=PIPER.rest * np.where(np.arange(6) == 4, -1, 1))
_LONGER = replace(PIPER, links=lengthened(PIPER.links_of(""), 0.05))


def _as_it_is(emulator: EmulatorProcess) -> None:
    """Nothing is wrong with the arm."""


def _turn_joint_6(emulator: EmulatorProcess) -> None:
    body = emulator.arm.body
    body._limits = replace(LIMITS, highest=LIMITS.highest + np.radians([0, 0, 0, 0, 0, 60.0]))  # its hard stops
    body.angles[5] = np.radians(165.0)


def _break_limits(emulator: EmulatorProcess) -> None:
    emulator.arm._limits = lambda motor: limits_frame(motor, -1, -1, 3000)  # type: ignore[method-assign]


@dataclass(frozen=True)
class _Case:
    """What is wrong with the `arm`, by which `robot` it is begun, and whether a person resumes it, or it is parked."""

    arm: Callable[[EmulatorProcess], None]
    robot: Robot = PIPER
    resumed: bool = False
    parked: bool = False
    emulated: Robot = PIPER


BEGINNINGS = {
    "reported limits are -0.1 to -0.1 degrees": _Case(_break_limits),
    "joint 6 is found at 165 degrees, and its limit is 120": _Case(_turn_joint_6),
    "the same, and a person resumes": _Case(_turn_joint_6, resumed=True),
    "robot file narrower by 19 degrees": _Case(_as_it_is, _NARROW),
    "the same, and a person resumes ": _Case(_as_it_is, _NARROW, resumed=True),
    "home pose with a wrong sign, parked": _Case(_as_it_is, _WRONG_SIGN, parked=True),
    "flange 50 mm from ours": _Case(_as_it_is, emulated=_LONGER),
}


def beginning_row(name: str, path: Path) -> dict[str, object]:
    """Begin with that arm and look what is sent. Args: `name` of `BEGINNINGS`; `path` of a bus."""
    case = BEGINNINGS[name]
    with running_emulator(path, case.emulated) as emulator:
        case.arm(emulator)
        begun = emulator.arm.body.angles.copy()
        try:
            with _connected(case, path) as arm:
                said = _words(case, arm)
        except ArmError as error:
            said = f"refused: {str(error).split(':')[0]}"
        watch, way = emulator.watch, np.abs(emulator.arm.body.angles - begun).max()
        return {
            "what goes wrong": name.strip(),
            "the loop": said,
            "after, ms": "-",
            "the arm stands after, ms": "-",
            "goes on for, degrees": f"{np.degrees(way):.1f}",
            "largest step sent, degrees": f"{np.degrees(watch.largest_step):.3f}",
            "lowest flange, m": f"{watch.lowest_flange:.3f}",
        }


@contextmanager
def _connected(case: _Case, path: Path) -> Iterator[PiperArm]:
    arm = PiperArm(case.robot, str(path), INTERFACE, patience=10.0)
    arm.connect()
    try:
        arm.check_identity()
        yield arm
    finally:
        arm.close()


def _words(case: _Case, arm: PiperArm) -> str:
    servo = Servo(arm, ServoSettings(speed=_SPEED), Workspace(arm.kinematics))
    doubt = servo.home.found(arm.read_state().angles)
    servo.resume(time.monotonic(), leads_back=case.resumed)
    report = _stepped(servo, _RETURN_S if case.resumed else _BLOCKED_S, lambda report: report.mode is Mode.HOLD)
    if case.parked:
        servo.park(time.monotonic())
        _stepped(servo, _PARK_S, servo.parked)
        try:
            servo.release()
        except ArmError:
            return f"keeps its power: {doubt.split(',')[0]}"
        return "its power is taken"
    if arm.warnings:
        return f"says: {arm.warnings[0].split(':')[0]}"
    return f"{report.mode}: {report.reason.split(':')[0]}"


def _stepped(servo: Servo, seconds: float, done: Callable[[Report], bool]) -> Report:
    until = time.monotonic() + seconds
    for now, _ in control_periods(ServoSettings.period):
        report = servo.step(now)
        if now > until or done(report):
            return report
    raise AssertionError
