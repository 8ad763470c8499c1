"""A URDF of a robot that has none: the kinematics that the stack moves the arm with, in plain shapes."""

from __future__ import annotations

import warnings
import xml.etree.ElementTree as ET
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from kc_vla.core.mounted_camera import Pose
from kc_vla.core.robot import Robot, Vector
from kc_vla.core.urdf import RobotTree

FLANGE = "flange"
_RADIUS_M, _FINGER_M = 0.03, (0.012, 0.012, 0.05)
_FIRST, _SECOND, _DARK = "0.85 0.85 0.88 1", "0.35 0.55 0.85 1", "0.2 0.2 0.22 1"


def generated_urdf(robot: Robot, firmware: str = "") -> str:
    """Return the text of a URDF of a robot that has links.

    The frames of the joints are `link1` ... `linkN`, as `kc_vla.arm.kinematics.Kinematics` has them; `flange` and the
    robot's tool frame end the chain. One finger hangs on the other; their joint is the gripper's width, m.

    Args:
        robot: the robot.
        firmware: of the arm, which its zero pose goes with, e.g. "S-V1.5-2"; empty for the newest.

    Raises:
        RobotError: the robot has no links.
    """
    chain = robot.links_of(firmware)
    places = [*chain.origins, chain.end]
    urdf = ET.Element("robot", name=robot.name)
    _link(urdf, robot.base_frame, np.zeros(3), places[0][:3, 3], _DARK)
    parent = robot.base_frame
    limits = zip(robot.limits.lowest, robot.limits.highest, robot.limits.speed, strict=True)
    for number, (name, axis, range_) in enumerate(zip(robot.joints, chain.axes, limits, strict=True)):
        child = f"link{number + 1}"
        _link(urdf, child, np.zeros(3), places[number + 1][:3, 3], (_FIRST, _SECOND)[(number + 1) % 2])
        _moving(urdf, name, "revolute", (parent, child), places[number], _words(axis), range_)
        parent = child
    end = chain.end
    for frame in dict.fromkeys((FLANGE, robot.tool_frame)):
        ET.SubElement(urdf, "link", name=frame)
        _joint(urdf, f"{frame}_joint", "fixed", (parent, frame), end)
        parent, end = frame, np.eye(4)
    _fingers(urdf, robot, parent)
    ET.indent(urdf)
    return '<?xml version="1.0"?>\n' + ET.tostring(urdf, encoding="unicode") + "\n"


def _fingers(urdf: ET.Element, robot: Robot, parent: str) -> None:
    """Add two fingers that are the gripper's width apart, along the tool's y axis."""
    if len(robot.gripper) != 1:
        return
    name, travel = robot.gripper[0], (0.0, robot.opening, robot.opening)
    left, right = f"{name}_left_finger", f"{name}_right_finger"
    for finger in (left, right):
        visual = _visual(ET.SubElement(urdf, "link", name=finger), _DARK)
        ET.SubElement(visual, "origin", xyz=_words((0.0, 0.0, _FINGER_M[2] / 2)), rpy="0 0 0")
        ET.SubElement(ET.SubElement(visual, "geometry"), "box", size=_words(_FINGER_M))
    half = (0.0, robot.opening / 2, robot.opening)
    first = _moving(urdf, f"{left}_joint", "prismatic", (parent, left), np.eye(4), "0 1 0", half)
    ET.SubElement(first, "mimic", joint=name, multiplier="0.5", offset="0")
    _moving(urdf, name, "prismatic", (left, right), np.eye(4), "0 -1 0", travel)


def _link(urdf: ET.Element, name: str, start: Vector, end: Vector, colour: str) -> None:
    """Add a link with a ball at its joint and a bar to the next one."""
    link = ET.SubElement(urdf, "link", name=name)
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
    urdf: ET.Element,
    name: str,
    kind: str,
    links: tuple[str, str],
    origin: Pose,
    axis: str,
    limits: tuple[float, float, float],
) -> ET.Element:
    joint = _joint(urdf, name, kind, links, origin)
    ET.SubElement(joint, "axis", xyz=axis)
    low, high, speed = (repr(float(value)) for value in limits)
    ET.SubElement(joint, "limit", lower=low, upper=high, velocity=speed, effort="0")  # a URDF must give one; unknown
    return joint


def _joint(urdf: ET.Element, name: str, kind: str, links: tuple[str, str], origin: Pose) -> ET.Element:
    joint = ET.SubElement(urdf, "joint", name=name, type=kind)
    ET.SubElement(joint, "parent", link=links[0])
    ET.SubElement(joint, "child", link=links[1])
    ET.SubElement(joint, "origin", _origin(origin))
    return joint


def _origin(pose: Pose) -> dict[str, str]:
    """Return the attributes of an origin."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # where several angles give the same turn, any of them will do
        turn = Rotation.from_matrix(pose[:3, :3]).as_euler("xyz")
    return {"xyz": _words(pose[:3, 3]), "rpy": _words(turn)}


def rezeroed_urdf(text: str, moved: Mapping[str, Pose]) -> str:
    """Return the text of a URDF with other zeros of its joints.

    Args:
        text: of the URDF.
        moved: by the name of a joint, the pose of its new frame in the former one, both at position 0.
    """
    urdf, tree = ET.fromstring(text), RobotTree(text)
    origins = {joint.name: joint.origin for joint in tree.joints}
    for joint in urdf.findall("joint"):
        if (name := joint.get("name", "")) in moved:
            for former in joint.findall("origin"):
                joint.remove(former)
            joint.insert(0, ET.Element("origin", _origin(origins[name] @ moved[name])))
    return ET.tostring(urdf, encoding="unicode")


def _words(values: ArrayLike) -> str:
    """Return numbers as text, exact far below what an arm can be."""
    return " ".join(f"{round(float(value), 14) + 0.0:.15g}" for value in np.asarray(values))
