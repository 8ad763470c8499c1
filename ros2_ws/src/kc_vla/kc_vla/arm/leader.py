"""A Piper that a person leads by hand: it is listened to, and nothing is ever sent to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kc_vla.arm.piper_link import PiperLink
from kc_vla.arm.piper_models import JOINTS
from kc_vla.core.robot import Vector

_COMMANDED = (0x155, 0x156, 0x157)
"""The commands for a follower that a Piper configured as a leader (0x470, 0xFA) sends in place of its state."""
_FED_BACK = (0x2A5, 0x2A6, 0x2A7)
"""What any other tells, e.g. one whose teach button is pressed."""


@dataclass(frozen=True, eq=False)
class Lead:
    """Where a leader is.

    Attributes:
        angles: of its joints (6,), rad.
        opening: of its gripper, m.
        age: s since the oldest of the frames that this is made of; infinite if none came.
    """

    angles: Vector
    opening: float
    age: float


class LeaderArm:
    """One leader on a bus of its own."""

    def __init__(self, channel: str, bus: str) -> None:
        """Begin to listen.

        Args:
            channel: of the CAN bus.
            bus: python-can's name of its kind.

        Raises:
            ArmError: there is no such bus.
        """
        self._sdk: Any = PiperLink(channel)
        self._sdk.open(channel, bus)

    def read(self) -> Lead:
        """Return where it is by the latest frames of either kind."""
        sdk = self._sdk
        commanded, fed_back = sdk.since(*_COMMANDED), sdk.since(*_FED_BACK)
        if commanded < fed_back:
            joints, gripper = sdk.GetArmJointCtrl().joint_ctrl, sdk.GetArmGripperCtrl().gripper_ctrl
        else:
            joints, gripper = sdk.GetArmJointMsgs().joint_state, sdk.GetArmGripperMsgs().gripper_state
        angles = np.radians([getattr(joints, f"joint_{k}") / 1e3 for k in range(1, JOINTS + 1)])
        return Lead(angles, gripper.grippers_angle * 1e-6, min(commanded, fed_back))

    def reconnect(self) -> None:
        """Open its bus again if that has gone."""
        if self._sdk.broken:
            self._sdk.reopen()

    def close(self) -> None:
        """Listen no more."""
        self._sdk.close()
