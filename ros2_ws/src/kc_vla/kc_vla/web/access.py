"""The access to a page's server: from where, how much, with which token; and errors in one line."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.datastructures import Headers
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kc_vla.bags.errors import one_line

HERE = ("127.0.0.1", "localhost", "[::1]")
"""Names by which this machine calls itself."""
MOST_BYTES = 1 << 20
"""Bytes of the largest request body; a track of a thousand keyframes has a tenth of it."""


class TooLargeError(HTTPException):
    """A body that is not read to its end. (FastAPI hands on this kind of error alone while it reads a body.)"""

    def __init__(self) -> None:
        super().__init__(413, f"a request may have {MOST_BYTES} bytes")

    def __str__(self) -> str:
        return str(self.detail)


class BoundedBody:
    """Middleware that gives up a request as soon as its body is said to be, or becomes, larger than `MOST_BYTES`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = Headers(scope=scope).get("content-length", "")
        if declared.isdecimal() and (len(declared) > len(str(MOST_BYTES)) or int(declared) > MOST_BYTES):
            await error_response(413)(Request(scope), TooLargeError())(scope, receive, send)
            return
        size = 0

        async def bounded() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > MOST_BYTES:
                raise TooLargeError
            return message

        await self._app(scope, bounded, send)


def error_response(status: int) -> Callable[[Request, Exception], JSONResponse]:
    """Return the response to an error: its text, with that status."""

    def answer(request: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"error": one_line(str(error))}, status)

    return answer


def invalid_request_response(request: Request, error: Exception) -> JSONResponse:
    """Answer a request that is not as it should be, without repeating what it holds."""
    assert isinstance(error, RequestValidationError)
    found: Any = error.errors()[0]
    where = ".".join(str(part) for part in found["loc"])
    return JSONResponse({"error": one_line(f"{where}: {found['msg']}")}, 422)


def of_own_page(request: HTTPConnection) -> bool:
    """Return whether a request is not from a third-party page in the same browser."""
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")


def allow_control(request: HTTPConnection, token: str, advice: str) -> None:
    """Let a request of the own page through that brings the token.

    Args:
        request: with the header `X-Token`.
        token: that it has to bring; empty: nobody may.
        advice: how a launch is started that has one.

    Raises:
        HTTPException: 403, it may not.
    """
    brought = request.headers.get("x-token", "")
    if not token:
        raise HTTPException(403, f"nobody may: start it with {advice}")
    if not of_own_page(request) or not hmac.compare_digest(brought.encode(), token.encode()):
        raise HTTPException(403, "that is not the token of this launch")


def guarded(app: FastAPI, hosts: Sequence[str]) -> FastAPI:
    """Serve an app by certain names alone, and no request of more than `MOST_BYTES`.

    Args:
        app: that is returned.
        hosts: another page in the same browser must not reach it by a name of its own.
    """
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)
    app.add_middleware(BoundedBody)
    app.add_exception_handler(TooLargeError, error_response(413))
    app.add_exception_handler(RequestValidationError, invalid_request_response)
    return app
