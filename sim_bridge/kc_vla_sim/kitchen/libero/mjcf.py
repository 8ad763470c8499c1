"""Reads what is drawn, and which joints move it, from the MJCF file of a model of LIBERO.

It reads what these files use, in the parser of the standard library: some of them are none that MuJoCo itself reads.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from kc_vla_sim.errors import AssetsError

_DRAWN_GROUP = "1"
Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Visual:
    """A geometry that is drawn.

    Attributes:
        body: name of the body whose joint moves it; empty for what does not move.
        mesh: file of the mesh; None for a primitive.
        shape: "mesh", "box", "capsule", "cylinder" or "sphere".
        size: factors of the mesh along x, y, z, or MuJoCo's half sizes of a primitive, m.
        pose: (4, 4), in the frame of the model, with all joints at 0.
        texture: file; None where there is none.
        colour: red, green, blue and opacity, 0..1.
    """

    body: str
    mesh: Path | None
    shape: str
    size: tuple[float, ...]
    pose: Matrix
    texture: Path | None
    colour: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class ModelJoint:
    """A joint.

    Attributes:
        body: that it moves.
        kind: "hinge" or "slide".
        axis: (3,), in the frame of the model, unit length.
        position: (3,), a point on it, m.
        limits: lower and upper, rad or m.
    """

    body: str
    kind: str
    axis: NDArray[np.float64]
    position: NDArray[np.float64]
    limits: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Model:
    """What a file describes."""

    visuals: tuple[Visual, ...]
    joints: tuple[ModelJoint, ...]


def read_model(path: Path) -> Model:
    """Read a file.

    Raises:
        AssetsError: it is not there, no XML, or names a mesh that it does not have.
    """
    try:
        root = ET.parse(path).getroot()
    except OSError as error:
        raise AssetsError(f"{path} cannot be read: {error.strerror}: install its package again") from error
    except ET.ParseError as error:
        raise AssetsError(f"{path} is no MJCF file: {error}: install its package again") from error
    reader = _Reader(path.parent, root)
    world = root.find("worldbody")
    for body in [] if world is None else world.findall("body"):
        reader.take(body, np.eye(4), "")
    return Model(tuple(reader.visuals), tuple(reader.joints))


class _Reader:
    """Goes through the bodies of a file."""

    def __init__(self, folder: Path, root: ET.Element) -> None:
        self._folder = folder
        self._degrees = all(each.get("angle") != "radian" for each in root.iter("compiler"))
        self._meshes = {each.get("name", ""): each for each in root.iter("mesh")}
        self._materials = {each.get("name", ""): each for each in root.iter("material")}
        # where two textures have one name, the material that follows one means that one
        self._textures: dict[str, str] = {}
        last: dict[str, str] = {}
        for each in root.iter():
            if each.tag == "texture" and each.get("file"):
                last[each.get("name", "")] = each.get("file", "")
            elif each.tag == "material":
                self._textures[each.get("name", "")] = last.get(each.get("texture", ""), "")
        self._classes = {each.get("class", ""): each.find("geom") for each in root.iter("default") if each.get("class")}
        self.visuals: list[Visual] = []
        self.joints: list[ModelJoint] = []

    def take(self, body: ET.Element, frame: Matrix, moved_by: str) -> None:
        """Take a body in the frame of what it belongs to, and all that belongs to it."""
        pose = frame @ _pose(body.attrib, self._degrees)
        for each in body.findall("joint"):
            moved_by = body.get("name", "")
            low, high = _numbers(each.get("range", "0 0"))
            axis = pose[:3, :3] @ _numbers(each.get("axis", "0 0 1"))
            place = (pose @ (*_numbers(each.get("pos", "0 0 0")), 1.0))[:3]
            self.joints.append(
                ModelJoint(moved_by, each.get("type", "hinge"), axis / np.linalg.norm(axis), place, (low, high))
            )
        self.visuals += (visual for each in body.findall("geom") for visual in self._visual(each, pose, moved_by))
        for each in body.findall("body"):
            self.take(each, pose, moved_by)

    def _visual(self, geom: ET.Element, frame: Matrix, moved_by: str) -> Iterator[Visual]:
        default = self._classes.get(geom.get("class", ""))
        said: dict[str, str] = {**({} if default is None else default.attrib), **geom.attrib}
        if said.get("group") != _DRAWN_GROUP:
            return
        shape, mesh, size = said.get("type", "sphere"), None, _numbers(said.get("size", ""))
        if shape == "mesh":
            if (named := self._meshes.get(said.get("mesh", ""))) is None:
                raise AssetsError(f"a model in {self._folder} draws no mesh that it has: '{said.get('mesh', '')}'")
            mesh, size = self._folder / named.get("file", ""), _numbers(named.get("scale", "1 1 1"))
        material = self._materials.get(said.get("material", ""), ET.Element("material"))
        texture = self._folder / file if (file := self._textures.get(said.get("material", ""), "")) else None
        colour = tuple(_numbers(said.get("rgba") or material.get("rgba") or "1 1 1 1"))
        if colour[3] > 0:
            found = texture if texture is not None and texture.is_file() else None
            yield Visual(moved_by, mesh, shape, tuple(size), frame @ _pose(said, self._degrees), found, colour)


def _numbers(text: str) -> list[float]:
    return [float(each) for each in text.split()]


def _pose(said: Mapping[str, str], degrees: bool) -> Matrix:
    pose = np.eye(4)
    pose[:3, 3] = _numbers(said.get("pos", "0 0 0"))
    if "quat" in said:
        pose[:3, :3] = Rotation.from_quat(np.roll(_numbers(said["quat"]), -1)).as_matrix()
    elif "euler" in said:
        pose[:3, :3] = Rotation.from_euler("XYZ", _numbers(said["euler"]), degrees).as_matrix()
    return pose
