"""The live page, served as the viewer does, with a board that a test fills."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from websockets.sync.client import ClientConnection

from kc_vla.live.board import LiveBoard
from kc_vla.live.feed import Feed
from kc_vla.live.images import LiveImages
from kc_vla.live.server import Stopped, create_app
from kc_vla.web.access import HERE
from kc_vla.web.serving import PageThread, listening
from tests.support.live_client import WAIT_S, open_page

TOKEN = "a token"


class Live:
    """A page that is served, and what was asked of it."""

    def __init__(
        self, patience_s: float = 10.0, token: str = TOKEN, crop: Callable[[str], bytes] | None = None
    ) -> None:
        self.board = LiveBoard()
        self.came: dict[str, Any] = {}
        self.pictures = LiveImages(lambda view: self.came.pop(view, None))
        self.watched: list[bool] = []
        self.stops: list[Future[Stopped]] = []
        self.answer: Stopped | None = Stopped(True, True, "stopped")
        views, rate = ("third_person", "wrist"), 50.0
        self.feed = Feed(self.board, self.pictures, views, rate, self._on_watched, patience_s=patience_s)
        self._page = PageThread(create_app(self.feed, token, self._stop, HERE, crop), listening("127.0.0.1", 0, ""))
        self.port = self._page.port

    def close(self) -> None:
        self._page.close()

    def open(self, **headers: str) -> ClientConnection:
        return open_page(self.port, **headers)

    def ask(self, path: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(f"http://localhost:{self.port}{path}", method=method, headers=named)
        try:
            with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
                return answer.status, dict(answer.headers), answer.read()
        except urllib.error.HTTPError as error:
            return error.code, dict(error.headers), error.read()

    def _on_watched(self) -> None:
        self.watched.append(self.feed.watched)

    def _stop(self) -> Future[Stopped]:
        wanted: Future[Stopped] = Future()
        self.stops.append(wanted)
        if self.answer:
            wanted.set_result(self.answer)
        return wanted


@contextmanager
def serving(**options: Any) -> Iterator[Live]:
    live = Live(**options)
    try:
        yield live
    finally:
        live.close()
