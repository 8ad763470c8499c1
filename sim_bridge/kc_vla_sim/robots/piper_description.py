"""The description of the simulated Piper: that of its robot file, drawn with the vendor's meshes.

Links, joints, limits, masses and inertias stay those of robots/urdf/piper.urdf. Its simple shapes, which planned
motions keep clear, become what touches things. The two fingers move apart by two joints of their own, since the
robot file's one joint, the gripper's whole width, makes the right finger hang at the left one.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from copy import deepcopy
from pathlib import Path

import numpy as np

from kc_vla.core.files import digest, write_whole
from kc_vla.core.robot import Robot
from kc_vla_sim.robots.light_meshes import cache_folder
from kc_vla_sim.robots.piper_meshes import mesh_folder

LEFT, RIGHT = "gripper_left_finger", "gripper_right_finger"
FINGER_JOINTS = (f"{LEFT}_joint", f"{RIGHT}_joint")
"""Each moves by half of the gripper's width, m."""
TIP_FRAME = "gripper_tip"
"""A frame between the fingers, where they hold things."""
_TIP_M = 0.125
"""From the flange to there: the fingers end 15 mm further on."""
_FINGERS_M = 0.13503
"""From the flange to the frames of the fingers, in the vendor's description."""
_ZERO = np.radians(2)
"""By which the vendor's older zero of joint 2 differs, and with it the frame of that link's mesh."""
_HALF, _FLAT = np.pi, np.pi / 2
MESHES: dict[str, tuple[str, tuple[float, float, float], float]] = {
    "robot_base": ("base_link", (0, 0, 0), 0.0),
    "link1": ("link1", (0, 0, -_FLAT), 0.0),
    "link2": ("link2", (0, 0, _ZERO - 0.13578661580516), 0.0),
    "link3": ("link3", (0, 0, 1.759), 0.0),
    "link4": ("link4", (0, 0, _HALF), 0.0),
    "link5": ("link5", (0, 0, _HALF), 0.0),
    "tool": ("link6_1", (0, 0, 0), 0.0),
    LEFT: ("link7", (_FLAT, 0, 0), _FINGERS_M - 0.135),
    RIGHT: ("link8", (-_FLAT, 0, 0), _FINGERS_M - 0.135),
}
"""The mesh of each link: its name, how its frame is turned in that of the link (roll, pitch, yaw, rad), and how far it
is shifted along the link's z, m."""


def simulated_urdf(robot: Robot) -> Path:
    """Return the path of the description, written into the user's cache if it is not there.

    Args:
        robot: the Piper, with a description of its own.

    Raises:
        RobotMeshError: its meshes cannot be fetched.
        MeshCacheError: there is no cache folder.
    """
    assert robot.urdf is not None
    root = ET.parse(robot.urdf).getroot()
    meshes = mesh_folder()
    for link in root.findall("link"):
        _dress(link, meshes)
    _part_fingers(root, robot)
    ET.SubElement(root, "link", name=TIP_FRAME)
    _joint(root, f"{TIP_FRAME}_joint", "fixed", (robot.tool_frame, TIP_FRAME), (0, 0, _TIP_M))
    text = ET.tostring(root, encoding="unicode")
    path = cache_folder() / f"piper-{digest(text)[:16]}.urdf"
    if not path.exists():
        write_whole(path, text)
    return path


def _dress(link: ET.Element, meshes: Path) -> None:
    """Let the shapes of a link touch things, and let its mesh be seen."""
    for visual in link.findall("visual"):
        link.remove(visual)
        collision = deepcopy(visual)
        collision.tag = "collision"
        for material in collision.findall("material"):
            collision.remove(material)
        link.append(collision)
    if (found := MESHES.get(link.attrib["name"])) is not None:
        name, turn, shift = found
        visual = ET.SubElement(link, "visual")
        ET.SubElement(visual, "origin", xyz=f"0 0 {shift}", rpy=" ".join(map(str, turn)))
        ET.SubElement(ET.SubElement(visual, "geometry"), "mesh", filename=str(meshes / f"{name}.glb"))


def _part_fingers(root: ET.Element, robot: Robot) -> None:
    """Replace the joints of the fingers by two that begin at the tool."""
    places = {}
    for joint in root.findall("joint"):
        child, origin = joint.find("child"), joint.find("origin")
        if child is not None and origin is not None and child.attrib["link"] in (LEFT, RIGHT):
            places[child.attrib["link"]] = tuple(map(float, origin.attrib["xyz"].split()))
            root.remove(joint)
    for name, finger, way in zip(FINGER_JOINTS, (LEFT, RIGHT), (1, -1), strict=True):
        joint = _joint(root, name, "prismatic", (robot.tool_frame, finger), places[LEFT])
        ET.SubElement(joint, "axis", xyz=f"0 {way} 0")
        ET.SubElement(joint, "limit", lower="0", upper=str(robot.opening / 2), effort="0", velocity="1")


def _joint(root: ET.Element, name: str, kind: str, links: tuple[str, str], at: tuple[float, ...]) -> ET.Element:
    """Add a joint between two links, at a place in the first."""
    joint = ET.SubElement(root, "joint", name=name, type=kind)
    ET.SubElement(joint, "parent", link=links[0])
    ET.SubElement(joint, "child", link=links[1])
    ET.SubElement(joint, "origin", xyz=" ".join(map(str, at)), rpy="0 0 0")
    return joint
