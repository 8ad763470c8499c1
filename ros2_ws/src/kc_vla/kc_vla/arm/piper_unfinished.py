"""What a Piper lacks that comes out of its box, in words: what a person should know before it moves."""

from __future__ import annotations

from kc_vla.arm.piper_gripper import ANSWERS_S, NOT_HOMED, gripper_of
from kc_vla.arm.piper_link import PiperLink
from kc_vla.arm.piper_queries import read_levels, read_stroke

NOT_SET = "the stroke of the gripper is not set, so that it reports a width of 0 and does not move"


def unfinished(link: PiperLink, channel: str) -> tuple[str, ...]:
    """Ask an arm what it is set to, and return what is missing.

    Args:
        link: to the arm; nobody else sends through it meanwhile.
        channel: its CAN interface, for what the person is to type.
    """
    setup = f"kc-vla setup piper {channel}"
    gripper, levels = read_stroke(link, ANSWERS_S), read_levels(link, ANSWERS_S)
    lacks = []
    if gripper is not None and not gripper.stroke:
        lacks.append(f"{NOT_SET}: end this, and run '{setup} --do'")
    elif not (report := gripper_of(link)).there:
        lacks.append("no gripper answers: skills cannot grasp; look at its cable if there is one")
    elif not report.homed:
        lacks.append(f"{NOT_HOMED}: end this, and run '{setup} --gripper-zero --do'")
    if levels is not None and (blind := unprotected(levels)):
        lacks.append(f"{blind}: a person in its way is pressed on. End this, and run '{setup} --do'")
    return tuple(lacks)


def unprotected(levels: tuple[int, ...]) -> str:
    """Return which joints do not detect a collision, by the collision levels; empty if all do."""
    joints = [str(joint) for joint, level in enumerate(levels, 1) if not level]
    if not joints:
        return ""
    if len(joints) == len(levels):
        return "the collision level of all joints is 0: the arm detects no collision"
    many = "s" if len(joints) > 1 else ""
    return f"the collision level of joint{many} {', '.join(joints)} is 0: no collision is detected there"
