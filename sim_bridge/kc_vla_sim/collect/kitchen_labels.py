"""Labels of an image of the kitchen, from what the simulator knows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from kc_vla.datasets.detections.labels import ImageLabel, ObjectLabel, Vector
from kc_vla.memory.images.crop import PixelBox
from kc_vla.perception.vocabulary import DetectionVocabulary
from kc_vla_sim.envs.kitchen import KitchenEnv
from kc_vla_sim.envs.tabletop import ROBOT_BASE
from kc_vla_sim.frame import Capture, GroundTruthObject, VisibleObject

Matrix = NDArray[np.float64]


def kitchen_labels(
    world: KitchenEnv, captures: Mapping[str, Capture], words: DetectionVocabulary, held: str
) -> dict[str, ImageLabel]:
    """Return, by view, what is in the images that were just captured.

    Args:
        world: as it was then.
        captures: of all views.
        words: of the kitchen.
        held: id of the thing in the gripper; empty for none.
    """
    objects = {each.object_id: each for each in world.detections()}
    base = ROBOT_BASE.to_transformation_matrix().astype(float)
    labels = {}
    for view, visible in world.visible(captures).items():
        camera = world._sensors[view].camera
        matrix = camera.get_intrinsic_matrix()[0].cpu().numpy().astype(float)
        extrinsic = np.vstack([camera.get_extrinsic_matrix()[0].cpu().numpy().astype(float)[:3], [0, 0, 0, 1]])
        capture = captures[view]
        height, width = capture.depth.shape
        labels[view] = ImageLabel(
            image="",
            depth="",
            camera=view,
            matrix=matrix,
            pose=np.linalg.inv(base) @ np.linalg.inv(extrinsic),
            size=(width, height),
            objects=tuple(
                _label(world, objects[name], seen, capture, matrix, extrinsic @ base, words, name == held)
                for name, seen in visible.items()
            ),
        )
    return labels


def _label(
    world: KitchenEnv,
    known: GroundTruthObject,
    seen: VisibleObject,
    capture: Capture,
    matrix: Matrix,
    from_base: Matrix,
    words: DetectionVocabulary,
    held: bool,
) -> ObjectLabel:
    x, y, z = (from_base @ (*known.pose.position, 1.0))[:3].tolist()
    u, v = ((matrix @ (x, y, z))[:2] / z).tolist()
    return ObjectLabel(
        object_id=known.object_id,
        object_type=known.object_type,
        box=PixelBox(*map(float, seen.box)),
        visible_share=seen.share,
        pixels=seen.pixels,
        center=(u, v),
        position=(x, y, z),
        size=_extent(world.kitchen.points_of(known.object_id)),
        surface_m=_surface(world, known.object_id, capture, u, v),
        color=known.attributes.get("colour", ""),
        states=_states(known, words),
        held=held,
    )


def _extent(points: Matrix) -> Vector:
    x, y, z = np.ptp(points, axis=0).tolist()
    return x, y, z


def _surface(world: KitchenEnv, name: str, capture: Capture, u: float, v: float) -> float | None:
    """Return the depth of an object's surface at a pixel, m; None where something else is seen there."""
    height, width = capture.depth.shape
    column, row = int(np.floor(u)), int(np.floor(v))
    if not (0 <= column < width and 0 <= row < height):
        return None
    shown = world.kitchen.object_ids().get(int(capture.bodies[row, column]))
    depth = float(capture.depth[row, column])
    return depth if shown == name and depth > 0 else None


def _states(known: GroundTruthObject, words: DetectionVocabulary) -> dict[str, str]:
    also = known.attributes.get("also", "")
    said = {known.state, also} - {""}
    states = {}
    for group in words.groups.get(known.object_type, ()):
        fitting = [state for state in words.states[group] if state in said]
        if fitting or "" in words.states[group]:
            states[group] = fitting[0] if fitting else ""
    return states
