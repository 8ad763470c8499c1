"""What each page is sent: one message, and the next once the page has drawn it. So each gets as many as it can take.

A message is a number of bytes (uint32, big endian), so much JSON, and the JPEGs of the images that it names.
"""

from __future__ import annotations

import asyncio
import json
import struct
import time
from collections.abc import Callable, Sequence
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from kc_vla.live.board import ClientState, LiveBoard
from kc_vla.live.images import LiveImages
from kc_vla.web.connections import HANG_UP

MOST_PAGES = 16
PATIENCE_S = 10.0
"""For a page to draw a message; it may come again."""
_QUIET_S = 1.0
"""Time between two messages to a page, s, if only that there is nothing new: so a client that left is noticed."""


class Feed:
    """What is shown, and to how many."""

    def __init__(
        self,
        board: LiveBoard,
        pictures: LiveImages,
        views: Sequence[str],
        rate: float,
        on_watched: Callable[[], None],
        on_look: Callable[[], None] = lambda: None,
        patience_s: float = PATIENCE_S,
    ) -> None:
        """Make it.

        Args:
            board, pictures: what is shown.
            views: of the robot, in order.
            rate: messages a second that a page gets at most, 1/s.
            on_watched: called, by the server's thread, when `watched` changes; returns at once.
            on_look: called before a page gets what is new, by any thread: it writes to the board what has come.
            patience_s: for a page to draw a message, s.
        """
        self._board, self._pictures, self._views = board, pictures, tuple(views)
        self._period_s, self._patience_s = 1.0 / rate, patience_s
        self._on_watched, self._on_look = on_watched, on_look
        self._pages = 0

    @property
    def watched(self) -> bool:
        """Return whether a page is open."""
        return self._pages > 0

    @property
    def pages(self) -> int:
        """Return how many pages are open."""
        return self._pages

    async def serve(self, page: WebSocket) -> None:
        """Show a page what there is until it leaves, or takes no more; refuse it where there are too many."""
        if self._pages >= MOST_PAGES:
            await page.close()
            return
        self._count(+1)
        try:
            await page.accept()
            await self._show(page)
        except (WebSocketDisconnect, TimeoutError, KeyError):  # KeyError: it said something in bytes
            pass
        finally:
            self._count(-1)
            page.scope["state"][HANG_UP]()  # it may never read what is on its way

    async def _show(self, page: WebSocket) -> None:
        seen, told_at, due = ClientState(), 0.0, time.monotonic()
        while True:
            began = time.monotonic()
            due = max(due + self._period_s, began)  # late once is not late ever after
            message = await asyncio.to_thread(self._message, seen, began - told_at > _QUIET_S)
            if message:
                told_at = began
                async with asyncio.timeout(self._patience_s):
                    await page.send_bytes(message)
                    await page.receive_text()
            await asyncio.sleep(max(0.0, due - time.monotonic()))

    def _message(self, seen: ClientState, anyhow: bool) -> bytes:
        """Return what is new to a page; empty where nothing is, but not `anyhow`."""
        self._on_look()
        news: dict[str, Any] = self._board.news(seen)
        shown, jpegs = [], []
        for view in self._views:
            try:
                found = self._pictures.newest(view, seen.pictures.get(view, 0))
            except ValueError as error:
                news.setdefault("problems", []).append(f"{view}: {error}"[:300])
                continue
            if found:
                seen.pictures[view] = found[0]
                shown.append({"view": view, "bytes": len(found[1])})
                jpegs.append(found[1])
        if not (news or shown or anyhow):
            return b""
        text = json.dumps({**news, "pictures": shown, "now": round(time.monotonic(), 2)}, allow_nan=False).encode()
        return b"".join((struct.pack(">I", len(text)), text, *jpegs))

    def _count(self, change: int) -> None:
        before = self.watched
        self._pages += change
        if self.watched != before:
            self._on_watched()
