"""What a live page that is open costs the selector and the control loop, against the same run with it closed."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.core import topics

from .jitter import periods_ms
from .measuring import MeasurementError, Spread, Table
from .stack import CONTROL, SELECTION, Record, Setting, moving_parameters, record

WIDTH, HEIGHT, CAMERA_HZ, CONTROL_HZ = 640, 480, 30, 120
_STEPS = 2 * CONTROL_HZ // CAMERA_HZ
"""Control steps of half a period between two pictures: by these the frames of an episode are counted."""
_SPELL_S, _SETTLING_S = 8.0, 1.0
"""How long the pages are closed, and open, in turns; and how much of each spell is not measured."""
_OBSERVERS = 40
"""Real-time priority of who notes what comes: below the control loop's, and before all that is measured."""
_DRAWS = 2000
PAGES = {"none (nothing is opened)": (0, 0), "1": (1, 0), "10, one of which takes nothing": (10, 1)}
"""How many are opened, and how many of them are stalled."""
Sample = NDArray[np.float64]


@dataclass(frozen=True)
class _Spell:
    """Of a time in which the pages were open, or closed.

    Attributes:
        scores: from each picture to its score, ms.
        periods: by which each period of the control loop is off, by the loop's own clock, ms.
        arrivals: the same at a reader in another process, ms.
        rates: pictures a second of each page that looks.
    """

    scores: Sample
    periods: Sample
    arrivals: Sample
    rates: Sequence[float]


def measure(quick: bool, work: Path) -> Table:
    """Open and close the pages of a running stack, in turns, so that other work on the machine weighs on both alike."""
    pairs = 3 if quick else 20
    priority = _OBSERVERS if _may_take(_OBSERVERS) else 0
    rows = []
    for number, (pages, (count, stalled)) in enumerate(PAGES.items()):
        folder = work / str(number)
        found = record(
            _setting(folder, count, stalled, priority), (2 * pairs + 1) * _SPELL_S, folder, f"pages: {pages}"
        )
        rows.append({"pages": pages} | _row(_pairs(found), found.cpu["viewer"]))
    return Table(
        f"A live page open, two {WIDTH}x{HEIGHT} cameras at {CAMERA_HZ} Hz: p50 / p99 / max, closed and open",
        rows,
        [
            f"Viewer, selector by rules, buffer, replayed chunks, a controller of {CONTROL_HZ} Hz in real time, as "
            f"processes of one session, as a launch starts them. The pages are closed for {_SPELL_S:g} s and open for "
            f"{_SPELL_S:g} s in turns, in one run, {pairs} times; the first {_SETTLING_S:g} s of each are left out. "
            "They are open on the same machine, and what they do themselves gives way, as if they were open elsewhere.",
            f"`image to score`: at a reader in another process, {'at real-time' if priority else 'of no'} priority. "
            "`control period off`: by the stamps of the commands; `at a reader`: when they came there.",
            f"`p99 ratio`: open by closed, all spells together; in brackets the 95 % of {_DRAWS} draws of pairs of "
            "spells.",
            "`viewer's CPU`: of one core, pages open for half the time. `images/s`: of both cameras together, "
            "median of the pages that look.",
        ],
    )


def _row(pairs: Sequence[tuple[_Spell, _Spell]], cpu: float) -> Mapping[str, Any]:
    row: dict[str, Any] = {}
    for name, of in (
        ("image to score", lambda spell: spell.scores),
        ("control period off", lambda spell: spell.periods),
        ("at a reader", lambda spell: spell.arrivals),
    ):
        closed, opened = ([of(pair[which]) for pair in pairs] for which in (0, 1))
        row[f"{name}, ms"] = f"{Spread.of(np.concatenate(closed))}; {Spread.of(np.concatenate(opened))}"
        row[f"{name}: p99 ratio"] = _ratio(closed, opened)
    rates = [rate for _, spell in pairs for rate in spell.rates]
    return row | {"viewer's CPU": f"{cpu:.1%}", "images/s": f"{np.median(rates):.1f}" if rates else "-"}


def _ratio(closed: Sequence[Sample], opened: Sequence[Sample]) -> str:
    def of(places: Sequence[int] | NDArray[np.int64]) -> float:
        above, below = (np.percentile(np.concatenate([each[i] for i in places]), 99) for each in (opened, closed))
        return float(above / below)

    draws = np.random.default_rng(0).integers(0, len(closed), (_DRAWS, len(closed)))
    low, high = np.percentile([of(draw) for draw in draws], (2.5, 97.5))
    return f"{of(range(len(closed))):.2f} ({low:.2f} to {high:.2f})"


def _pairs(found: Record) -> Sequence[tuple[_Spell, _Spell]]:
    """Return the whole pairs of a closed spell and the open one after it."""
    sent = {(picture["episode"], picture["frame"] * _STEPS): picture["at"] for picture in found.sent}
    scores = [
        (at, (score["at"] - at) / 1e6)
        for score in found.results[topics.KEYFRAME_SCORE]
        if (at := sent.get((score["episode"], score["frame"]))) is not None
    ]
    commands = found.results[topics.ARM_COMMAND]
    made, came = ([command[key] for command in commands] for key in ("made", "at"))
    begun = found.sent[0]["at"]
    spells = [spell for spell in found.helpers["pages"] if spell["from"] >= begun]
    first = next((place for place, spell in enumerate(spells) if not spell["open"]), len(spells))
    measured = [_spell(spell, np.array(scores).reshape(-1, 2), made, came) for spell in spells[first:]]
    pairs = list(zip(measured[::2], measured[1::2], strict=False))
    if not pairs:
        raise MeasurementError("the pages were never closed and open again: is the run too short?")
    return pairs


def _spell(told: Mapping[str, Any], scores: Sample, made: Sequence[int], came: Sequence[int]) -> _Spell:
    begin, end = told["from"] + _SETTLING_S * 1e9, told["to"]
    within = [begin < at < end for at in came[1:]]
    off = [np.abs(periods_ms(times) - 1e3 / CONTROL_HZ)[within] for times in (made, came)]
    looking = [[at for at in page if begin < at < end] for page in told["seen"]]
    return _Spell(
        scores[(scores[:, 0] > begin) & (scores[:, 0] < end), 1],
        *off,
        [len(page) * 1e9 / (end - begin) for page in looking if page],
    )


def _may_take(priority: int) -> bool:
    """Whether this user's processes may have a real-time priority: asked of one that ends again."""
    ask = f"from kc_vla.arm.scheduling import take_priority; take_priority({priority})"
    return subprocess.run([sys.executable, "-c", ask], capture_output=True, check=False).returncode == 0


def _setting(folder: Path, pages: int, stalled: int, observers_priority: int) -> Setting:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    parameters = moving_parameters(folder, CONTROL_HZ)
    parameters["keyframe_selector"] = {"selector": "rules"}
    parameters["viewer"] = {"port": port}
    return Setting(
        *(WIDTH, HEIGHT, CAMERA_HZ, (*SELECTION, *CONTROL, "viewer"), parameters),
        frames=100_000,
        control_period=0.5 / CONTROL_HZ,
        helpers=(("pages", {"port": port, "number": pages, "stalled": stalled, "spell": _SPELL_S}),),
        observers_priority=observers_priority,
    )
