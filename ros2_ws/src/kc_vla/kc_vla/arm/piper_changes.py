"""What a Piper can be set to, each as a change: what was found, what would be sent, and what the arm says afterwards.

A change is sent once, to an arm whose motors have no power, and read back. What the arm does not report is said so.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kc_vla.arm.interface import ArmError
from kc_vla.arm.piper_bench import PiperBench
from kc_vla.arm.piper_models import JOINTS, limits_differ
from kc_vla.arm.piper_mount import LOADS, MOUNTS
from kc_vla.arm.piper_queries import UNASKED
from kc_vla.arm.piper_role import ArmRole
from kc_vla.arm.piper_unfinished import NOT_SET, unprotected
from kc_vla.core.robot import Robot

LEVEL = 5
"""Collision level that is offered. The vendor's documents disagree whether a higher one is more or less sensitive: one
in the middle is far from the worst of either."""
_SET, _NO_ACCELERATION = 0xAE, 0x7FFF
_LEADER, _FOLLOWER = 0xFA, 0xFC
_CAN_CONTROL, _MOVE_JOINTS, _NO_SPEED = 1, 1, 0
_FACTORY = 2
_GRIPPER_TORQUE, _GRIPPER_OFF = 1000, 0
_CLOSED, _AT_ZERO = 5e-4, np.radians(0.2)
"""How far from 0 a gripper, m, and a joint, rad, may be that were just set to it."""
_SETTLES_S = 0.5
_KEEPS = "the arm keeps it, and nothing moves"


@dataclass(frozen=True)
class Change:
    """One thing that an arm is set to.

    Attributes:
        found: what it is set to now, in a line.
        sends: what would be sent, in a line; empty where nothing needs to be.
        warns: what a person has to know or do before, line by line.
        do: sends it and returns what the arm says afterwards; None where nothing needs to be sent.
        each_time: a person is asked even where they said yes to all.
    """

    found: str
    sends: str = ""
    warns: tuple[str, ...] = ()
    do: Callable[[], str] | None = None
    each_time: bool = False


def stroke(bench: PiperBench, wanted: int) -> Change:
    """Return the change of the gripper's stroke to `wanted`, 70 or 100 mm; what else is set with it stays."""
    bench.require_state()
    former = bench.stroke()
    found = f"stroke of the gripper: {former.stroke} mm" if former.stroke else NOT_SET
    if former.stroke == wanted:
        return Change(found)

    def do() -> str:
        kept = min(max(former.range, 100), 200), wanted, min(max(former.friction, 1), 10)
        bench.send(0x47D, lambda: bench.link.GripperTeachingPendantParamConfig(*kept))
        if (now := bench.stroke()).stroke != wanted:
            raise ArmError(
                f"the stroke of {wanted} mm was sent, and the arm reports {now.stroke} mm: switch it off and on, retry"
            )
        return f"the arm reports a stroke of {wanted} mm"

    return Change(found, f"frame 0x47D, a stroke of {wanted} mm; {_KEEPS}", do=do)


def gripper_zero(bench: PiperBench) -> Change:
    """Return the change that makes the present width of the gripper its zero."""
    bench.require_state()
    if not bench.stroke().stroke:
        return Change(f"{NOT_SET}: set it first, its zero afterwards")
    report = bench.gripper()
    if not report.there:
        raise ArmError("no gripper answers: look at its cable")
    knows = "knows its zero" if report.homed else "does not know its zero"
    found = f"gripper: reports {report.width * 1e3:.1f} mm, and {knows}"

    def do() -> str:
        bench.require_no_power()
        bench.link.GripperCtrl(0, _GRIPPER_TORQUE, _GRIPPER_OFF, _SET)
        time.sleep(_SETTLES_S)
        now = bench.gripper()
        if abs(now.width) > _CLOSED or not now.homed:
            raise ArmError(
                f"the zero was sent, and the gripper reports {now.width * 1e3:.1f} mm: its zero is not set. Switch the "
                "arm off and on, close the fingers, and run this again"
            )
        return f"the gripper reports {now.width * 1e3:.1f} mm, and knows its zero"

    return Change(
        found,
        "frame 0x159 without power for the gripper, and its present width as zero; the fingers do not move",
        ("close the fingers by hand now, until they touch: where they are becomes 0",),
        do,
        each_time=True,
    )


def collision(bench: PiperBench, wanted: int | None) -> Change:
    """Return the change of the collision level of all joints; None offers one where a joint detects nothing."""
    bench.require_state()
    levels = bench.levels()
    blind = unprotected(levels)
    found = f"collision levels of joint 1 to {JOINTS}: {', '.join(map(str, levels))}" + (f". {blind}" if blind else "")
    level = LEVEL if wanted is None else wanted
    if levels == (level,) * JOINTS or (wanted is None and not blind):
        return Change(found)
    target = (level,) * JOINTS if wanted is not None else tuple(each or level for each in levels)

    def do() -> str:
        bench.send(0x47A, lambda: bench.link.CrashProtectionConfig(*target))
        if (now := bench.levels()) != target:
            raise ArmError(f"levels {target} were sent, and the arm reports {now}: switch it off and on, and retry")
        return f"the arm reports the collision levels {', '.join(map(str, now))}"

    warns = (
        ("CAREFUL: level 0 switches the detection off: the arm presses on what it meets, also on a person",)
        if not level
        else (
            "the vendor's documents disagree whether a higher level is more or less sensitive: "
            "afterwards hold a hand in the way of a slow motion, and see that the arm stops",
        )
    )
    return Change(found, f"frame 0x47A, levels {', '.join(map(str, target))}; {_KEEPS}", warns, do)


