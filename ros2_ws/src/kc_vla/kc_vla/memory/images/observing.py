"""The crops of a message of detections: those that the detector gives, or their boxes in the image of a camera."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.mounted_camera import Pose
from kc_vla.memory.images.crop import CropError, PixelBox, Pixels, projected_box
from kc_vla.memory.images.store import CropStore
from kc_vla.memory.long_term.detections import Detection


@dataclass(frozen=True, eq=False)
class PosedImage:
    """An image, and the camera that took it.

    Attributes:
        pixels: (H, W, 3) uint8, RGB.
        camera: pose (4, 4) of the optical frame in the frame of the detections, m.
        matrix: its intrinsic matrix (3, 3), px.
        model: of the lens distortion, as `camera_info` names it ...
        distortion: ... and its coefficients; empty for none.
    """

    pixels: Pixels
    camera: Pose
    matrix: NDArray[np.float64]
    model: str = "plumb_bob"
    distortion: Sequence[float] = ()


def put_detections(
    store: CropStore, detections: Iterable[Detection], stamp: float, image: PosedImage | None = None
) -> tuple[dict[str, str], list[str]]:
    """Keep a crop of each detection that says which object it is of.

    It is the one that the detector gives, or else what the image of a camera shows. What hides an object from the
    camera is not known here: the box of a hidden one shows what is before it.

    Args:
        store: of the crops.
        detections: with positions in the frame that `image.camera` is in, and sizes along its axes.
        stamp: of the detections, and of the image, s.
        image: of a camera at that time; None: crops of the detector alone.

    Returns:
        By the detector's id of an object the reference for `Unit.image`, and for each that has none, why.
    """
    references, refused = dict[str, str](), list[str]()
    for each in detections:
        try:
            if each.source_id and each.image:
                references[each.source_id] = store.put_file(each.source_id, each.image, stamp)
            elif each.source_id and image is not None:
                references[each.source_id] = store.put(each.source_id, image.pixels, _box(each, image), stamp)
        except CropError as error:
            refused.append(f"no crop of {each.source_id[:40]!r}: {error}")
    return references, refused


def _box(seen: Detection, image: PosedImage) -> PixelBox:
    pose = np.eye(4)
    pose[:3, 3] = seen.position
    height, width = image.pixels.shape[:2]
    return projected_box(pose, seen.size, image.camera, image.matrix, (width, height), image.model, image.distortion)
