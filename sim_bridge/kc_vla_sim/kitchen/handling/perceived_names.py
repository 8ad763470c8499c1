"""By which ids perception knows the things of a kitchen: a detector does not know those of the truth."""

from __future__ import annotations

import numpy as np

from kc_vla_sim.frame import GroundTruthObject
from kc_vla_sim.kitchen.handling.kitchen_arm import KitchenArm

_IN_HAND_M = 0.12
"""A thing in the hand is so near to the tool, m."""
_SAME_M = 0.08
"""What is perceived so near to the middle of an object of its type is that object, m."""


def perceived_name(arm: KitchenArm, name: str) -> str:
    """Return the id by which perception knows an object of the truth.

    It is that of the truth where the kitchen has no such object, and says so where nothing like it was seen.

    Args:
        arm: in the kitchen, with what it has perceived.
        name: id of the truth, such as "stove".
    """
    true = next((each for each in arm.frame.detections if each.object_id == name), None)
    context = arm.station.context
    if true is None:
        return name
    held = context.held
    if held is not None and held.thing.object_type == true.object_type and is_in_hand(arm, true):
        return held.thing.object_id
    place = np.array(true.pose.position)
    away = {
        each.object_id: float(np.linalg.norm(each.position - place))
        for each in context.scene.all()
        if each.object_type == true.object_type
    }
    near = min(away, key=away.__getitem__, default="")
    return near if near and away[near] < _SAME_M else f"{name} (not perceived)"


def is_in_hand(arm: KitchenArm, true: GroundTruthObject) -> bool:
    """Return whether an object is where the hand of an arm is."""
    tool = np.array(arm.frame.tool_pose.position)
    return float(np.linalg.norm(np.array(true.pose.position) - tool)) < _IN_HAND_M
