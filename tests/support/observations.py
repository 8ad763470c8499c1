"""Small observations for tests; each frame has pictures and numbers of its own, so that a mix-up is seen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kc_vla.core.views import DEFAULT_VIEWS
from kc_vla.keyframes.observation import Observation

PERIOD_NS = 50_000_000


def observation(frame: int, views: Sequence[str] = DEFAULT_VIEWS) -> Observation:
    """Return what was seen in `frame`."""
    return Observation(
        frame=frame,
        stamp_ns=1_000_000_000 + frame * PERIOD_NS,
        views={view: np.full((4, 6, 3), (frame + n) % 256, np.uint8) for n, view in enumerate(views)},
        joint_names=("joint1", "finger"),
        joint_positions=np.array([frame * 0.01, 0.04]),
        joint_velocities=np.array([0.2, 0.0]),
        tool_pose=np.array([0.3, 0.0, frame * 0.001, 0.0, 1.0, 0.0, 0.0]),
    )


def same(one: Observation, other: Observation) -> bool:
    """Return whether two observations hold the same."""
    return (
        (one.frame, one.stamp_ns, one.joint_names) == (other.frame, other.stamp_ns, other.joint_names)
        and list(one.views) == list(other.views)
        and all(np.array_equal(pixels, other.views[view]) for view, pixels in one.views.items())
        and np.array_equal(one.joint_positions, other.joint_positions)
        and np.array_equal(one.joint_velocities, other.joint_velocities)
        and np.array_equal(one.tool_pose, other.tool_pose)
    )
