"""The line to a Piper that no controller has: what it is set to, and how it is set. Nothing here enables a motor."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from kc_vla.arm.claim import claim
from kc_vla.arm.interface import ArmError
from kc_vla.arm.piper_gripper import GripperReport, gripper_of
from kc_vla.arm.piper_link import PiperLink
from kc_vla.arm.piper_models import JOINTS
from kc_vla.arm.piper_queries import GripperStroke, read_firmware, read_levels, read_limits, read_stroke, taken, wait
from kc_vla.arm.piper_role import ArmRole, role_of, why_silent
from kc_vla.core.robot import JointLimits, Vector

PATIENCE_S = 3.0
"""How long an arm may take to answer, s."""
_ROLE_S = 0.5
"""How long an arm is listened to before its role is known, s."""
_DRIVERS = tuple(range(0x261, 0x261 + JOINTS))
_JOINTS = (0x2A5, 0x2A6, 0x2A7)
_FRESH_S = 0.5


class PiperBench:
    """An arm on the bench: what it reports, what it is set to, and settings that are sent once and answered.

    Attributes:
        link: to the arm.
        channel: its CAN interface, or the path of an emulated arm's bus.
        patience: s that it may take to answer.
    """

    def __init__(self, link: PiperLink, channel: str, patience: float = PATIENCE_S) -> None:
        self.link, self.channel, self.patience = link, channel, patience

    def role(self) -> ArmRole:
        """Listen for a while, and return what the arm is now."""
        time.sleep(_ROLE_S)
        return role_of(self.link)

    def require_state(self) -> None:
        """Check that the arm reports its state.

        Raises:
            ArmError: it does not; the text says why.
        """
        if not wait(lambda: role_of(self.link) is ArmRole.FOLLOWER, self.patience):
            raise ArmError(f"no arm answers on '{self.channel}': {why_silent(self.link, self.channel)}")

    def powered(self) -> tuple[bool, ...]:
        """Return whether each motor has power.

        Raises:
            ArmError: a motor does not say.
        """
        if not wait(lambda: self.link.since(*_DRIVERS) < _FRESH_S, self.patience):
            raise ArmError("a motor does not say whether it has power: look at the arm's supply and its cables")
        drivers = self.link.GetArmLowSpdInfoMsgs()
        return tuple(
            bool(getattr(drivers, f"motor_{joint}").foc_status.driver_enable_status) for joint in range(1, JOINTS + 1)
        )

    def require_no_power(self) -> None:
        """Check that no motor has power: what an arm is set to is changed at rest alone.

        Raises:
            ArmError: one has, or does not say.
        """
        if any(self.powered()):
            raise ArmError(
                "nothing was sent: the motors have power. End what uses the arm so that it parks (Ctrl-C once), or "
                "start a controller and end it; then run this again"
            )

    def angles(self) -> Vector:
        """Return the joint angles that the arm reports (6,), rad.

        Raises:
            ArmError: it reports none.
        """
        if not wait(lambda: self.link.since(*_JOINTS) < _FRESH_S, self.patience):
            raise ArmError(f"no arm answers on '{self.channel}': {why_silent(self.link, self.channel)}")
        told = self.link.GetArmJointMsgs().joint_state
        return np.radians([getattr(told, f"joint_{joint}") / 1e3 for joint in range(1, JOINTS + 1)])

    def gripper(self) -> GripperReport:
        """Return what the gripper reports."""
        return gripper_of(self.link)

    def stroke(self) -> GripperStroke:
        """Return what the gripper is set to.

        Raises:
            ArmError: the arm does not say.
        """
        found = read_stroke(self.link, self.patience)
        if found is None:
            raise ArmError(
                f"the arm on '{self.channel}' does not say what its gripper is set to: is its firmware S-V1.5-2?"
            )
        return found

    def levels(self) -> tuple[int, ...]:
        """Return the collision levels of the joints (6,).

        Raises:
            ArmError: the arm does not say.
        """
        found = read_levels(self.link, self.patience)
        if found is None:
            raise ArmError(f"the arm on '{self.channel}' does not say its collision levels: switch it off and on")
        return found

    def limits(self) -> JointLimits:
        """Return the joint limits that the arm reports. Raises: ArmError: it does not."""
        return read_limits(self.link, self.patience)

    def firmware(self) -> str:
        """Return the firmware that the arm reports. Raises: ArmError: it does not."""
        return read_firmware(self.link, self.patience)

    def send(self, setting: int, send: Callable[[], None]) -> bool:
        """Send a setting once, to an arm without power; return whether it set a joint's zero.

        Args:
            setting: id of the frame.
            send: sends it.

        Raises:
            ArmError: a motor has power, and nothing was sent; or the arm does not confirm what was sent.
        """
        self.require_no_power()
        found = taken(self.link, setting, send, self.patience)
        if found is None:
            raise ArmError(
                f"frame {setting:#x} was sent, and the arm did not confirm it: whether it is set is not known. Look at "
                f"it with 'kc-vla doctor --arm {self.channel}', and run this again"
            )
        return found


@contextmanager
def bench_of(channel: str, owned: bool = True) -> Iterator[PiperBench]:
    """Open the line to an arm.

    Args:
        channel: CAN interface, or the path of an emulated arm's bus.
        owned: no controller may have the arm, and none gets it meanwhile. Without, only listen.

    Raises:
        ArmError: there is no bus, or a controller has the arm.
    """
    kind = "kc_vla_socket" if "/" in channel else "socketcan"
    link = PiperLink(channel)
    name = claim(channel) if owned else None
    try:
        link.open(channel, kind)
        yield PiperBench(link, channel)
    finally:
        link.close()
        if name is not None:
            name.close()
