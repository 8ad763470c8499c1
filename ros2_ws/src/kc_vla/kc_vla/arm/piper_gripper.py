"""What the gripper of a Piper is set to: out of the box it has no stroke, reports a width of 0 and does not move."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

from kc_vla.arm.claim import claim
from kc_vla.arm.interface import ArmError
from kc_vla.arm.piper_link import PiperLink

PATIENCE_S = 3.0
"""How long an arm may take to answer, s."""
_ANSWER = 0x47E
_QUERY = 4
_POLL_S, _ASK_AGAIN_S = 0.02, 0.2
NOT_SET = (
    "the stroke of the gripper is not set, so that it reports a width of 0 and does not move: end this, and run "
    "'kc-vla setup piper {channel} --do'"
)


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


def read_stroke(link: PiperLink, patience: float) -> GripperStroke | None:
    """Return what the gripper is set to; None where the arm does not say, as with a firmware before S-V1.5-2.

    Args:
        link: to the arm; nobody else sends through it meanwhile.
        patience: s that the arm may take to answer.
    """
    link.forget(_ANSWER)
    asked, until = float("-inf"), time.monotonic() + patience
    while (now := time.monotonic()) < until:
        if link.since(_ANSWER) < patience:
            told = link.GetGripperTeachingPendantParamFeedback().arm_gripper_teaching_param_feedback
            return GripperStroke(int(told.teaching_range_per), int(told.max_range_config), int(told.teaching_friction))
        if now - asked > _ASK_AGAIN_S:
            link.ArmParamEnquiryAndConfig(param_enquiry=_QUERY)
            asked = now
        time.sleep(_POLL_S)
    return None


@contextmanager
def gripper_on(channel: str) -> Iterator[tuple[PiperLink, GripperStroke]]:
    """Open the line to an arm that no controller has, and yield it with what its gripper is set to.

    Args:
        channel: CAN interface, or the path of an emulated arm's bus.

    Raises:
        ArmError: there is no arm, it does not say what its gripper is set to, or a controller has it.
    """
    kind = "kc_vla_socket" if "/" in channel else "socketcan"
    link = PiperLink(channel)
    with closing(claim(channel)):
        link.open(channel, kind)
        try:
            found = read_stroke(link, PATIENCE_S)
            if found is None:
                raise ArmError(
                    f"no arm on '{channel}' says what its gripper is set to: has it power, is the bus up at 1 Mbit/s, "
                    "and is its firmware S-V1.5-2 or newer?"
                )
            yield link, found
        finally:
            link.close()


def set_stroke(link: PiperLink, stroke: int, former: GripperStroke, patience: float = PATIENCE_S) -> None:
    """Set the stroke of the gripper and read it back; what else is set stays as it is.

    Args:
        link: to the arm; nobody else sends through it meanwhile.
        stroke: 70 or 100, mm.
        former: what the gripper is set to.
        patience: s that the arm may take to answer.

    Raises:
        ArmError: the arm does not report that stroke afterwards.
    """
    link.GripperTeachingPendantParamConfig(min(max(former.range, 100), 200), stroke, min(max(former.friction, 1), 10))
    time.sleep(_ASK_AGAIN_S)
    found = read_stroke(link, patience)
    if found is None or found.stroke != stroke:
        what = "nothing" if found is None else f"{found.stroke} mm"
        raise ArmError(
            f"the stroke of {stroke} mm was sent, and the arm reports {what}: switch it off and on, and retry"
        )
