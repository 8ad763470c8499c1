"""What a selector may look at in a frame of the simulator."""

from __future__ import annotations

import numpy as np

from kc_vla.core.robot import gripper_joints
from kc_vla.core.views import Views
from kc_vla.keyframes.scoring import ScorerInput
from kc_vla_sim.frame import SimulatedFrame
from kc_vla_sim.robot import CONTROL_RATE

PERIOD_NS = 1_000_000_000 // CONTROL_RATE
"""From one frame to the next; frame 0 is at 0."""


def sight_of_frame(frame: SimulatedFrame, views: Views) -> ScorerInput:
    """Put it together.

    Args:
        frame: whose own images are not looked at: it may not have been drawn.
        views: its images.
    """
    opening = float(sum(frame.joint_positions[k] for k in gripper_joints(frame.joint_names)))
    place = np.array(frame.tool_pose.position)
    return ScorerInput(
        frame.index * PERIOD_NS, views, opening, place, float(frame.keyframe is not None), frame.keyframe_index
    )
