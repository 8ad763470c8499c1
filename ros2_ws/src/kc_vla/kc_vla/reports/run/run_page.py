"""Writes the page of a run: one HTML file with style and script in it, beside the episodes whose files it shows."""

from __future__ import annotations

import base64
import hashlib
import math
import os
import struct
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from jinja2 import DictLoader, Environment, StrictUndefined

from kc_vla.bags.errors import ReportError
from kc_vla.core.files import write_whole
from kc_vla.keyframes.metrics import TOLERANCE_FRAMES
from kc_vla.reports.files import CONTACT_SHEET, POSTER, SUMMARY, VIDEO
from kc_vla.reports.run import figures
from kc_vla.reports.run.episode import BAG, PICTURES, TEXTS, RunEpisode
from kc_vla.reports.run.folder import RunFolder, run_of

_PARTS = Path(__file__).with_name("page")
_SHOWN = (("keyframe_selector", "camera_to_event"), ("policy_server", "predict"))
"""Latencies in the table of the episodes: from an image to its keyframe event, and of a chunk."""
_FASTEST_MS, _SLOWEST_MS = 0.1, 10_000.0


def write_run_page(path: Path) -> Path:
    """Write the page of the run of a table, or of all that is in a folder, from what is there; return its file.

    Raises:
        BagMissingError: there is no run.
        ReportError: the table cannot be read, or the page not be written.
    """
    run = run_of(path)
    if run.page.is_symlink():  # in a folder of others it may lead anywhere
        raise ReportError(f"cannot write {run.page}: it is a link: remove it")
    try:
        write_whole(run.page, run_page(run))
    except OSError as error:
        why = error.strerror or str(error)
        raise ReportError(f"cannot write {run.page}: {why}; free space, or make the folder writable") from error
    return run.page


def run_page(run: RunFolder) -> str:
    """Return the page, as HTML."""
    style, script, template = ((_PARTS / name).read_text("utf-8") for name in ("run.css", "run.js", "run.html"))
    environment = Environment(
        loader=DictLoader({"run.html": template}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"url": _url, "ms": _ms, "log": _log_percent, "clock": _clock}
    shared = figures.settings(run.episodes)
    verdicts = [each.verdict[1] for each in run.episodes]
    page = environment.get_template("run.html").render(
        run=run,
        style=style,
        script=script,
        policy=_policy(script),
        made=f"{datetime.now():%Y-%m-%d %H:%M}",
        good=verdicts.count("good"),
        judged=len(verdicts) - verdicts.count("open"),
        mixed=len(set(verdicts)) > 1,
        success=figures.successes(run.episodes),
        offsets=figures.offsets(run.episodes),
        latencies=figures.latencies(run.episodes),
        settings=shared,
        warnings=figures.warnings(run.episodes, run.notes, shared),
        longest=_longest(run.episodes),
        heights=_heights(run.episodes),
        tolerance=TOLERANCE_FRAMES,
        farthest=figures.FARTHEST,
        is_near=figures.is_near,
        shown=_SHOWN,
        size=lambda episode, name: png_size(run.folder / episode.name / name),
        names={"video": VIDEO, "poster": POSTER, "sheet": CONTACT_SHEET, "summary": SUMMARY, "bag": BAG},
        pictures=PICTURES,
        texts=TEXTS,
        decades=[0.1, 1, 10, 100, 1000, 10_000],
    )
    return page.encode("utf-8", "replace").decode("utf-8")  # JSON and names of folders can have halves of letters


def _policy(script: str) -> str:
    """Return what the page may load: images and videos from where it lies, and this script; nothing from elsewhere."""
    own = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    files_here = "'self' file:"
    return (
        f"default-src 'none'; img-src {files_here} data:; media-src {files_here}; "
        f"style-src 'unsafe-inline'; script-src 'sha256-{own}'; base-uri 'none'; form-action 'none'"
    )


def _url(path: str) -> str:
    """Return a relative address of a file, whatever it is called."""
    return "./" + quote(os.fsencode(path))


def _ms(value: float) -> str:
    """Return the milliseconds in as many digits as matter."""
    return f"{value:.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 0.995 else f"{value:.2f}"


def _log_percent(value: float) -> float:
    """Return where a latency in ms is on the scale of latencies, 0..100."""
    within = min(max(value, _FASTEST_MS), _SLOWEST_MS)
    return round(100 * math.log(within / _FASTEST_MS) / math.log(_SLOWEST_MS / _FASTEST_MS), 2)


def _clock(seconds: float) -> str:
    """Return a duration as people write it."""
    return f"{seconds:.1f} s" if seconds < 100 else f"{int(seconds) // 60}:{int(seconds) % 60:02} min"


def _longest(episodes: Sequence[RunEpisode]) -> float:
    """Return the longest duration, s; 0 where none is known."""
    return max((each.duration_s or 0.0 for each in episodes), default=0.0)


def _heights(episodes: Sequence[RunEpisode]) -> list[float]:
    """Return the height of the bar of each episode, 0..100, by its duration; a stub where that is not known."""
    longest = _longest(episodes) or 1.0
    return [round(max(6.0, 100.0 * (each.duration_s or 0.0) / longest), 1) for each in episodes]


def png_size(path: Path) -> tuple[int, int] | None:
    """Return the width and height of a PNG, px, from its first bytes; None where it is none, or cannot be read."""
    try:
        with path.open("rb") as file:
            head = file.read(24)
    except OSError:
        return None
    if len(head) < 24 or head[:8] != b"\x89PNG\r\n\x1a\n":
        return None
    width, height = struct.unpack(">II", head[16:])
    return (int(width), int(height)) if width and height else None