def load(bench: PiperBench, wanted: str) -> Change:
    """Return the change of the end load to `wanted`, none, half or full; no arm reports it."""
    bench.require_state()

    def do() -> str:
        bench.send(0x477, lambda: bench.link.ArmParamEnquiryAndConfig(0, 0, 0, _SET, LOADS[wanted]))
        return (
            f"the arm confirmed the end load '{wanted}'; it does not report it. Write 'load: {wanted}' into the driver "
            "of your robot file: the controller then sends it whenever it enables the arm"
        )

    return Change("end load: the arm does not report it", f"frame 0x477, end load '{wanted}'; nothing moves", (), do)


def mount(bench: PiperBench, wanted: str) -> Change:
    """Return the change of the installation position to `wanted`; no arm reports it."""
    bench.require_state()

    def do() -> str:
        bench.require_no_power()
        bench.link.MotionCtrl_2(_CAN_CONTROL, _MOVE_JOINTS, _NO_SPEED, 0, 0, MOUNTS[wanted])
        time.sleep(_SETTLES_S)
        if int(bench.link.GetArmStatus().arm_status.ctrl_mode) != _CAN_CONTROL:
            raise ArmError(
                "the installation position was sent, and the arm does not obey the bus: it is not set. Release the "
                "teach button or reset the arm (docs/safety.md), then run this again"
            )
        return f"sent; the arm obeys the bus, and does not report its installation position '{wanted}'"

    return Change(
        "installation position: the arm does not report it",
        f"frame 0x151, position '{wanted}' and a speed of 0; no motor is enabled, and nothing moves",
        (
            "the arm holds its own weight by it: a wrong one lets it sag or lift where it is enabled",
            "the vendor's documents do not say whether the arm keeps it: where the robot file says 'mount', the "
            "controller sends it whenever it enables the arm",
        ),
        do,
    )


def joint_zero(bench: PiperBench, joint: int) -> Change:
    """Return the change that makes the present angle of a joint, 1 to 6, its zero."""
    bench.require_state()
    before = float(np.degrees(bench.angles()[joint - 1]))

    def do() -> str:
        is_set = bench.send(0x475, lambda: bench.link.JointConfig(joint, _SET, 0, _NO_ACCELERATION, 0))
        time.sleep(_SETTLES_S)
        now = float(bench.angles()[joint - 1])
        if not is_set or abs(now) > _AT_ZERO:
            raise ArmError(
                f"the zero of joint {joint} was sent, and the arm did not set it: it reports {np.degrees(now):.2f} "
                "degrees. Do not enable it; hold the joint still without power, and run this again"
            )
        return f"the arm confirmed it; joint {joint} reports {np.degrees(now):.2f} degrees, before {before:.2f}"

    return Change(
        f"joint {joint}: reports {before:.2f} degrees",
        f"frame 0x475 for joint {joint}, its present angle as zero; nothing moves",
        (
            "support the arm: a joint without power gives way as soon as it is touched",
            f"turn joint {joint} by hand to its zero mark, and hold it there; a wrong zero moves the joint's limits, "
            "and the arm then collides with itself or the table",
            "afterwards the arm's calibration, its home pose and all that was recorded with it fit no longer",
        ),
        do,
        each_time=True,
    )


def factory_limits(bench: PiperBench, robot: Robot) -> Change:
    """Return the change of all joint limits, top speeds and accelerations to those from the factory."""
    bench.require_state()
    differs = limits_differ(bench.limits(), robot)
    found = f"joint limits: {differs or f'those of the robot file {robot.name}'}"

    def do() -> str:
        send = bench.link.ArmParamEnquiryAndConfig
        bench.send(0x477, lambda: send(0, _FACTORY, 0, 0, UNASKED))
        time.sleep(_SETTLES_S)
        return (
            f"the arm confirmed it; joint limits: {limits_differ(bench.limits(), robot) or 'those of the robot file'}"
        )

    return Change(
        found,
        f"frame 0x477, limits, top speed and acceleration of all joints as from the factory; {_KEEPS}",
        ("narrower limits that were set in this arm are lost: set them in the robot file instead",),
        do,
    )


def role(bench: PiperBench, wanted: ArmRole) -> Change:
    """Return the change of what the arm is: one that follows commands, or one that leads another arm."""
    now = bench.role()
    if now is ArmRole.SILENT:
        raise ArmError(f"no arm answers on '{bench.channel}': has it power, and is the bus up at 1 Mbit/s?")
    if now is wanted:
        return Change(f"role: {now}")

    def do() -> str:
        if now is ArmRole.FOLLOWER:  # a leader does not say whether its motors have power
            bench.require_no_power()
        bench.link.MasterSlaveConfig(_LEADER if wanted is ArmRole.LEADER else _FOLLOWER, 0, 0, 0)
        time.sleep(_SETTLES_S)
        if (found := bench.role()) is not wanted:
            raise ArmError(
                f"NOT FINISHED: the role '{wanted}' was sent, and the arm still is a {found}. Support it, switch it "
                f"off and on, and look with 'kc-vla setup piper {bench.channel} --role {wanted}'"
            )
        return f"the arm is a {wanted}"

    leads = (
        "CAREFUL: a leader obeys no command and reports no state, and it commands every other arm on its bus",
        "it then turns by hand: have it lie, or support it",
    )
    follows = (
        "support the arm: what its motors do when it leaves its role is not documented",
        "it may have to be switched off and on before it reports its state",
    )
    return Change(f"role: {now}", f"frame 0x470, role '{wanted}'", leads if wanted is ArmRole.LEADER else follows, do)
