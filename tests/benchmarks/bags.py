"""Bags of some gigabytes: how fast they are written, opened, searched, walked and read at random."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from mcap.writer import CompressionType, Writer
from tqdm import tqdm

from kc_vla.bags.outputs import create_output
from kc_vla.bags.reader import BagReader
from kc_vla.bags.schemas import Schema
from kc_vla.bags.storage import Storage
from kc_vla.bags.topics import TopicInfo

from .measuring import Spread, Table

_CAMERAS, _OTHERS = 2, 10
_PICTURE_BYTES, _OTHER_BYTES = 60_000, 200
"""Of a JPEG picture, which cannot be compressed further, and of another message, which can."""
_PERIOD_NS = 50_000_000
_CHUNK_BYTES = 768 * 1024
"""As rosbag2 has it."""
_TOPICS = [f"/topic_{number}" for number in range(_CAMERAS + _OTHERS)]
_TYPE = "std_msgs/msg/UInt8MultiArray"
_LOADED = 500
Add = Callable[[str, bytes, int], None]


def measure(quick: bool, work: Path) -> Table:
    """Write a bag of each kind, and read it in every way."""
    frames = 2_000 if quick else 30_000
    rows = [
        _row("MCAP, zstd", work / "zstd.mcap", frames, _fill_mcap(CompressionType.ZSTD)),
        _row("MCAP, uncompressed", work / "plain.mcap", frames, _fill_mcap(CompressionType.NONE)),
        _row("SQLite", work / "sqlite.db3", frames, _fill_sqlite),
    ]
    return Table(
        f"Bags of {frames * _PERIOD_NS / 6e10:.0f} minutes",
        rows,
        [
            f"{_CAMERAS} cameras at 20 Hz, {_PICTURE_BYTES // 1000} kB an image, {_OTHERS} other topics; the files "
            "are in the memory of the operating system.",
            "Open: topics and counts. Index: where every message is. Load: one image at random, p50 / p99 / max.",
        ],
    )


def _row(name: str, path: Path, frames: int, fill: Callable[[Path, int], None]) -> dict[str, Any]:
    try:
        took_s = _seconds(lambda: fill(path, frames))
        size = path.stat().st_size
        open_s = _seconds(lambda: BagReader(path).topics())
        reader = BagReader(path)
        index_s = _seconds(reader.index)
        refs = reader.index()[_TOPICS[0]]
        dice = random.Random(1)
        loads = [_seconds(lambda: reader.load(dice.choice(refs))) * 1e3 for _ in range(_LOADED)]
        walk_s = _seconds(lambda: [None for _ in tqdm(reader.messages(), desc=f"walk {name}", unit="message")])
    finally:
        path.unlink(missing_ok=True)
    return {
        "storage": name,
        "GB": size / 1e9,
        "messages": frames * len(_TOPICS),
        "write MB/s": size / 1e6 / took_s,
        "open ms": open_s * 1e3,
        "index ms": index_s * 1e3,
        "load ms": str(Spread.of(loads)),
        "walk MB/s": size / 1e6 / walk_s,
    }


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _fill(add: Add, frames: int, name: str) -> None:
    noise, other = np.random.default_rng(1).bytes(100 * _PICTURE_BYTES), bytes(_OTHER_BYTES)
    for frame in tqdm(range(frames), desc=f"write {name}", unit="frame"):
        for number, topic in enumerate(_TOPICS):
            begin = (frame * _CAMERAS + number) % 100 * _PICTURE_BYTES  # no two alike within a chunk
            add(topic, noise[begin : begin + _PICTURE_BYTES] if number < _CAMERAS else other, frame * _PERIOD_NS)


def _fill_mcap(compression: CompressionType) -> Callable[[Path, int], None]:
    def fill(path: Path, frames: int) -> None:
        with path.open("wb") as file:
            writer = Writer(file, chunk_size=_CHUNK_BYTES, compression=compression)
            writer.start(profile="ros2")
            schema = writer.register_schema(_TYPE, "ros2msg", b"uint8[] data")
            channels = {topic: writer.register_channel(topic, "cdr", schema) for topic in _TOPICS}
            _fill(lambda topic, data, now: writer.add_message(channels[topic], now, data, now), frames, path.name)
            writer.finish()

    return fill


def _fill_sqlite(path: Path, frames: int) -> None:
    topics = dict.fromkeys(_TOPICS, TopicInfo(_TYPE))
    schemas = {_TYPE: Schema(_TYPE, "uint8[] data", "")}
    output = create_output(Storage.SQLITE3, path, topics, schemas, None, 0)

    def add(topic: str, data: bytes, now: int) -> None:
        output.add(topic, data, now, now)
        if topic == _TOPICS[-1] and now % (20 * _PERIOD_NS) == 0:
            output.flush()  # every second, as the recorder does

    _fill(add, frames, path.name)
    output.finish("{}")
