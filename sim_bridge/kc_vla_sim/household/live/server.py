"""The live map's server: what it shows as JSON, and, for a client with the token, an instruction or a stop."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, ConfigDict

from kc_vla.planning.instruction import check_instruction
from kc_vla.planning.interface import PlanningError
from kc_vla.web.access import HERE, allow_control, error_response, guarded
from kc_vla.web.crops import add_crops
from kc_vla_sim.household.live.board import HomeBoard

_STATIC = Path(__file__).with_name("page")


class InstructionRequest(BaseModel):
    """An instruction as the page sends it."""

    model_config = ConfigDict(extra="forbid", strict=True)
    instruction: str


def create_app(
    board: HomeBoard,
    token: str,
    instruct: Callable[[str], None],
    stop: Callable[[], None],
    crop: Callable[[str], bytes] | None = None,
) -> FastAPI:
    """Return the server.

    Args:
        board: what is shown.
        token: that a request for control has to bring; empty: nobody may.
        instruct, stop: called by any thread; both return at once.
        crop: returns the JPEG of a crop by its name, see `add_crops`; None: the page shows none.
    """
    app = FastAPI(title="kc_vla live map", docs_url=None, redoc_url=None, openapi_url=None)
    guarded(app, HERE)
    app.add_exception_handler(PlanningError, error_response(400))

    @app.get("/api/home")
    def home(truth: int = 0, belief: int = 0, since: int = 0, crops: int = 0) -> dict[str, Any]:
        return board.shown(truth, belief, since, crops) | {"control": bool(token)}

    @app.post("/api/instruction")
    def instruction(wanted: InstructionRequest, request: Request) -> dict[str, Any]:
        allow_control(request, token, "token:=...")
        check_instruction(wanted.instruction)
        instruct(wanted.instruction)
        return {}

    @app.post("/api/stop")
    def stopped(request: Request) -> dict[str, Any]:
        allow_control(request, token, "token:=...")
        stop()
        return {}

    add_crops(app, crop)
    app.mount("/", StaticFiles(directory=_STATIC, html=True))
    return app
