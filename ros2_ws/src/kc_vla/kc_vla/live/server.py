"""The live page's server: a page, what is new to it through a WebSocket, and a stop for clients with the token."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, WebSocket
from fastapi.responses import Response
from fastapi.staticfiles import StaticFiles
from starlette.types import Scope

from kc_vla.live.feed import Feed
from kc_vla.web.access import allow_control, guarded, of_own_page
from kc_vla.web.crops import add_crops

_STATIC = Path(__file__).with_name("page")
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
"""The page asks no other host, and no page of another host shows it around a button."""


@dataclass(frozen=True)
class Stopped:
    """What came of an emergency stop: only one that was answered and done has stopped anything.

    Attributes:
        answered: whether the arm's controller said anything.
        done: whether it said that it stops.
        message: what it said, or why there is no answer.
    """

    answered: bool
    done: bool
    message: str


class _Page(StaticFiles):
    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update(_HEADERS)
        return response


def create_app(
    feed: Feed,
    token: str,
    stop: Callable[[], Future[Stopped]],
    hosts: Sequence[str],
    crop: Callable[[str], bytes] | None = None,
) -> FastAPI:
    """Return the server.

    Args:
        feed: what is shown.
        token: that a request for control has to bring; empty: nobody may.
        stop: asks for an emergency stop; called by the server's thread, returns at once.
        hosts: names by which it may be called.
        crop: returns the JPEG of a crop by its name, see `add_crops`; None: the page shows none.
    """
    app = guarded(FastAPI(title="kc_vla live page", docs_url=None, redoc_url=None, openapi_url=None), hosts)

    @app.websocket("/api/live")
    async def live(page: WebSocket) -> None:
        if of_own_page(page):
            await feed.serve(page)
        else:
            await page.close()  # before it was let in: it gets a 403

    @app.get("/api/control")
    async def control() -> dict[str, Any]:
        return {"control": bool(token)}

    @app.post("/api/stop")
    async def stopped(request: Request) -> dict[str, Any]:
        allow_control(request, token, "viewer_control:=true")
        answer: Stopped = await asyncio.wrap_future(stop())
        return asdict(answer)

    add_crops(app, crop)
    app.mount("/", _Page(directory=_STATIC, html=True))
    return app
