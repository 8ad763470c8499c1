"""The last thing that a process has said, from its output as it is read: in pieces that end anywhere."""

from __future__ import annotations

import re

LONGEST_BYTES = 4096
"""Characters of a line that are kept: a process that never ends its line must not fill the memory of its reader."""
_NOT_BLANK = re.compile(rb"\S")


class LastLine:
    """The last line that is not blank; of one that is not at its end yet, what is there of it."""

    def __init__(self, counts: re.Pattern[bytes] = _NOT_BLANK) -> None:
        """Begin without a line.

        Args:
            counts: a line without it is ignored.
        """
        self._counts = counts
        self._whole = b""
        self._begun = b""

    def take(self, piece: bytes) -> None:
        """Read on: no line, a part of one, or several."""
        lines = (self._begun + piece).splitlines(keepends=True)
        self._begun = b""
        if lines and not lines[-1].endswith((b"\n", b"\r")):
            self._begun = lines.pop()[:LONGEST_BYTES]
        for line in reversed(lines):
            if self._counts.search(line):
                self._whole = line[:LONGEST_BYTES]
                return

    @property
    def text(self) -> str:
        """Return the line without the blanks around it, empty if there was none; what is no UTF-8 becomes U+FFFD."""
        said = self._begun if self._counts.search(self._begun) else self._whole
        return said.decode(errors="replace").strip()
