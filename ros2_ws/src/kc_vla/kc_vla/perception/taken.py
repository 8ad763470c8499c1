"""What an image showed, as the memories take it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kc_vla.memory.intake import Taken
from kc_vla.memory.long_term.detections import Detection
from kc_vla.memory.long_term.views import CameraView
from kc_vla.perception.located_object import LocatedObject
from kc_vla.perception.perceiver import Perceived
from kc_vla.perception.seen_region import SeenRegion


def taken_of(seen: Perceived, stamp_ns: int, episode_id: str = "") -> Taken:
    """Return what an image showed as a memory takes it, without crops.

    Args:
        seen: what the image shows.
        stamp_ns: of the image.
        episode_id: of the episode; empty for none.
    """
    found = [_detection(each) for each in seen.objects]
    view = None if seen.region is None else _view(seen.region, found)
    return Taken(stamp_ns, episode_id, found, view=view)


def _view(region: SeenRegion, found: Sequence[Detection]) -> CameraView:
    """Return what was in view as a memory takes it; without depth, what was found hides what is behind it."""
    x, y, z = region.pose[:3, 3].tolist()
    depth_m = None if region.depth_mm is None else region.depth_mm.astype(np.float32) / np.float32(1000)
    before = np.array([each.position for each in found], float), np.array([each.size for each in found], float)
    return CameraView(
        (x, y, z),
        region.pose[:3, :3],
        region.matrix,
        region.size,
        region.farthest_m,
        depth_m,
        before if found else None,
    )


def _detection(seen: LocatedObject) -> Detection:
    return Detection(
        seen.object_type,
        seen.position,
        seen.size,
        seen.confidence,
        seen.state,
        seen.attributes,
        source_id=seen.object_id,
    )
