"""The inertias of an arm: what each joint carries, by the `inertial` elements of its URDF."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kc_vla.core.mounted_camera import Pose
from kc_vla.core.robot_model import Robot, RobotError, Vector
from kc_vla.core.untrusted import read_text
from kc_vla.core.urdf import MOST_BYTES, DescriptionError, RobotTree, pose_of

_HEAVIEST = 200.0
"""kg of a link."""
_FARTHEST = 5.0
"""m from a link's frame to its center of mass."""
_ROUNDED = 1e-5
"""By so much, kg m2, rounding in a file may make a moment of inertia negative."""


@dataclass(frozen=True, eq=False)
class Inertia:
    """The rigid bodies that N joints carry, one each: a link with all that is fixed to it.

    Attributes:
        masses: (N,), kg.
        centers: center of mass of each body in the frame of its joint (N, 3), m.
        tensors: moments of inertia about the center of mass, along the axes of the joint's frame (N, 3, 3), kg m2.
    """

    masses: Vector
    centers: Vector
    tensors: Vector


def read_inertia(robot: Robot) -> Inertia:
    """Return the inertias of a robot by its URDF. Fingers of a gripper count at position 0.

    Raises:
        RobotError: they are not known, or cannot be; the text names the link.
    """
    if robot.urdf is None:
        raise RobotError(f"the inertias of robot '{robot.name}' are not known: it has no URDF")
    try:
        text = read_text(robot.urdf, MOST_BYTES)
        return _bodies(RobotTree(text), _inertials(text), robot.joints)
    except (OSError, DescriptionError, ValueError) as error:
        raise RobotError(f"the inertias of robot '{robot.name}' are not known: {robot.urdf.name}: {error}") from error


def _bodies(tree: RobotTree, inertials: dict[str, tuple[float, Pose, Vector]], names: Sequence[str]) -> Inertia:
    count = len(names)
    masses, moments, second = np.zeros(count), np.zeros((count, 3)), np.zeros((count, 3, 3))
    for link, (mass, at, tensor) in inertials.items():
        way = tree.way(link)
        carried = [k for k, joint in enumerate(way) if joint.name in names]
        if not carried:  # it stands with the base
            continue
        pose: Pose = np.eye(4)
        for joint in way[carried[-1] + 1 :]:
            pose = pose @ joint.origin
        pose, row = pose @ at, list(names).index(way[carried[-1]].name)
        center, turned = pose[:3, 3], pose[:3, :3] @ tensor @ pose[:3, :3].T
        masses[row] += mass
        moments[row] += mass * center
        second[row] += turned + mass * _about(center)
    if (without := np.flatnonzero(masses <= 0.0)).size:
        raise ValueError(f"the link that joint '{names[int(without[0])]}' moves has no mass")
    centers = moments / masses[:, None]
    tensors = second - masses[:, None, None] * np.array([_about(center) for center in centers])
    return Inertia(masses, centers, tensors)


def _about(center: Vector) -> Vector:
    """Return the moments of inertia (3, 3) of a unit mass at `center` (3,), m, about the origin, m2."""
    return np.asarray(np.dot(center, center) * np.eye(3) - np.outer(center, center))


def _inertials(text: str) -> dict[str, tuple[float, Pose, Vector]]:
    """Return mass, kg, pose (4, 4), m, and moments of inertia (3, 3), kg m2, of each link that has them."""
    found = {}
    for link in ET.fromstring(text).findall("link"):
        element, name = link.find("inertial"), link.get("name", "")
        if element is not None:
            mass = _number(element, "mass", "value", name)
            if not 0.0 <= mass <= _HEAVIEST:
                raise ValueError(f"link '{name}' has {mass:g} kg: is this g?")
            at = pose_of(element.find("origin"), f"the inertial of link '{name}'")
            if (far := float(np.linalg.norm(at[:3, 3]))) > _FARTHEST:
                raise ValueError(f"link '{name}' has its center of mass {far:g} m away: is this mm?")
            found[name] = mass, at, _tensor(element, name)
    return found


def _tensor(element: ET.Element, name: str) -> Vector:
    axes = ("xx", "xy", "xz", "yy", "yz", "zz")
    xx, xy, xz, yy, yz, zz = (_number(element, "inertia", f"i{pair}", name) for pair in axes)
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    if np.linalg.eigvalsh(tensor).min() < -_ROUNDED:
        raise ValueError(f"link '{name}' has moments of inertia that no body can have")
    return tensor


def _number(element: ET.Element, child: str, key: str, name: str) -> float:
    found = element.find(child)
    text = None if found is None else found.get(key)
    if text is None or not math.isfinite(value := float(text)):
        raise ValueError(f"the inertial of link '{name}' has no finite {key} of its {child}")
    return value
