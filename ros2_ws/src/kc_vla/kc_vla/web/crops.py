"""Crops of what a robot saw, for pages: what is said of each, where its image is, and the scripts that pages share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from fastapi import FastAPI, HTTPException
from fastapi.responses import FileResponse, Response

from kc_vla.core.errors import StackError
from kc_vla.core.stamps import nanoseconds

MOST_SHOWN = 60
_SCRIPTS = ("crops.js", "steps.js")
_FOLDER = Path(__file__).with_name("page")
_TEXT = 200
_HEADERS = {"Cache-Control": "private, max-age=3600, immutable", "X-Content-Type-Options": "nosniff"}
"""A crop has a name of its own: what was fetched once is never another one."""


def crops_part(units: Any, at_s: float) -> dict[str, Any]:
    """Return what pages show of a MemoryUnits message: the units with an image, the newest first, 60 at most.

    Args:
        units: the message, whose stamp is of the clock of the memory.
        at_s: the time now, by the server's steady clock, s.
    """
    now_s = _stamp_s(units)
    shown = sorted((each for each in units.units if each.image), key=_stamp_s, reverse=True)[:MOST_SHOWN]
    return {"at": round(at_s, 2), "units": [_row(each, now_s) for each in shown]}


def _row(unit: Any, now_s: float) -> dict[str, Any]:
    return {
        "id": unit.object_id[:_TEXT],
        "type": unit.object_type[:_TEXT],
        "state": unit.state[:_TEXT],
        "source": getattr(unit, "state_source", "")[:_TEXT],
        "age": round(max(0.0, now_s - _stamp_s(unit)), 2),
        "image": unit.image.rpartition("/")[2][:_TEXT],
    }


def _stamp_s(unit: Any) -> float:
    return nanoseconds(unit.header.stamp) / 1e9


def add_crops(app: FastAPI, read: Callable[[str], bytes] | None) -> None:
    """Serve the scripts that pages share, and crops as `api/crop/NAME`.

    Args:
        app: of the page.
        read: returns the JPEG of a name, by any thread; a StackError where there is none. None: no crop is served.
    """

    def serve(name: str) -> None:
        @app.get(f"/{name}")
        def script() -> FileResponse:
            return FileResponse(_FOLDER / name, media_type="text/javascript", headers={"Cache-Control": "no-cache"})

    for each in _SCRIPTS:
        serve(each)

    @app.get("/api/crop/{name}")
    def crop(name: str) -> Response:
        if read is None:
            raise HTTPException(404, "this page has no folder of crops")
        try:
            data = read(name)
        except StackError as error:
            raise HTTPException(404, str(error)) from error
        return Response(data, media_type="image/jpeg", headers=_HEADERS)
