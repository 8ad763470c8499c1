"""The server of the annotation page: sends JSON and JPEG, and writes nothing but new annotations of a bag."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, ConfigDict

from kc_vla.annotate.agreement import agreement
from kc_vla.annotate.background_jobs import BackgroundJob, Work
from kc_vla.annotate.curves import UNITS, cache_file
from kc_vla.annotate.episode import AnnotatedEpisode
from kc_vla.annotate.library import Library
from kc_vla.annotate.proposals import label
from kc_vla.bags.errors import BagError
from kc_vla.episodes.annotation_log import AnnotationError, Conflict, Mark
from kc_vla.web.access import error_response, guarded, of_own_page
from kc_vla.web.numbers import numbers

_STATIC = Path(__file__).with_name("page")


class WantedMark(BaseModel):
    """A keyframe as the page sends it; stamp and label are filled in here."""

    model_config = ConfigDict(extra="forbid", strict=True)
    frame: int
    phase: int
    source: str
    score: float


class WantedTrack(BaseModel):
    """An annotation as the page sends it, see `AnnotationLog.append`."""

    model_config = ConfigDict(extra="forbid", strict=True)
    author: str
    since: int
    state: str
    action: str
    marks: list[WantedMark]


def create_app(library: Library, work: Work, author: str, hosts: Sequence[str]) -> FastAPI:
    """Return the server's application.

    Args:
        library: bags that are shown.
        work: what is done in the background; ended with the server.
        author: what a new person's name is proposed to be.
        hosts: names by which it may be called; another page in the same browser must not reach it by a name of its own.
    """

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        yield
        work.stop()

    app = FastAPI(title="kc_vla annotation", lifespan=life, docs_url=None, redoc_url=None, openapi_url=None)
    guarded(app, hosts)
    for error, status in ((Conflict, 409), (AnnotationError, 400), (BagError, 422), (OSError, 507)):
        app.add_exception_handler(error, error_response(status))

    @app.get("/api/episodes")
    def episodes() -> dict[str, Any]:
        rows = [_row(library, work, entry.key) for entry in library.entries]
        return {"author": author, "path": str(library.path), "episodes": rows}

    @app.get("/api/episodes/{key}")
    def episode(key: str) -> dict[str, Any]:
        opened = library.episode(key)
        return _description(opened) | {"key": key, "name": library.entry(key).name, "tracks": _tracks(library, key)}

    @app.get("/api/episodes/{key}/frames/{view}/{frame}.jpg")
    def picture(key: str, view: str, frame: int) -> Response:
        data = library.episode(key).jpeg(view, frame)
        headers = {"Cache-Control": "private, max-age=3600, immutable"}
        return Response(data, media_type="image/jpeg", headers=headers, status_code=200 if data else 204)

    @app.get("/api/episodes/{key}/curves")
    def curves(key: str) -> dict[str, Any]:
        library.entry(key)
        job = work.curves(key)
        found = {
            name: {"unit": UNITS.get(name, ""), "times": numbers(c.times), "values": numbers(c.values)}
            for name, c in (job.result or {}).items()
        }
        return {"ready": job.result is not None, "problem": job.problem, "curves": found}

    @app.get("/api/episodes/{key}/proposals")
    def proposals(key: str) -> dict[str, Any]:
        library.entry(key)
        recorded = work.recorded(key)
        asked = {source: _proposed(job) for source, job in work.proposals(key).items()}
        held = {source: [asdict(mark) for mark in marks] for source, marks in (recorded.result or {}).items()}
        ready = recorded.result is not None or bool(recorded.problem)
        return {"ready": ready, "problem": recorded.problem, "recorded": held, "asked": asked}

    @app.post("/api/episodes/{key}/proposals/{source}")
    def ask(key: str, source: str, request: Request) -> dict[str, Any]:
        _own_page(request)
        library.entry(key)
        work.propose(key, source)
        return proposals(key)

    @app.put("/api/episodes/{key}/track")
    def save(key: str, wanted: WantedTrack, request: Request) -> dict[str, Any]:
        _own_page(request)
        opened = library.episode(key)
        marks = [_mark(opened, mark) for mark in wanted.marks]
        return asdict(library.log(key).append(wanted.author, wanted.since, wanted.state, marks, wanted.action))

    @app.get("/api/episodes/{key}/history")
    def history(key: str) -> list[dict[str, Any]]:
        return [asdict(track) for track in library.log(key).history()]

    @app.get("/api/episodes/{key}/agreement")
    def agree(key: str, within: int = 10) -> list[dict[str, Any]]:
        pairs = agreement(library.log(key).tracks(), within)
        return [asdict(pair) | {"share": pair.share} for pair in pairs]

    app.mount("/", StaticFiles(directory=_STATIC, html=True))
    return app


def _own_page(request: Request) -> None:
    """Refuse what a third-party page sends through this browser.

    Raises:
        AnnotationError: it came from there.
    """
    if not of_own_page(request):
        raise AnnotationError(f"a page of {request.headers['origin']} may not write here")


def _row(library: Library, work: Work, key: str) -> dict[str, Any]:
    entry, recorded = library.entry(key), work.recorded(key)
    try:
        tracks = library.log(key).tracks().values()
        problem = recorded.problem
    except (AnnotationError, OSError) as error:
        tracks, problem = {}.values(), str(error)
    states = {track.author: {"state": track.state, "marks": len(track.marks), "time": track.time} for track in tracks}
    proposed = any(recorded.result.values()) if recorded.result else False
    return {"key": key, "name": entry.name, "tracks": states, "proposed": proposed, "problem": problem}


def _description(episode: AnnotatedEpisode) -> dict[str, Any]:
    about = episode.status
    return {
        "task": about.task,
        "instruction": about.instruction,
        "labels": episode.labels,
        "length": episode.length,
        "times": numbers(episode.times_s),
        "views": episode.views,
        "damages": list(episode.damages),
        "version": cache_file(episode.bag).stem,
    }


def _tracks(library: Library, key: str) -> dict[str, Any]:
    return {author: asdict(track) for author, track in library.log(key).tracks().items()}


def _proposed(job: BackgroundJob[tuple[Mark, ...]]) -> dict[str, Any]:
    marks = [asdict(mark) for mark in job.result or ()]
    return {"ready": job.result is not None, "share": job.share, "problem": job.problem, "marks": marks}


def _mark(episode: AnnotatedEpisode, mark: WantedMark) -> Mark:
    stamp = episode.stamp_ns(mark.frame)
    return Mark(mark.frame, stamp, mark.phase, label(episode.labels, mark.phase), mark.source, mark.score)
