"""What perception located in one process, as a skill takes it: the same as `kc_vla.ros.perceived` makes of messages."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy.spatial.transform import Rotation

from kc_vla.perception.located_object import LocatedObject
from kc_vla.skills.perceived import PerceivedThing


def things_of(objects: Iterable[LocatedObject], stamp_s: float) -> list[PerceivedThing]:
    """Return objects that were seen at a stamp, s, in the frame of the arm's base."""
    return [
        PerceivedThing(
            each.object_id,
            each.object_type,
            np.array(each.position),
            Rotation.from_euler("z", each.yaw),
            np.array(each.size if each.box_size is None else each.box_size),
            each.state,
            dict(each.attributes),
            each.confidence,
            stamp_s,
        )
        for each in objects
    ]
