"""The firmware's name out of the frames of a Piper: the vendor's SDK cuts it after eight characters."""

from __future__ import annotations

import math

from kc_vla.core.robot import FIRMWARE

FIRMWARE_FRAME = 0x4AF
"""Question and answer: text in pieces of eight bytes, however many."""
_QUIET_S = 0.15
"""s without a further piece after which an answer is whole."""
_MOST = 512
"""Bytes of an answer that are kept."""


class FirmwareText:
    """One answer, piece by piece. Pieces come from another thread than the one that asks."""

    def __init__(self, asked_at: float = -math.inf) -> None:
        """Wait for the pieces of the text.

        Args:
            asked_at: steady time at which the arm was asked, s.
        """
        self._pieces: bytes = b""
        self._at = self._asked_at = asked_at

    def take(self, piece: bytes, at: float) -> None:
        """Take in a piece that came at the steady time `at`, s."""
        self._pieces, self._at = (self._pieces + piece)[-_MOST:], at

    def age(self, now: float) -> float:
        """Return how long ago the arm was asked, s."""
        return now - self._asked_at

    def answer(self, now: float) -> str:
        """Return the whole answer as printable text at the steady time `now`, s; empty while it may still go on."""
        pieces = self._pieces
        if not pieces or now - self._at < _QUIET_S:
            return ""
        text = pieces.decode("ascii", "replace")
        return " ".join(
            "".join(letter if letter.isprintable() and letter.isascii() else " " for letter in text).split()
        )


def firmware_of(answer: str) -> str:
    """Return the name in an answer, e.g. "S-V1.6-12"; empty where none is understood."""
    found = FIRMWARE.search(answer)
    return found[0] if found else ""
