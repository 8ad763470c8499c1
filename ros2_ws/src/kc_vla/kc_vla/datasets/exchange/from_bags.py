"""Bags of other stacks into episode bags: their messages, byte by byte, under our topics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from kc_vla.bags.errors import BagReadError
from kc_vla.bags.images import decode_image
from kc_vla.bags.reader import BagMessage, BagReader
from kc_vla.bags.recorder import BAG_FOLDER
from kc_vla.core.topics import image_topic
from kc_vla.datasets.exchange.bag_output import COMPRESSED, RAW, Announcement, BagOutput
from kc_vla.datasets.exchange.clock import whole_rate
from kc_vla.datasets.exchange.errors import ExchangeError
from kc_vla.datasets.exchange.imported import Imported, task_and_instruction
from kc_vla.datasets.exchange.topic_map import kinds_for, views_of
from kc_vla.episodes.episode_data import CommandMode
from kc_vla.episodes.recording import header_stamp_ns

_NS = 1_000_000_000


@dataclass(frozen=True)
class Asked:
    """How bags are to be imported.

    Attributes:
        topics: theirs by ours, see `topic_map`.
        task: name of the task.
        instruction: in words; by default the task's.
        name: of the episode, where it is one bag; by default the bag's.
        raw: whether compressed pictures are decompressed.
    """

    topics: Mapping[str, str]
    task: str | None = None
    instruction: str = ""
    name: str | None = None
    raw: bool = False


@dataclass(frozen=True)
class _Scan:
    """What was learnt of a bag in one go through it: types by topic, and the stamps of the frames, ns."""

    types: dict[str, str]
    stamps: list[int]
    first_log_ns: int
    messages: int


def import_bags(bags: Sequence[Path], output: Path, asked: Asked) -> Imported:
    """Write each bag as the episode `output`/<its name>/bag.

    Raises:
        BagError: a bag cannot be read, holds other types than it should, or an episode cannot be written; the message
            names the bag and the number of the message.
    """
    if asked.name and len(bags) > 1:
        raise ExchangeError(f"one --name for {len(bags)} bags: import them one by one, or leave it out")
    folders, notes, frames = [], list[str](), 0
    for bag in bags:
        scan = _scan(bag, asked.topics)
        name = asked.name or (bag.parent.name if bag.name == BAG_FOLDER else bag.stem if bag.is_file() else bag.name)
        task, instruction = task_and_instruction(asked.task, asked.instruction, str(bag))
        about = Announcement(name, task, instruction, scan.stamps[0], _period_s(scan.stamps))
        notes += _copy(bag, output, about, asked, scan)
        folders.append(output / name)
        frames += len(scan.stamps)
    return Imported(tuple(folders), frames, tuple(notes))


def _scan(bag: Path, topics: Mapping[str, str]) -> _Scan:
    """Look through a bag.

    Raises:
        ExchangeError: a topic is missing or has another type than it should, or the pictures have no ascending stamps.
    """
    reader = BagReader(bag)
    ours = {theirs: own for own, theirs in topics.items()}
    frames = image_topic(views_of(topics)[0])
    types: dict[str, str] = {}
    seen: set[str] = set()
    stamps: list[int] = []
    first_log_ns, count = 0, 0
    for message in reader.messages():
        seen.add(message.topic)
        if message.topic not in ours:
            continue
        first_log_ns = first_log_ns or message.ref.log_time_ns
        types.setdefault(message.topic, message.ref.type)
        count += 1
        if ours[message.topic] == frames:
            stamps.append(_stamp(message, bag, len(stamps)))
            if len(stamps) > 1 and stamps[-1] <= stamps[-2]:
                raise ExchangeError(f"{bag}, picture {len(stamps) - 1} on {message.topic}: its stamp does not ascend")
    for own, theirs in topics.items():
        if theirs not in types:
            raise ExchangeError(f"{bag}: no messages on {theirs} ({own}); it has {', '.join(sorted(seen)) or 'none'}")
        if types[theirs] not in (kinds := kinds_for(own)):
            raise ExchangeError(f"{bag}: {theirs} is {types[theirs]}; {own} can be filled from {' or '.join(kinds)}")
    if len(stamps) < 2:
        raise ExchangeError(f"{bag}: {len(stamps)} pictures on {topics[frames]}: at least 2 are wanted")
    return _Scan(types, stamps, first_log_ns, count)


def _copy(bag: Path, output: Path, about: Announcement, asked: Asked, scan: _Scan) -> list[str]:
    target = {
        theirs: f"/{own}/compressed" if scan.types[theirs] == COMPRESSED and not asked.raw else f"/{own}"
        for own, theirs in asked.topics.items()
    }
    reader = BagReader(bag)
    counts = dict.fromkeys(target, 0)
    with BagOutput(output, about, list(target.values()), scan.first_log_ns) as written:
        for message in tqdm(
            reader.messages(list(target)), total=scan.messages, desc=f"import {about.episode_id}", unit="message"
        ):
            number, topic = counts[message.topic], target[message.topic]
            counts[message.topic] += 1
            stamp = _stamp(message, bag, number)
            content = reader.decode(message)  # what cannot be understood is told here, not when it is wanted
            if topic == "/arm/command":
                if stamp >= about.start_ns:
                    _command(
                        written, content, stamp, message.ref.log_time_ns, f"{bag}, message {number} on {message.topic}"
                    )
            elif message.ref.type == COMPRESSED and asked.raw:
                try:
                    pixels = decode_image(content, message.topic)
                except BagReadError as error:
                    raise ExchangeError(f"{bag}, frame {number}: {error}") from error
                written.picture(topic.split("/")[1], pixels, stamp, RAW, message.ref.log_time_ns)
            else:
                written.copy(topic, message.data, message.publish_time_ns, message.ref.log_time_ns)
        written.finish(scan.stamps[-1], message.ref.log_time_ns)
    return [f"{bag}: {damage}" for damage in reader.damages]


def _period_s(stamps: Sequence[int]) -> float:
    """Time between two frames; where the camera makes about a whole number of them a second, just that."""
    rate = _NS / float(np.median(np.diff(stamps)))
    return 1 / (whole_rate(rate) or rate)


def _command(bag: BagOutput, state: Any, stamp: int, log_ns: int, told: str) -> None:
    """A joint target of theirs as a command of ours, for the control step that it falls into."""
    values = np.asarray(state.position, np.float64)
    if len(values) != len(state.name) or not len(values) or not np.isfinite(values).all():
        raise ExchangeError(f"{told}: {len(state.name)} joints, but the positions are {values.tolist()}")
    step = int((stamp - bag.about.start_ns) * 1e-9 / bag.about.period_s + 1e-6)
    bag.command(step, int(CommandMode.JOINT_POSITION), list(state.name), values.tolist(), stamp, log_ns)


def _stamp(message: BagMessage, bag: Path, number: int) -> int:
    """The header's stamp.

    Raises:
        BagError: there is none.
    """
    stamp = header_stamp_ns(message)
    if stamp <= 0:
        raise ExchangeError(
            f"{bag}, message {number} on {message.topic}: it has no stamp; without, nothing can be brought together"
        )
    return stamp
