"""The live map's server: what it shows as JSON, and, for whoever has the token, an instruction or a stop."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, ConfigDict
from starlette.middleware.trustedhost import TrustedHostMiddleware

from kc_vla.annotate.door import BoundedBody, TooLargeError, of_own_page, told, told_invalid
from kc_vla.planning.instruction import check_instruction
from kc_vla.planning.interface import PlanningError
from kc_vla_sim.household.live.board import Board

HOSTS = ("127.0.0.1", "localhost", "[::1]")
"""Names by which the page may be called; another page in the same browser must not reach it by a name of its own."""
_STATIC = Path(__file__).with_name("page")


class Wanted(BaseModel):
    """An instruction as the page sends it."""

    model_config = ConfigDict(extra="forbid", strict=True)
    instruction: str


def create_app(board: Board, token: str, instruct: Callable[[str], None], stop: Callable[[], None]) -> FastAPI:
    """The server.

    Args:
        board: what is shown.
        token: that a request for control has to bring; empty: nobody may.
        instruct, stop: called by any thread; both return at once.
    """
    app = FastAPI(title="kc_vla live map", docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(HOSTS), www_redirect=False)
    app.add_middleware(BoundedBody)
    app.add_exception_handler(TooLargeError, told(413))
    app.add_exception_handler(PlanningError, told(400))
    app.add_exception_handler(RequestValidationError, told_invalid)

    def allow(request: Request) -> None:
        brought = request.headers.get("x-token", "")
        if not token:
            raise HTTPException(403, "nobody may: start it with token:=...")
        if not of_own_page(request) or not hmac.compare_digest(brought.encode(), token.encode()):
            raise HTTPException(403, "that is not the token of this launch")

    @app.get("/api/home")
    def home(truth: int = 0, belief: int = 0, since: int = 0) -> dict[str, Any]:
        return board.shown(truth, belief, since) | {"control": bool(token)}

    @app.post("/api/instruction")
    def instruction(wanted: Wanted, request: Request) -> dict[str, Any]:
        allow(request)
        check_instruction(wanted.instruction)
        instruct(wanted.instruction)
        return {}

    @app.post("/api/stop")
    def stopped(request: Request) -> dict[str, Any]:
        allow(request)
        stop()
        return {}

    app.mount("/", StaticFiles(directory=_STATIC, html=True))
    return app
