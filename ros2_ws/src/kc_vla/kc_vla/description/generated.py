"""A URDF out of a rig's table of links: the kinematics that the stack moves the arm with, in plain shapes."""

from __future__ import annotations

import warnings
import xml.etree.ElementTree as ET

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from kc_vla.core.mounted_camera import Pose
from kc_vla.core.rig import Rig, Vector

FLANGE = "flange"
_RADIUS_M, _FINGER_M = 0.03, (0.012, 0.012, 0.05)
_FIRST, _SECOND, _DARK = "0.85 0.85 0.88 1", "0.35 0.55 0.85 1", "0.2 0.2 0.22 1"


def generated_urdf(rig: Rig, firmware: str = "") -> str:
    """The text of a URDF of a rig that has links.

    The frames of the joints are `link1` ... `linkN`, as `kc_vla.arm.kinematics.Kinematics` has them; `flange` and the
    rig's tool frame are at the last one. One finger hangs on the other, and their joint is the gripper's opening, m.

    Args:
        rig: the robot.
        firmware: of the arm, which its zero pose goes with, e.g. "S-V1.5-2"; empty for the newest.

    Raises:
        RigError: the rig has no links.
    """
    table = rig.links_of(firmware)
    places = [_origin(row) for row in table]
    robot = ET.Element("robot", name=rig.name)
    _link(robot, rig.base_frame, np.zeros(3), places[0][:3, 3], _DARK)
    parent = rig.base_frame
    limits = zip(rig.limits.lowest, rig.limits.highest, rig.limits.speed, strict=True)
    for number, (name, place, (low, high, speed)) in enumerate(zip(rig.joints, places, limits, strict=True), 1):
        child = f"link{number}"
        end = places[number][:3, 3] if number < len(places) else np.zeros(3)
        _link(robot, child, np.zeros(3), end, (_FIRST, _SECOND)[number % 2])
        _moving(robot, name, "revolute", (parent, child), place, "0 0 1", (low, high, speed))
        parent = child
    for frame in dict.fromkeys((FLANGE, rig.tool_frame)):
        ET.SubElement(robot, "link", name=frame)
        _joint(robot, f"{frame}_joint", "fixed", (parent, frame), np.eye(4))
        parent = frame
    _fingers(robot, rig, parent)
    ET.indent(robot)
    return '<?xml version="1.0"?>\n' + ET.tostring(robot, encoding="unicode") + "\n"


def _origin(row: Vector) -> Pose:
    """The pose of a joint's frame in the one before, at angle 0, out of a row of the table."""
    a, alpha, d, offset = row
    pose: Pose = np.eye(4)
    pose[:3, :3] = (Rotation.from_rotvec([alpha, 0.0, 0.0]) * Rotation.from_rotvec([0.0, 0.0, offset])).as_matrix()
    pose[:3, 3] = a, -d * np.sin(alpha), d * np.cos(alpha)
    return pose


def _fingers(robot: ET.Element, rig: Rig, parent: str) -> None:
    """Two fingers that are the gripper's opening apart, along the tool's y axis."""
    if len(rig.gripper) != 1:
        return
    name, travel = rig.gripper[0], (0.0, rig.opening, rig.opening)
    left, right = f"{name}_left_finger", f"{name}_right_finger"
    for finger in (left, right):
        visual = _visual(ET.SubElement(robot, "link", name=finger), _DARK)
        ET.SubElement(visual, "origin", xyz=_words((0.0, 0.0, _FINGER_M[2] / 2)), rpy="0 0 0")
        ET.SubElement(ET.SubElement(visual, "geometry"), "box", size=_words(_FINGER_M))
    half = (0.0, rig.opening / 2, rig.opening)
    first = _moving(robot, f"{left}_joint", "prismatic", (parent, left), np.eye(4), "0 1 0", half)
    ET.SubElement(first, "mimic", joint=name, multiplier="0.5", offset="0")
    _moving(robot, name, "prismatic", (left, right), np.eye(4), "0 -1 0", travel)


def _link(robot: ET.Element, name: str, start: Vector, end: Vector, colour: str) -> None:
    """A link with a ball at its joint and a bar to the next one."""
    link = ET.SubElement(robot, "link", name=name)
    visual = _visual(link, colour)
    ET.SubElement(visual, "origin", xyz=_words(start), rpy="0 0 0")
    ET.SubElement(ET.SubElement(visual, "geometry"), "sphere", radius=_words([_RADIUS_M * 1.2]))
    way = end - start
    length = float(np.linalg.norm(way))
    if length < _RADIUS_M:
        return
    visual = _visual(link, colour)
    across = float(np.hypot(way[0], way[1]))
    turn = (0.0, float(np.arctan2(across, way[2])), float(np.arctan2(way[1], way[0])))
    ET.SubElement(visual, "origin", xyz=_words((start + end) / 2), rpy=_words(turn))
    ET.SubElement(ET.SubElement(visual, "geometry"), "cylinder", radius=_words([_RADIUS_M]), length=_words([length]))


def _visual(link: ET.Element, colour: str) -> ET.Element:
    visual = ET.SubElement(link, "visual")
    material = ET.SubElement(visual, "material", name=f"colour_{colour.replace(' ', '_').replace('.', '')}")
    ET.SubElement(material, "color", rgba=colour)
    return visual


def _moving(
    robot: ET.Element,
    name: str,
    kind: str,
    links: tuple[str, str],
    origin: Pose,
    axis: str,
    limits: tuple[float, float, float],
) -> ET.Element:
    joint = _joint(robot, name, kind, links, origin)
    ET.SubElement(joint, "axis", xyz=axis)
    low, high, speed = (f"{value:.6g}" for value in limits)
    ET.SubElement(joint, "limit", lower=low, upper=high, velocity=speed, effort="0")  # a URDF must give one; unknown
    return joint


def _joint(robot: ET.Element, name: str, kind: str, links: tuple[str, str], origin: Pose) -> ET.Element:
    joint = ET.SubElement(robot, "joint", name=name, type=kind)
    ET.SubElement(joint, "parent", link=links[0])
    ET.SubElement(joint, "child", link=links[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # where several angles give the same turn, any of them will do
        turn = Rotation.from_matrix(origin[:3, :3]).as_euler("xyz")
    ET.SubElement(joint, "origin", xyz=_words(origin[:3, 3]), rpy=_words(turn))
    return joint


def _words(values: ArrayLike) -> str:
    """Numbers as text, exact far below what an arm can be."""
    return " ".join(f"{float(value) + 0.0:.12g}" for value in np.asarray(values))
