"""Questions that a Piper answers: its limits, firmware, collision levels and gripper. None of them changes anything."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kc_vla.arm.interface import ArmError
from kc_vla.arm.piper_firmware import firmware_of
from kc_vla.arm.piper_link import PiperLink
from kc_vla.arm.piper_models import JOINTS
from kc_vla.core.robot import JointLimits

_LIMITS, _LEVELS, _STROKE, _TAKEN = 0x473, 0x47B, 0x47E, 0x476
_ASK_LEVELS, _ASK_STROKE = 2, 4
_POLL_S, _ASK_AGAIN_S = 0.02, 0.2
_FIRMWARE_AGAIN_S = 0.3
UNASKED = 3
"""The end load of a frame 0x477 that only asks: not valid, so that it stays as it is."""


@dataclass(frozen=True)
class GripperStroke:
    """What a gripper is set to.

    Attributes:
        range: of a teaching pendant, percent.
        stroke: of the gripper, mm; 0: none is set.
        friction: of a teaching pendant.
    """

    range: int
    stroke: int
    friction: int


def wait(condition: Callable[[], bool], patience: float) -> bool:
    """Return whether a condition came true within some s."""
    until = time.monotonic() + patience
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(_POLL_S)
    return True


def asked(link: PiperLink, answer: int, ask: Callable[[], None], patience: float, right: Callable[[], bool]) -> bool:
    """Ask again and again until the right answer has come; return whether it did.

    Args:
        link: to the arm; nobody else sends through it meanwhile.
        answer: id of the frame that answers.
        ask: sends the question.
        patience: s that the arm may take.
        right: whether the answer that came is the one to this question.
    """
    link.forget(answer)
    asked_at = -np.inf

    def answered() -> bool:
        nonlocal asked_at
        if np.isfinite(link.since(answer)) and right():
            return True
        if time.monotonic() - asked_at > _ASK_AGAIN_S:
            ask()
            asked_at = time.monotonic()
        return False

    return wait(answered, patience)


def read_stroke(link: PiperLink, patience: float) -> GripperStroke | None:
    """Return what the gripper is set to; None where the arm does not say, as with a firmware before S-V1.5-2."""
    if not asked(link, _STROKE, lambda: _ask(link, _ASK_STROKE), patience, lambda: True):
        return None
    told = link.GetGripperTeachingPendantParamFeedback().arm_gripper_teaching_param_feedback
    return GripperStroke(int(told.teaching_range_per), int(told.max_range_config), int(told.teaching_friction))


def read_levels(link: PiperLink, patience: float) -> tuple[int, ...] | None:
    """Return the collision level of each joint, 0 for no detection; None where the arm does not say."""
    if not asked(link, _LEVELS, lambda: _ask(link, _ASK_LEVELS), patience, lambda: True):
        return None
    told = link.GetCrashProtectionLevelFeedback().crash_protection_level_feedback
    return tuple(int(getattr(told, f"joint_{joint}_protection_level")) for joint in range(1, JOINTS + 1))


def read_limits(link: PiperLink, patience: float) -> JointLimits:
    """Return the limits of all joints, rad and rad/s, which are asked for one after the other.

    The SDK's getter for all of them returns those of the last one six times.

    Raises:
        ArmError: a joint does not say.
    """
    rows = []
    for motor in range(1, JOINTS + 1):

        def ask(motor: int = motor) -> None:
            link.SearchMotorMaxAngleSpdAccLimit(motor, 1)

        def right(motor: int = motor) -> bool:
            told = link.GetCurrentMotorAngleLimitMaxVel().current_motor_angle_limit_max_vel
            return int(told.motor_num) == motor

        if not asked(link, _LIMITS, ask, patience, right):
            raise ArmError(f"joint {motor} does not tell its limits")
        told = link.GetCurrentMotorAngleLimitMaxVel().current_motor_angle_limit_max_vel
        rows.append((told.min_angle_limit / 10, told.max_angle_limit / 10, told.max_joint_spd / 1e3))
    lowest, highest, speed = np.array(rows, float).T
    return JointLimits(np.radians(lowest), np.radians(highest), speed)


def read_firmware(link: PiperLink, patience: float) -> str:
    """Return the firmware, as a name that is known or as the arm reports it.

    It is asked until two answers are the same: of one whose end was lost an older firmware would be read.

    Raises:
        ArmError: the arm does not say.
    """
    heard: list[str] = []

    def sure() -> bool:
        if answer := link.firmware.answer(time.monotonic()):
            heard.append(firmware_of(answer) or answer)
        if answer or link.firmware.age(time.monotonic()) > _FIRMWARE_AGAIN_S:
            link.ask_firmware()
        return len(heard) > 1 and heard[-1] == heard[-2]

    if not wait(sure, patience):
        raise ArmError("the arm does not tell its firmware")
    return heard[-1]


def taken(link: PiperLink, setting: int, send: Callable[[], None], patience: float) -> bool | None:
    """Send a setting once; return whether the arm set a joint's zero by it; None where it does not answer at all.

    Args:
        link: to the arm.
        setting: id of the frame that is sent.
        send: sends it.
        patience: s that the arm may take.
    """
    link.forget(_TAKEN)
    send()

    def answered() -> bool:
        told = link.GetRespInstruction().instruction_response
        return bool(np.isfinite(link.since(_TAKEN))) and int(told.instruction_index) == setting & 0xFF

    if not wait(answered, patience):
        return None
    return bool(link.GetRespInstruction().instruction_response.is_set_zero_successfully == 1)


def _ask(link: PiperLink, what: int) -> None:
    link.ArmParamEnquiryAndConfig(param_enquiry=what, set_end_load=UNASKED)
