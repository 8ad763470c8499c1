"""A robot description (URDF) as a tree of links: where each link is, for positions of the joints."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.errors import StackError
from kc_vla.core.mounted_camera import Pose
from kc_vla.core.untrusted import read_text

MOST_BYTES = 1 << 22
MOST_JOINTS = 2000
"""More than any robot has; the time to read a description grows with the square of it."""
_MOST_TURNED = 6.3
"""rad of rpy."""
_TURNING, _SLIDING, _FIXED = ("revolute", "continuous"), "prismatic", "fixed"


class DescriptionError(StackError):
    """A robot description that is not there or cannot be; the text says what is wrong in it."""


@dataclass(frozen=True, eq=False)
class Placed:
    """Where a frame is.

    Attributes:
        parent, child: names of the frames.
        pose: of the child in the parent (4, 4), m.
    """

    parent: str
    child: str
    pose: Pose


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint of a description.

    Attributes:
        name: of the joint.
        kind: revolute, continuous, prismatic or fixed.
        parent, child: links.
        origin: pose (4, 4) of the child in the parent at position 0, m.
        axis: unit vector (3,) in the child's frame.
        follows: the joint that it mimics, itself for none, with the factor and what is added (rad or m).
        limits: lower and upper position (rad or m) and velocity (rad/s or m/s); None for each that is not given.
    """

    name: str
    kind: str
    parent: str
    child: str
    origin: Pose
    axis: NDArray[np.float64]
    follows: tuple[str, float, float]
    limits: tuple[float | None, float | None, float | None] = (None, None, None)

    @cached_property
    def _across(self) -> NDArray[np.float64]:
        """Return the cross product with the axis, as a matrix (3, 3)."""
        x, y, z = self.axis
        return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])

    def placed(self, position: float) -> Placed:
        """Return where the child is at a position, rad or m."""
        step = np.eye(4)
        if self.kind == _SLIDING:
            step[:3, 3] = self.axis * position
        elif self.kind != _FIXED:
            step[:3, :3] += np.sin(position) * self._across + (1.0 - np.cos(position)) * (self._across @ self._across)
        return Placed(self.parent, self.child, self.origin @ step)


class RobotTree:
    """The links of a robot.

    Attributes:
        root: the link that hangs on no other.
        links: names of all links.
        joints: those that move, in the order of the description.
        standing: those that do not.
        fixed: where the links are that do not move against their parents.
    """

    def __init__(self, text: str) -> None:
        """Read the text of a URDF.

        Raises:
            DescriptionError: it is none, or its links are no tree.
        """
        try:
            robot = ET.fromstring(text)
            _require_bounded(robot)
            self.links = tuple(_name(link) for link in robot.findall("link"))
            joints = [_joint(element) for element in robot.findall("joint")]
        except ET.ParseError as error:
            raise DescriptionError(f"it is no URDF: {error}") from error
        except ValueError as error:
            raise DescriptionError(f"it is no URDF that can be used: {error}") from error
        if not self.links:
            raise DescriptionError("it has no links: is it a xacro? Write a URDF of it first")
        self.root = _root(self.links, joints)
        self.joints = tuple(joint for joint in joints if joint.kind != _FIXED)
        self.standing = tuple(joint for joint in joints if joint.kind == _FIXED)
        self.fixed = tuple(joint.placed(0.0) for joint in self.standing)
        self._above = {joint.child: joint for joint in joints}
        known = {joint.name for joint in self.joints}
        if lost := [joint.name for joint in self.joints if joint.follows[0] not in known]:
            raise DescriptionError(f"joint {lost[0]} mimics a joint that is not there")

    def way(self, link: str) -> list[Joint]:
        """Return the joints from the root to a link, the first of them at the root.

        Raises:
            DescriptionError: there is no such link.
        """
        if link not in self.links:
            raise DescriptionError(f"there is no link '{link}'")
        found: list[Joint] = []
        while link != self.root:
            found.append(self._above[link])
            link = found[-1].parent
        return found[::-1]

    def moved(self, positions: Mapping[str, float]) -> list[Placed]:
        """Return where the links are that move against their parents, at positions of the joints, rad and m.

        Of a joint whose position is not given, or not finite, there is no word.
        """
        places = ((joint, self._position(joint, positions)) for joint in self.joints)
        return [joint.placed(position) for joint, position in places if position is not None]

    def pose(self, link: str, positions: Mapping[str, float]) -> Pose | None:
        """Return the pose (4, 4) of a link in the root's frame, m; None where a position on the way is not known.

        Raises:
            DescriptionError: there is no such link.
        """
        pose: Pose = np.eye(4)
        for joint in self.way(link):
            position = 0.0 if joint.kind == _FIXED else self._position(joint, positions)
            if position is None:
                return None
            pose = pose @ joint.placed(position).pose
        return pose

    @staticmethod
    def _position(joint: Joint, positions: Mapping[str, float]) -> float | None:
        leader, factor, added = joint.follows
        # Where a robot tells what its description has follow another, what it tells counts.
        position = positions.get(joint.name)
        if position is None and leader in positions:
            position = factor * positions[leader] + added
        return position if position is not None and math.isfinite(position) else None


def read_urdf(path: Path) -> str:
    """Return the text of a URDF whose meshes are found from anywhere: a path relative to the file becomes file:///...

    Raises:
        DescriptionError: it cannot be read, or is none.
    """
    try:
        robot = ET.fromstring(read_text(path, MOST_BYTES))
    except OSError as error:
        raise DescriptionError(f"the description {path} cannot be read: {error.strerror}") from error
    except (ET.ParseError, ValueError) as error:
        raise DescriptionError(f"the description {path} is no URDF: {error}") from error
    for mesh in robot.iter("mesh"):
        name = mesh.get("filename", "")
        if "://" not in name:
            mesh.set("filename", (path.parent / name).resolve().as_uri())
    return ET.tostring(robot, encoding="unicode")


