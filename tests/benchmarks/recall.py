"""The short-term memory: time to take in an observation and to recall, beside caches and a plain search."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from kc_vla.memory.embedding.cache import Cached
from kc_vla.memory.embedding.minilm import MiniLm
from kc_vla.memory.evaluation.questions import read_questions
from kc_vla.memory.recall.instruction import understand
from kc_vla.memory.recall.recall import Recall
from kc_vla.memory.short_term.memory import ShortTermMemory
from kc_vla.memory.short_term.unit import ObjectState, Position, Unit

from .measuring import Spread, Table

SIZES = (100, 1000, 10_000)
_SEEN = 20
"""Objects in view at a time: of a few types more than of others, as in a home."""
_RATE_HZ = 5
_STAYS = 10
"""Frames for which each of them is in view."""
_COLOURS, _PLACES = ("red", "blue", "green", "white"), ("on the table", "on the desk", "in the cabinet")


def measure(quick: bool, work: Path) -> Table:
    """Fill memories of several sizes from a home of one and a half times as many objects, and ask them."""
    rows: list[dict[str, Any]] = []
    minilm = MiniLm()
    sizes = SIZES[: 2 if quick else 3]
    for size in tqdm(sizes, desc="recall", unit="size"):
        rows += _of_size(size, minilm, 1 if quick else 5)
    questions = [question.text for question in read_questions()][: 30 if quick else 200]
    rows.append(_row(1, "embed a sentence, offline", _times(lambda text: minilm.embed([text]), questions), "ms"))
    missing = [name for name in ("theine", "moka_py") if _cache(name, 10) is None]
    return Table(
        "Short-term memory: time of an observation and of a recall, one thread: p50 / p99 / max",
        rows,
        [
            f"A robot goes about a home of one and a half times as many objects as units: {_SEEN} in view at "
            f"{_RATE_HZ} Hz, each for {_STAYS} frames, with color, place and state. `observe` is of all of these; the "
            "lines below it take them apart. Policy: adaptive, which watches two rivals.",
            "`recall`: the ten units of an instruction of `kc-vla eval recall`, embedded before; after each, an object "
            "is seen in another state. Processor time leaves out waiting for other work on the machine. `numpy`: the "
            "ten largest of one product with as many vectors (D = 384).",
            "theine, moka-py: `get`, and `set` where it is missing, of the same ids; they keep neither units nor the "
            "reason of an eviction.",
            *([f"Not installed, and left out: {', '.join(missing)} (pip install theine moka-py)."] if missing else []),
        ],
    )


def _of_size(size: int, minilm: MiniLm, rounds: int) -> list[dict[str, Any]]:
    memory = ShortTermMemory(size)
    stream = _stream(size)
    for unit in islice(stream, 3 * size * _STAYS):
        memory.observe(unit)
    taken: dict[str, list[float]] = {"observe": []}
    units = list(islice(stream, 20_000))
    for unit in units:
        began = time.perf_counter()
        change = memory.observe(unit)
        took = time.perf_counter() - began
        kind = change.reason if "view" in change.reason else "seen again" if "again" in change.reason else "new"
        taken["observe"].append(took)
        taken.setdefault(f"observe: {kind.removeprefix('it is known, and ')}", []).append(took)
    rows = [_row(size, name, times, "us") for name, times in taken.items()]
    for name in ("theine", "moka_py"):
        if (use := _cache(name, size)) is not None:
            for unit in units:
                use(unit.object_id)
            rows.append(_row(size, name, _times(use, [unit.object_id for unit in units]), "us"))
    return [*rows, *_recalls(size, memory, units[-1], minilm, rounds)]


def _recalls(size: int, memory: ShortTermMemory, last: Unit, minilm: MiniLm, rounds: int) -> list[dict[str, Any]]:
    texts = [question.text for question in read_questions()]
    cached = Cached(minilm)
    cached.embed([understand(text).meaning for text in texts])
    recall = Recall(memory, cached)
    recall.prepare()
    taken, busy = [], []
    now = last.stamp
    for number, text in enumerate(texts * rounds):
        now += 1 / _RATE_HZ
        state = ObjectState.DIRTY if number % 2 else ObjectState.CLEANED
        memory.observe(Unit(last.object_type, last.object_id, last.position, now, state, attributes=last.attributes))
        began, worked = time.perf_counter(), time.thread_time()
        recall.ask(text, 10)
        busy.append(time.thread_time() - worked)
        taken.append(time.perf_counter() - began)
    chance = np.random.default_rng(0)
    vectors = chance.standard_normal((len(memory), 384)).astype(np.float32)
    asked = chance.standard_normal((len(texts), 384)).astype(np.float32)

    def plain(question: Any) -> None:
        np.argpartition(-(vectors @ question), 10)[:10]

    return [
        _row(size, "recall", taken, "ms"),
        _row(size, "recall, processor time", busy, "ms"),
        _row(size, "numpy", _times(plain, [*asked] * rounds), "ms"),
    ]


def _stream(size: int) -> Iterable[Unit]:
    """What a robot sees, frame after frame."""
    types = sorted({unit.object_type for question in read_questions() for unit in question.units})
    chance = np.random.default_rng(0)
    of_object = [types[int(each) % len(types)] for each in chance.zipf(1.3, 3 * size // 2)]
    view = [int(each) for each in chance.integers(len(of_object), size=_SEEN)]
    frame = 0
    while True:
        frame += 1
        view[frame * _SEEN // _STAYS % _SEEN] = int(chance.integers(len(of_object)))
        view[(frame * _SEEN // _STAYS + 1) % _SEEN] = int(chance.integers(len(of_object)))
        for number in view:
            attributes = {"colour": _COLOURS[number % 4], "place": _PLACES[number % 3]}
            position = Position(number % 17 / 2, number % 13 / 2, number % 5 / 4)
            state = tuple(ObjectState)[number % len(ObjectState)]
            yield Unit(of_object[number], f"object-{number}", position, frame / _RATE_HZ, state, attributes=attributes)


def _cache(name: str, size: int) -> Callable[[str], None] | None:
    """What uses an id in a cache of others; None where that is not installed."""
    try:
        module = import_module(name)
    except ImportError:
        return None
    cache = module.Cache(size) if name == "theine" else module.Moka(size)

    def use(object_id: str) -> None:
        if cache.get(object_id) is None:
            cache.set(object_id, object_id)

    return use


def _times(do: Callable[[Any], Any], given: Iterable[Any]) -> list[float]:
    taken = []
    for each in given:
        began = time.perf_counter()
        do(each)
        taken.append(time.perf_counter() - began)
    return taken


def _row(size: int, name: str, times: list[float], unit: str) -> dict[str, Any]:
    factor = {"us": 1e6, "ms": 1e3}[unit]
    return {
        "units": size,
        "operation": name,
        "time": Spread.of(factor * each for each in times),
        "unit": unit,
        "samples": len(times),
    }
