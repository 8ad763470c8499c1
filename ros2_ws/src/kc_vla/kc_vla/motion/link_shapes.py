"""The shapes of a robot's links, as its URDF has them: what of the arm could touch something."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import coal
import numpy as np
from scipy.spatial.transform import Rotation

from kc_vla.core.mounted_camera import Pose
from kc_vla.core.robot import Robot
from kc_vla.core.urdf import RobotTree
from kc_vla.description.robot import description_of
from kc_vla.motion.problem import MotionError, MotionProblem


@dataclass(frozen=True, eq=False)
class LinkShape:
    """A shape of a link.

    Attributes:
        link: name of the link.
        joint: number of the arm's joint that moves it, 1 for the first; 0 where it stands still.
        place: pose of the shape in that joint's frame, or in the base frame (4, 4), m.
        geometry: the shape, of coal's.
        finger: it is of a finger of the gripper.
    """

    link: str
    joint: int
    place: Pose
    geometry: Any
    finger: bool

    @property
    def points(self) -> np.ndarray:
        """Return the corners of the box around it (8, 3) in the frame that `place` is in, m."""
        self.geometry.computeLocalAABB()
        box = self.geometry.aabb_local
        low, high = np.asarray(box.min_), np.asarray(box.max_)
        corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
        return np.asarray(self.place[:3, 3] + (low + corners * (high - low)) @ self.place[:3, :3].T)


def link_shapes(robot: Robot, width: float, firmware: str = "") -> list[LinkShape]:
    """Return the shapes of a robot whose gripper is `width`, m, wide.

    They are those of the URDF's `collision`, or of its `visual` where it has none. A mesh counts as its convex hull.

    Raises:
        DescriptionError: the robot has no description that can be used.
        MotionError: a shape cannot be read; the text says which.
    """
    text, tree = description_of(robot, firmware=firmware)
    elements = {link.get("name", ""): link for link in ET.fromstring(text).findall("link")}
    kind = "collision" if any(link.find("collision") is not None for link in elements.values()) else "visual"
    positions = {joint.name: 0.0 for joint in tree.joints if joint.follows[0] == joint.name}
    positions |= {name: width / len(robot.gripper) for name in robot.gripper}
    number = {name: index for index, name in enumerate(robot.joints, 1)}
    base = _pose(tree, robot.base_frame, positions)
    found: list[LinkShape] = []
    for name, element in elements.items():
        way = tree.way(name)
        below = [joint for joint in way if joint.name in number]
        frame = _pose(tree, below[-1].child, positions) if below else base
        in_frame = np.linalg.inv(frame) @ _pose(tree, name, positions)
        joint = number[below[-1].name] if below else 0
        finger = any(each.name in robot.gripper or each.follows[0] in robot.gripper for each in way)
        found += [
            LinkShape(name, joint, in_frame @ place, geometry, finger)
            for place, geometry in _shapes(element.findall(kind), name)
        ]
    return found


def _pose(tree: RobotTree, link: str, positions: Mapping[str, float]) -> Pose:
    pose = tree.pose(link, positions)
    assert pose is not None, link  # every joint that leads has a position
    return pose


def _shapes(elements: Sequence[ET.Element], link: str) -> Iterator[tuple[Pose, Any]]:
    for element in elements:
        place, origin = np.eye(4), element.find("origin")
        if origin is not None:
            place[:3, 3] = _numbers(origin.get("xyz", "0 0 0"), link, 3)
            place[:3, :3] = Rotation.from_euler("xyz", _numbers(origin.get("rpy", "0 0 0"), link, 3)).as_matrix()
        for shape in element.findall("geometry/*"):
            yield place, _geometry(shape, link)


def _geometry(shape: ET.Element, link: str) -> Any:
    if shape.tag == "box":
        return coal.Box(*_numbers(shape.get("size"), link, 3))
    if shape.tag == "cylinder":
        return coal.Cylinder(*_numbers(shape.get("radius"), link, 1), *_numbers(shape.get("length"), link, 1))
    if shape.tag == "sphere":
        return coal.Sphere(*_numbers(shape.get("radius"), link, 1))
    if shape.tag == "mesh":
        return _hull(shape, link)
    raise MotionError(
        MotionProblem.INPUT,
        f"link '{link}' has the shape '{shape.tag}': box, cylinder, sphere and mesh can be kept clear of",
    )


def _hull(shape: ET.Element, link: str) -> Any:
    address = urlparse(shape.get("filename", ""))
    path = Path(unquote(address.path))
    if address.scheme not in ("", "file") or not path.is_file():
        raise MotionError(
            MotionProblem.INPUT,
            f"the mesh {shape.get('filename')} of link '{link}' is not there: name its file in the URDF",
        )
    scale = np.array(_numbers(shape.get("scale", "1 1 1"), link, 3))
    try:
        mesh = coal.MeshLoader().load(str(path), scale)
        mesh.buildConvexHull(True, "Qt")
    except (RuntimeError, ValueError) as error:
        raise MotionError(
            MotionProblem.INPUT, f"the mesh {path} of link '{link}' cannot be read: {' '.join(str(error).split())}"
        ) from error
    return mesh.convex


def _numbers(text: str | None, link: str, count: int) -> list[float]:
    try:
        values = [float(word) for word in (text or "").split()]
    except ValueError:
        values = []
    if len(values) != count or not np.isfinite(values).all():
        raise MotionError(MotionProblem.INPUT, f"a shape of link '{link}' has '{text}' for {count} numbers")
    return values
