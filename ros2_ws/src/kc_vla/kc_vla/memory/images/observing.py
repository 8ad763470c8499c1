"""The crops of a message of detections: each detection's box in the image that a camera took at that time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.mounted_camera import Pose
from kc_vla.memory.images.crop import CropError, Pixels, projected_box
from kc_vla.memory.images.store import CropStore
from kc_vla.memory.long_term.detections import Detection


@dataclass(frozen=True, eq=False)
class PosedImage:
    """An image, and the camera that took it.

    Attributes:
        pixels: (H, W, 3) uint8, RGB.
        stamp: s.
        camera: pose (4, 4) of the optical frame in the frame of the detections, m.
        matrix: its intrinsic matrix (3, 3), px.
        model: of the lens distortion, as `camera_info` names it ...
        distortion: ... and its coefficients; empty for none.
    """

    pixels: Pixels
    stamp: float
    camera: Pose
    matrix: NDArray[np.float64]
    model: str = "plumb_bob"
    distortion: Sequence[float] = ()


def put_detections(
    store: CropStore, image: PosedImage, detections: Iterable[Detection]
) -> tuple[dict[str, str], list[str]]:
    """Keep what an image shows of each detection that says which object it is of.

    What hides an object from the camera is not known here: the box of a hidden one shows what is before it.

    Args:
        store: of the crops.
        image: taken when the detections were seen.
        detections: with positions in the frame that `image.camera` is in, and sizes along its axes.

    Returns:
        By the detector's id of an object the reference for `Unit.image`, and for each that has none, why.
    """
    references, refused = dict[str, str](), list[str]()
    height, width = image.pixels.shape[:2]
    for each in detections:
        if not each.source_id:
            continue
        pose = np.eye(4)
        pose[:3, 3] = each.position
        try:
            box = projected_box(
                pose, each.size, image.camera, image.matrix, (width, height), image.model, image.distortion
            )
            references[each.source_id] = store.put(each.source_id, image.pixels, box, image.stamp)
        except CropError as error:
            refused.append(f"no crop of {each.source_id[:40]!r}: {error}")
    return references, refused
