"""What a camera measures in one rendering: colors, depth, and which body each pixel shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla_sim.frame import DepthImage, Image

MILLIMETER = 0.001
"""The shaders give positions in whole millimeters."""


@dataclass(frozen=True, eq=False)
class Capture:
    """One rendering of a camera.

    Attributes:
        image: colors (H, W, 3).
        depth: along the optical axis (H, W), m; 0 where there is nothing.
        bodies: number of the body in each pixel (H, W), int16; 0 where there is none.
    """

    image: Image
    depth: DepthImage
    bodies: NDArray[np.int16]


def capture_of(sensor: Any) -> Capture:
    """Read what a camera of ManiSkill has just taken."""
    seen = sensor.get_obs(rgb=True, depth=True, position=False, segmentation=True)
    image, depth, bodies = (
        np.ascontiguousarray(seen[name][0].cpu().numpy()) for name in ("rgb", "depth", "segmentation")
    )
    return Capture(image, depth[..., 0].astype(np.float32) * np.float32(MILLIMETER), bodies[..., 0])
