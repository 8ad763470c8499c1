"""Joint postures of a Panda whose tool points straight down, in closed form.

The elbow stays in the upright plane through the tool (joints 3 and 5 at zero), so there is one posture for each place
and turn of the tool, whatever was before: a path of the tool gives one path of the joints.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

_SHOULDER_HEIGHT = 0.333
_ELBOW_OFFSET = 0.0825
_UPPER_ARM = math.hypot(0.316, _ELBOW_OFFSET)
_FOREARM = math.hypot(0.384, _ELBOW_OFFSET)
_WRIST_OFFSET = 0.088
_WRIST_TO_TOOL = 0.107 + 0.1034
"""Lengths of the arm from the makers' kinematic table, m; the tool is ManiSkill's `panda_hand_tcp`."""
_UPPER_ARM_LEAN = math.atan2(_ELBOW_OFFSET, 0.316)
_FOREARM_LEAN = math.atan2(_ELBOW_OFFSET, 0.384)


def posture_pointing_down(tool: Tensor) -> Tensor:
    """Return arm joints (..., 7), rad, that hold the tool at (..., 4) in the robot's base frame.

    The four numbers are x, y, z (m) and yaw (rad).

    At yaw 0 the line between the fingers lies along the base's y axis. A place out of reach gives NaN.
    """
    x, y, z, yaw = tool.unbind(-1)
    azimuth = torch.atan2(y, x)
    ahead = torch.hypot(x, y) - _WRIST_OFFSET
    up = z + _WRIST_TO_TOOL - _SHOULDER_HEIGHT
    squared = ahead**2 + up**2
    distance = torch.sqrt(squared)
    at_shoulder = torch.acos((squared + _UPPER_ARM**2 - _FOREARM**2) / (2 * _UPPER_ARM * distance))
    at_elbow = torch.acos((_UPPER_ARM**2 + _FOREARM**2 - squared) / (2 * _UPPER_ARM * _FOREARM))
    upper_lean = torch.atan2(ahead, up) - at_shoulder  # from the vertical, of the line shoulder to elbow joint
    fore_lean = upper_lean + math.pi - at_elbow
    joint_2 = upper_lean - _UPPER_ARM_LEAN
    joint_6 = fore_lean + _FOREARM_LEAN
    joint_7 = azimuth - yaw + math.pi / 4
    zero = torch.zeros_like(azimuth)
    return torch.stack([azimuth, joint_2, zero, joint_2 - joint_6, zero, joint_6, joint_7], dim=-1)
