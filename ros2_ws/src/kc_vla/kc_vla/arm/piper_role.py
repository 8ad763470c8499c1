"""Whether a Piper follows commands or leads another arm, by the frames that it sends.

The vendor's documents disagree: a leader sends commands alone, or its state under shifted ids as well; it becomes a
follower at once, or when it is switched on again. All of that is recognized here, and nothing of it relied on.
"""

from __future__ import annotations

from enum import StrEnum

from kc_vla.arm.piper_link import PiperLink

_STATUS = 0x2A1
_SHIFTED = (0x2B1, 0x2C1, 0x3A1)
"""Where a leader may send its status: by the vendor's offsets of 0x10 and 0x20, and as users have seen it."""
_LEADS = (0x155, 0x156, 0x157)
"""Joint angles that a leader has its follower take."""
_NOW_S = 0.3


class ArmRole(StrEnum):
    """What an arm is, by its frames."""

    FOLLOWER = "follower"
    LEADER = "leader"
    SILENT = "silent"


def role_of(link: PiperLink) -> ArmRole:
    """Return what the arm on a line has been in the last 0.3 s. An arm whose state comes obeys commands."""
    if link.since(_STATUS) < _NOW_S:
        return ArmRole.FOLLOWER
    leads = link.since(*_LEADS) < _NOW_S or any(link.since(frame) < _NOW_S for frame in _SHIFTED)
    return ArmRole.LEADER if leads else ArmRole.SILENT


def why_silent(link: PiperLink, channel: str) -> str:
    """Return why no state comes from an arm, and what to do."""
    if role_of(link) is ArmRole.LEADER:
        return (
            "it is a leader, or only a leader is on this bus: it sends commands and reports nothing. Run "
            f"'kc-vla setup piper {channel} --role follower --do'"
        )
    return "has it power, and is the bus up at 1 Mbit/s?"
