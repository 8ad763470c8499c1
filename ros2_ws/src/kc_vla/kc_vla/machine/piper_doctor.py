"""A look at a Piper: what it is set to and how it is, a line for each thing. It asks, and enables and moves nothing.

While a controller has the arm it does not even ask: it listens, and says what is not known so.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kc_vla.arm.claim import is_claimed
from kc_vla.arm.home_pose import HomePose
from kc_vla.arm.interface import ArmError, UnfitArmError
from kc_vla.arm.kinematics import Kinematics
from kc_vla.arm.outside import outside
from kc_vla.arm.piper_bench import PiperBench, bench_of
from kc_vla.arm.piper_firmware import firmware_of
from kc_vla.arm.piper_flange import misplaced
from kc_vla.arm.piper_gripper import NOT_HOMED
from kc_vla.arm.piper_models import JOINTS, limits_differ, require_limits, require_model, require_piper
from kc_vla.arm.piper_mount import require_mount
from kc_vla.arm.piper_role import ArmRole, why_silent
from kc_vla.arm.piper_status import driver_faults, status_words
from kc_vla.arm.piper_unfinished import NOT_SET, unprotected
from kc_vla.core.robot import Robot, RobotError, load_robot
from kc_vla.machine.finding import Finding, Level

_NO_OPTION = "the arm does not report it, and the robot file does not say it"
_TEACHING = 2
_MODES = {0: "standby", 1: "obeys the bus", _TEACHING: "teach mode"}


def look_at_piper(channel: str, name: str) -> list[Finding]:
    """Return a line for each thing of the Piper on a CAN interface.

    Args:
        channel: CAN interface, or the path of an emulated arm's bus.
        name: robot file that it is to have.
    """
    try:
        robot = load_robot(name)
        require_piper(robot)
        require_mount(robot, str(robot.driver.options.get("mount", "")))
    except (RobotError, UnfitArmError) as error:
        return [Finding("robot file", Level.FAIL, str(error), "correct the robot file, or choose another with --robot")]
    busy = is_claimed(channel)
    try:
        with bench_of(channel, owned=False) as bench:
            return list(_look(bench, robot, busy))
    except ArmError as error:
        return [Finding("bus", Level.FAIL, str(error), f"kc-vla setup can {channel} --do")]


def _look(bench: PiperBench, robot: Robot, busy: bool) -> Iterator[Finding]:
    setup = f"kc-vla setup piper {bench.channel}"
    role = bench.role()
    if role is not ArmRole.FOLLOWER:
        do = f"{setup} --role follower --do" if role is ArmRole.LEADER else "look at its supply, cable and adapter"
        yield Finding("role", Level.FAIL, f"{role}: {why_silent(bench.link, bench.channel)}", do)
        return
    yield Finding("role", Level.OK, "follower: it reports its state, and takes commands")
    if busy:
        do = "the lines that have to be asked for are left out; end the controller to see them"
        yield Finding("controller", Level.WARN, "a controller has the arm: this look only listens", do)
    yield _status(bench)
    yield from _motors(bench)
    firmware = ""
    if not busy:
        finding, firmware = _firmware(bench)
        yield finding
        yield _limits(bench, robot, setup)
    yield from _pose(bench, robot, firmware)
    if not busy:
        yield _collision(bench, setup)
    yield _gripper(bench, robot, setup, busy)
    options = robot.driver.options
    yield _unreported("mount", str(options.get("mount", "")), f"down: {robot.down_axis}")
    yield _unreported("end load", str(options.get("load", "")))


def _status(bench: PiperBench) -> Finding:
    status = bench.link.GetArmStatus().arm_status
    word, mode = int(status.arm_status), int(status.ctrl_mode)
    words = status_words(word)
    what = f"{words or 'normal'}; {_MODES.get(mode, f'mode {mode}')}"
    if not words and mode != _TEACHING:
        return Finding("status", Level.OK, what)
    return Finding("status", Level.WARN, what, "docs/safety.md, 'A stop that came from the arm itself'")


def _motors(bench: PiperBench) -> Iterator[Finding]:
    try:
        powered = bench.powered()
    except ArmError as error:
        yield Finding("motors", Level.FAIL, str(error), "switch the arm off, look at its cables, switch it on")
        return
    drivers = bench.link.GetArmLowSpdInfoMsgs()
    motors = [getattr(drivers, f"motor_{joint}") for joint in range(1, JOINTS + 1)]
    faults = driver_faults([motor.foc_status for motor in motors])
    volts, heat = min(motor.vol for motor in motors) / 10, max(motor.motor_temp for motor in motors)
    on = "no motor has power" if not any(powered) else f"{sum(powered)} of {JOINTS} motors have power"
    what = f"{on}; {volts:.1f} V, up to {heat} degrees C"
    if faults:
        yield Finding(
            "motors", Level.FAIL, f"{what}; {'; '.join(faults)}", "end what uses the arm, and look at that joint"
        )
    elif any(powered) and not all(powered):
        yield Finding(
            "motors", Level.WARN, what, "support the arm before you do anything: it holds itself in part only"
        )
    else:
        yield Finding("motors", Level.OK, what)


def _firmware(bench: PiperBench) -> tuple[Finding, str]:
    """Return the line of the firmware, and its name; empty where it is not understood."""
    try:
        told = bench.firmware()
    except ArmError as error:
        return Finding("firmware", Level.FAIL, str(error), "switch the arm off and on"), ""
    if known := firmware_of(told):
        return Finding("firmware", Level.OK, known), known
    do = "its zero pose is assumed to be the newest: compare a pose with a ruler before the arm moves"
    return Finding("firmware", Level.WARN, f"'{told[:60]}' is not understood", do), ""


def _limits(bench: PiperBench, robot: Robot, setup: str) -> Finding:
    try:
        reported = bench.limits()
        require_limits(reported, robot)
        require_model(reported, robot)
    except UnfitArmError as error:
        return Finding("limits", Level.FAIL, str(error), f"{setup} --factory-limits --do, or the right --robot")
    except ArmError as error:
        return Finding("limits", Level.FAIL, str(error), "switch the arm off and on")
    if differs := limits_differ(reported, robot):
        return Finding("limits", Level.OK, f"the narrower count: {differs}")
    return Finding("limits", Level.OK, f"those of robot '{robot.name}'")


def _pose(bench: PiperBench, robot: Robot, firmware: str) -> Iterator[Finding]:
    angles = bench.angles()
    told = ", ".join(f"{angle:.1f}" for angle in np.degrees(angles).tolist())
    kinematics = Kinematics(robot.links_of(firmware))
    home = HomePose(robot.rest, robot.limits, kinematics, robot.down)
    if why := outside(angles, robot.limits):
        do = "docs/safety.md, 'An arm outside of its limits'; a zero that is lost: kc-vla setup piper --joint-zero"
        yield Finding("joints", Level.WARN, f"{told} degrees; {why}", do)
    elif home.lies(angles):
        yield Finding("joints", Level.OK, f"{told} degrees: at its home pose")
    else:
        yield Finding("joints", Level.OK, f"{told} degrees: not at its home pose")
    if why := misplaced(bench.link.flange(), angles, firmware, robot):
        yield Finding("flange", Level.WARN, why, "correct the robot file, or remove the tool length from the arm")
    else:
        yield Finding("flange", Level.OK, "where the robot file has it")


def _collision(bench: PiperBench, setup: str) -> Finding:
    try:
        levels = bench.levels()
    except ArmError as error:
        return Finding("collision", Level.WARN, str(error), "switch the arm off and on")
    told = f"levels {', '.join(map(str, levels))}"
    if blind := unprotected(levels):
        return Finding("collision", Level.WARN, f"{told}: {blind}", f"{setup} --do")
    return Finding("collision", Level.OK, told)


def _gripper(bench: PiperBench, robot: Robot, setup: str, busy: bool) -> Finding:
    report = bench.gripper()
    if not report.there:
        return Finding("gripper", Level.WARN, "no gripper answers", "look at its cable, if there is one")
    what = f"{report.width * 1e3:.1f} mm, {report.in_words()}"
    if report.errors:
        return Finding(
            "gripper", Level.WARN, what, "remove the cause; the controller clears it when it enables the arm"
        )
    try:
        stroke = robot.opening * 1e3 if busy else bench.stroke().stroke
    except ArmError as error:
        return Finding("gripper", Level.WARN, f"{what}; {error}", "the controller runs without")
    if not stroke:
        return Finding("gripper", Level.FAIL, NOT_SET, f"{setup} --do")
    if not report.homed:
        return Finding("gripper", Level.WARN, f"{what}: {NOT_HOMED}", f"{setup} --gripper-zero --do")
    if abs(stroke - robot.opening * 1e3) > 1.0:
        do = f"{setup} --stroke, or 'width' in the robot file"
        return Finding(
            "gripper", Level.WARN, f"stroke {stroke} mm, and {robot.opening * 1e3:.0f} in the robot file", do
        )
    return Finding("gripper", Level.OK, f"stroke {stroke:.0f} mm, {what}")


def _unreported(name: str, value: str, more: str = "") -> Finding:
    if not value:
        said = f"{_NO_OPTION}{f' ({more})' if more else ''}: it stays as it is set"
        return Finding(name, Level.OK, said)
    return Finding(name, Level.OK, f"'{value}' in the robot file, sent at enabling; the arm does not report it")
