"""The arm in a robot description: the chain of its joints from the base frame to the tool frame."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kc_vla.core.chain import Chain
from kc_vla.core.mounted_camera import Pose
from kc_vla.core.robot_numbers import LONGEST
from kc_vla.core.urdf import DescriptionError, Joint, RobotTree

TURNING = ("revolute", "continuous")


def arm_of(tree: RobotTree, names: Sequence[str], base: str, tool: str) -> tuple[Chain, list[Joint]]:
    """Return the chain of an arm, and the joints of the description that it consists of.

    Args:
        tree: description of the robot.
        names: joints of the arm, from the base to the tool.
        base, tool: frames that the chain begins and ends with.

    Raises:
        DescriptionError: there is no such joint or frame, the joints are no chain, or one of them cannot turn.
    """
    known = {joint.name: joint for joint in tree.joints} | {joint.name: joint for joint in tree.standing}
    if lost := [name for name in names if name not in known]:
        raise DescriptionError(f"there is no joint '{lost[0]}': it has {', '.join(known) or 'none'}")
    for name in names:
        _check(known[name])
    if lost := [frame for frame in (base, tool) if frame not in tree.links]:
        raise DescriptionError(f"there is no link '{lost[0]}', which is base_frame or tool_frame")
    up, down = tree.way(base), tree.way(tool)
    while up and down and up[0] is down[0]:
        up, down = up[1:], down[1:]
    if moving := [joint.name for joint in up if joint.kind != "fixed"]:
        raise DescriptionError(f"joint '{moving[0]}' moves base_frame '{base}' itself: name a link in front of it")
    between = [joint for joint in down if joint.kind != "fixed"]
    found = [joint.name for joint in between]
    if found != list(names):
        raise DescriptionError(_difference(found, list(names), base, tool))
    origins, place = [], np.asarray(np.linalg.inv(_folded(up)), float)
    for joint in down:
        place = place @ joint.origin
        if joint.kind != "fixed":
            origins.append(place)
            place = np.eye(4)
    if (far := max(float(np.linalg.norm(pose[:3, 3])) for pose in (*origins[1:], place))) > LONGEST:
        raise DescriptionError(f"two of its joints are {far:g} m apart: it is in m, is this mm?")
    return Chain(np.array(origins), np.array([joint.axis for joint in between]), place), between


def _folded(joints: Sequence[Joint]) -> Pose:
    pose: Pose = np.eye(4)
    for joint in joints:
        pose = pose @ joint.origin
    return pose


def _check(joint: Joint) -> None:
    if joint.kind not in TURNING:
        raise DescriptionError(
            f"joint '{joint.name}' is {joint.kind}, but only {' and '.join(TURNING)} joints can be joints of the arm: "
            "those of a gripper belong to the section 'gripper'"
        )
    if joint.follows[0] != joint.name:
        raise DescriptionError(f"joint '{joint.name}' mimics '{joint.follows[0]}': leave it out of 'joints'")


def _difference(found: list[str], names: list[str], base: str, tool: str) -> str:
    where = f"from base_frame '{base}' to tool_frame '{tool}'"
    if sorted(found) == sorted(names):
        return f"the joints {where} are in another order: write them as {', '.join(found)}"
    if extra := [name for name in found if name not in names]:
        return f"the joint '{extra[0]}' lies {where}: name it in 'joints'"
    lost = next(name for name in names if name not in found)
    return f"the joint '{lost}' does not lie {where}"
