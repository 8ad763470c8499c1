"""The last thing that a process has said, from its output as it is read: in pieces that end anywhere."""

from __future__ import annotations

LONGEST_BYTES = 4096
"""Of a line, what is kept: a process that never ends its line must not fill the memory of who listens."""


class LastLine:
    """The last line that is not blank; of one that is not at its end yet, what is there of it."""

    def __init__(self) -> None:
        self._whole = b""
        self._begun = b""

    def take(self, piece: bytes) -> None:
        """Read on: no line, a part of one, or several."""
        lines = (self._begun + piece).splitlines(keepends=True)
        self._begun = b""
        if lines and not lines[-1].endswith((b"\n", b"\r")):
            self._begun = lines.pop()[:LONGEST_BYTES]
        for line in reversed(lines):
            if line.strip():
                self._whole = line[:LONGEST_BYTES]
                return

    @property
    def text(self) -> str:
        """The line without the blanks around it, empty if nothing was said; what is no UTF-8 becomes U+FFFD."""
        said = self._begun if self._begun.strip() else self._whole
        return said.decode(errors="replace").strip()