def _joint(element: ET.Element) -> Joint:
    name, kind = _name(element), element.get("type", "")
    if kind not in (*_TURNING, _SLIDING, _FIXED):
        raise ValueError(f"joint {name} is of type '{kind}': revolute, continuous, prismatic and fixed are known")
    origin = pose_of(element.find("origin"), f"joint {name}")
    along = element.find("axis")
    axis = _numbers(f"joint {name}", "1 0 0" if along is None else along.get("xyz", "1 0 0"))
    length = math.hypot(*axis.tolist())
    if kind != _FIXED and not 1e-9 <= length <= 1e9:
        raise ValueError(f"joint {name} has an axis of no length, or one without end")
    mimic = element.find("mimic")
    follows = (name, 1.0, 0.0)
    if mimic is not None:
        follows = (mimic.get("joint", ""), float(mimic.get("multiplier", "1")), float(mimic.get("offset", "0")))
    links = _link(element, "parent"), _link(element, "child")
    return Joint(name, kind, *links, origin, axis / (length or 1.0), follows, _limits(name, kind, element))


def _limits(name: str, kind: str, element: ET.Element) -> tuple[float | None, float | None, float | None]:
    limit = element.find("limit")
    if limit is None:
        return None, None, None
    given = [limit.get(key) for key in ("lower", "upper", "velocity")]
    if kind == "continuous":  # it has none, whatever stands there
        given[:2] = None, None
    elif given[0] is not None or given[1] is not None:  # one that is left out is 0
        given[:2] = (value or "0" for value in given[:2])
    lower, upper, velocity = (None if value is None else float(value) for value in given)
    if not all(math.isfinite(value) for value in (lower, upper, velocity) if value is not None):
        raise ValueError(f"joint {name}: a limit is not finite")
    return lower, upper, velocity


def _turned(roll: float, pitch: float, yaw: float) -> NDArray[np.float64]:
    """Return the rotation about the fixed axes x, then y, then z."""
    (cr, cp, cy), (sr, sp, sy) = np.cos([roll, pitch, yaw]), np.sin([roll, pitch, yaw])
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, cr, -sr], [0.0, sr, cr]])
    about_y = np.array([[cp, 0.0, sp], [0.0, 1.0, 0.0], [-sp, 0.0, cp]])
    about_z = np.array([[cy, -sy, 0.0], [sy, cy, 0.0], [0.0, 0.0, 1.0]])
    return np.asarray(about_z @ about_y @ about_x)


def _name(element: ET.Element) -> str:
    if not (name := element.get("name", "")):
        raise ValueError(f"a {element.tag} has no name")
    return name


def _link(joint: ET.Element, end: str) -> str:
    element = joint.find(end)
    if element is None or not element.get("link"):
        raise ValueError(f"joint {joint.get('name')} has no {end}")
    return element.get("link", "")


def pose_of(at: ET.Element | None, what: str) -> Pose:
    """Return the pose (4, 4), m, of an element `origin`; the identity where there is none.

    Args:
        at: the element; None: it is not there.
        what: has this pose, for the text of an error.

    Raises:
        ValueError: a number is missing or not finite, or an angle can only be in degrees.
    """
    origin: Pose = np.eye(4)
    if at is None:
        return origin
    origin[:3, 3] = _numbers(what, at.get("xyz", "0 0 0"))
    angles = _numbers(what, at.get("rpy", "0 0 0"))
    if np.abs(angles).max() > _MOST_TURNED:
        raise ValueError(f"{what} has rpy {at.get('rpy')}, more than a turn: it is in rad, are these degrees?")
    origin[:3, :3] = _turned(*angles.tolist())
    return origin


def _numbers(what: str, text: str) -> NDArray[np.float64]:
    values = np.array([float(word) for word in text.split()])
    if values.shape != (3,) or not np.isfinite(values).all():
        raise ValueError(f"{what}: '{text}' is not three finite numbers")
    return values


def _root(links: tuple[str, ...], joints: list[Joint]) -> str:
    """Return the one link that all others hang on.

    Raises:
        DescriptionError: there is none, or there are several.
    """
    above: dict[str, str] = {}
    _require_once("links", links)
    for joint in joints:
        if joint.child in above:
            raise DescriptionError(f"link {joint.child} hangs on two joints")
        if unknown := {joint.parent, joint.child} - set(links):
            raise DescriptionError(f"joint {joint.name} names the link {min(unknown)}, which is not there")
        above[joint.child] = joint.parent
    roots = [link for link in links if link not in above]
    if len(roots) != 1:
        raise DescriptionError(f"one link must hang on no other, there are {len(roots)}: {', '.join(roots) or 'none'}")
    for link in links:
        seen = {link}
        while link in above:
            link = above[link]
            if link in seen:
                raise DescriptionError(f"link {link} hangs on itself")
            seen.add(link)
    _require_once("joints", tuple(joint.name for joint in joints))
    return roots[0]


def _require_bounded(robot: ET.Element) -> None:
    """Refuse a description that is too large. Raises: DescriptionError."""
    for what in ("joint", "link"):
        if (count := len(robot.findall(what))) > MOST_JOINTS + 1:
            raise DescriptionError(f"it has {count} {what}s, but at most {MOST_JOINTS} joints can be read")


def _require_once(what: str, names: tuple[str, ...]) -> None:
    """Refuse names of which one is there twice. Raises: DescriptionError."""
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        raise DescriptionError(f"several {what} are called '{twice[0]}'")
