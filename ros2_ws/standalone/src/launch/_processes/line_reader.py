"""Lines from a pipe or a pseudo-terminal, as they come, in an asyncio loop."""

from __future__ import annotations

import asyncio
import codecs
import os
from collections.abc import Callable

_CHUNK_BYTES = 65536
_LARGEST_PIPE_BYTES = 1 << 20
_LONGEST_LINE_CHARACTERS = 65536


class LineReader:
    """Hands each complete line of a file descriptor to `on_line`, without its end, and what was read to `on_piece`.

    A line longer than 65,536 characters is handed over in pieces, so that a process that never ends
    its line cannot fill the launcher's memory.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        fd: int,
        on_line: Callable[[str], None],
        on_piece: Callable[[bytes], None] | None = None,
    ) -> None:
        self._loop = loop
        self._fd = fd
        self._on_line = on_line
        self._on_piece = on_piece
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._unfinished = ""
        self._open = True
        os.set_blocking(fd, False)
        loop.add_reader(fd, self._read_once)

    def _read_once(self) -> bool:
        """Read what is there now; return whether there may be more."""
        try:
            data = os.read(self._fd, _CHUNK_BYTES)
        except BlockingIOError:
            return False
        except OSError:  # EIO: the far side of a pseudo-terminal is closed.
            data = b""
        if not data:
            self._close()
            return False
        self._take(self._decoder.decode(data))
        if self._on_piece is not None:
            self._on_piece(data)
        return True

    def _take(self, text: str) -> None:
        *lines, self._unfinished = (self._unfinished + text).split("\n")
        for line in lines:
            self._on_line(line.removesuffix("\r"))
        while len(self._unfinished) > _LONGEST_LINE_CHARACTERS:
            self._on_line(self._unfinished[:_LONGEST_LINE_CHARACTERS])
            self._unfinished = self._unfinished[_LONGEST_LINE_CHARACTERS:]

    def drain(self) -> None:
        """Take everything that has been written so far; a writer that never pauses cannot hold this up."""
        for _ in range(_LARGEST_PIPE_BYTES // _CHUNK_BYTES):
            if not (self._open and self._read_once()):
                return

    def finish(self) -> None:
        """Take the rest, hand over an unfinished last line, and close."""
        self.drain()
        if self._open:
            self._close()

    def _close(self) -> None:
        self._open = False
        self._loop.remove_reader(self._fd)
        os.close(self._fd)
        self._unfinished += self._decoder.decode(b"", final=True)
        if self._unfinished:
            self._on_line(self._unfinished.removesuffix("\r"))
            self._unfinished = ""
