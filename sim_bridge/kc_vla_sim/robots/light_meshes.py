"""A copy of a robot description with light visual meshes, for fast drawing.

The robot that ships with ManiSkill carries 560,000 triangles, three quarters of them in the little camera on its
hand; without a GPU they cost more than everything else in a step. Collision shapes, joints and masses stay as they
are, so the physics does not change. The copy lives in the user's cache, in a folder named by the content of all that
went into it, and is made at first use.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

import fast_simplification
import numpy as np
import trimesh

from kc_vla.core.home import cache_home
from kc_vla_sim.errors import MeshCacheError

KEPT_SHARE = 0.12
"""Share of a mesh's triangles that is kept, as long as that is within the limits below."""
FEWEST_TRIANGLES = 150
MOST_TRIANGLES = 2000
KEPT_PIECES = 40
"""Connected pieces of a part that are kept, the largest: a screw inside a housing is never seen."""
CREASE_ANGLE = np.radians(35)
"""Edges sharper than this (rad) stay sharp in the shading."""
_RECIPE = f"5 {KEPT_SHARE} {FEWEST_TRIANGLES} {MOST_TRIANGLES} {KEPT_PIECES} {CREASE_ANGLE:.6f}"


def light_urdf(urdf: Path) -> Path:
    """Return the path of a URDF equal to `urdf` but for light visual meshes, made if it is not in the cache.

    Raises:
        MeshCacheError: the cache folder cannot be written.
    """
    robot = ET.parse(urdf).getroot()
    visuals = _mesh_elements(robot, "visual")
    sources = sorted({urdf.parent / element.attrib["filename"] for element in visuals})
    folder = cache_folder() / _content_key([urdf, *sources])
    if not (folder / urdf.name).exists():
        print("kc_vla_sim: making light robot meshes (once, some seconds) ...", file=sys.stderr, flush=True)
        try:
            _make(urdf, robot, sources, folder)
        except OSError as error:
            raise MeshCacheError(
                f"cannot store the light robot meshes in {folder}: {error.strerror or error}; "
                "free some space or set XDG_CACHE_HOME to a folder that can be written"
            ) from error
    return folder / urdf.name


def cache_folder() -> Path:
    """Return the folder that holds one sub-folder per robot description, after the XDG rules."""
    try:
        return cache_home() / "kc_vla" / "robots"
    except OSError as error:
        raise MeshCacheError(str(error)) from error


def _make(urdf: Path, robot: ET.Element, sources: list[Path], folder: Path) -> None:
    """Write the light copy into `folder`, complete or not at all: several processes may do so at once."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".making-") as work:
        names = {source: f"{source.stem}.glb" for source in sources}
        for source, name in names.items():
            lighten(source, Path(work) / name)
        for element in _mesh_elements(robot, "visual"):
            element.set("filename", names[urdf.parent / element.attrib["filename"]])
        for element in _mesh_elements(robot, "collision"):
            element.set("filename", str(urdf.parent / element.attrib["filename"]))
        ET.ElementTree(robot).write(Path(work) / urdf.name)
        srdf = urdf.with_suffix(".srdf")  # SAPIEN reads the allowed self-collisions from beside the URDF
        if srdf.exists():
            shutil.copy(srdf, work)
        finished = Path(work) / "finished"
        finished.mkdir()
        for path in list(Path(work).iterdir()):
            if path != finished:
                path.rename(finished / path.name)
        try:
            finished.rename(folder)
        except OSError:
            if not (folder / urdf.name).exists():  # otherwise another process was first, with the same content
                raise


def lighten(source: Path, target: Path, color: tuple[int, int, int] = (180, 182, 186)) -> None:
    """Write the mesh `source` to `target` (GLB) with fewer triangles, keeping the color of each part.

    A part without one gets `color`, RGB in 0..255.
    """
    light = trimesh.Scene()
    for part in trimesh.load_scene(source).dump():
        if not isinstance(part, trimesh.Trimesh):
            continue  # points and lines are not drawn
        material = getattr(part.visual, "material", None)
        bare = _largest_pieces(trimesh.Trimesh(part.vertices, part.faces))
        wanted = int(np.clip(KEPT_SHARE * len(bare.faces), FEWEST_TRIANGLES, MOST_TRIANGLES))
        bare = _simplify(bare, wanted)
        if len(bare.faces) > 2 * wanted:  # many small pieces resist: weld what is closer than a millimetre
            bare.merge_vertices(digits_vertex=3)
            bare.update_faces(bare.nondegenerate_faces() & bare.unique_faces())
            bare = _simplify(bare, wanted)
        shaded = trimesh.graph.smooth_shade(bare, angle=CREASE_ANGLE)
        if material is None:
            material = trimesh.visual.material.PBRMaterial(
                baseColorFactor=[*color, 255], metallicFactor=0.0, roughnessFactor=0.5
            )
        shaded.visual = trimesh.visual.TextureVisuals(material=material)
        light.add_geometry(shaded)
    light.export(target, include_normals=True)


def _simplify(mesh: trimesh.Trimesh, wanted: int) -> trimesh.Trimesh:
    """Return `mesh` with about `wanted` triangles, if its shape allows it."""
    if len(mesh.faces) <= wanted:
        return mesh
    vertices, faces = fast_simplification.simplify(mesh.vertices, mesh.faces, target_count=wanted, agg=4)
    return trimesh.Trimesh(vertices, faces)


def _largest_pieces(mesh: trimesh.Trimesh) -> trimesh.Trimesh:
    """Return the `KEPT_PIECES` connected pieces of `mesh` with the largest extent."""
    mesh.merge_vertices()
    piece_of_face = trimesh.graph.connected_component_labels(mesh.face_adjacency, node_count=len(mesh.faces))
    corners = mesh.triangles.reshape(-1, 3)
    piece_of_corner = np.repeat(piece_of_face, 3)
    low = np.full((piece_of_face.max() + 1, 3), np.inf)
    high = -low
    np.minimum.at(low, piece_of_corner, corners)
    np.maximum.at(high, piece_of_corner, corners)
    largest = np.argsort(-np.linalg.norm(high - low, axis=1))[:KEPT_PIECES]
    mesh.update_faces(np.isin(piece_of_face, largest))
    mesh.remove_unreferenced_vertices()
    return mesh


def _mesh_elements(robot: ET.Element, kind: str) -> list[ET.Element]:
    """Return all `<mesh>` elements below `<visual>` or `<collision>`."""
    return robot.findall(f"./link/{kind}/geometry/mesh")


def _content_key(paths: list[Path]) -> str:
    """Return the name for all that goes into a light copy: the recipe, the paths of the meshes and their content."""
    digest = hashlib.sha256(_RECIPE.encode())
    for path in paths:
        digest.update(str(path).encode())  # collision meshes are used from where they are
        digest.update(path.read_bytes())
    return f"{paths[0].stem}-{digest.hexdigest()[:16]}"
