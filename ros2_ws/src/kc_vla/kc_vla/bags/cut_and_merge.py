"""A part of a bag, and several bags in one: `kc-vla bag cut|merge`. Bags of any size: messages pass one by one."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from tqdm import tqdm

from kc_vla.bags.errors import BagEmptyError, BagReadError
from kc_vla.bags.joining_late import latched_before
from kc_vla.bags.lock import is_being_written
from kc_vla.bags.messages import BagMessage
from kc_vla.bags.new_bag import NewBag, definition, new_bag
from kc_vla.bags.reader import BagReader
from kc_vla.bags.storage import Storage, storage_of
from kc_vla.bags.topics import Contents, RecordedTopic, TopicInfo

MOST_MESSAGE_BYTES = 1 << 28
"""Bytes of the largest message that is copied: memory holds a packed and an unpacked one of each bag at once."""
_GAP_NS = 3600 * 1_000_000_000


@dataclass(frozen=True)
class Copied:
    """What became of it.

    Attributes:
        output: the new bag.
        messages: how many were written.
        damages: of the bags that were read, a line each.
        notes: what a person should know, a line each.
    """

    output: Path
    messages: int
    damages: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def lines(self) -> Iterator[str]:
        """Yield the result as lines for a person."""
        yield from self.damages
        yield from self.notes
        yield f"{self.output}: {self.messages} messages"


def cut(
    bag: Path,
    output: Path,
    from_s: float = 0.0,
    to_s: float = float("inf"),
    topics: Sequence[str] | None = None,
    storage: Storage | None = None,
) -> Copied:
    """Write the messages of `bag` between two times into the new bag `output`.

    What late subscribers would have got at the beginning (the last messages of transient local topics) comes first,
    with the beginning of the cut as its log time.

    Args:
        bag: folder or file; it may be torn.
        output: folder that does not exist.
        from_s, to_s: s since the first message of the bag, both included.
        topics: full names; all by default.
        storage: of the output; that of `bag` by default.

    Raises:
        BagReadError: the bag cannot be read, has no such topic or no message in that time, or one that is too large.
        BagWriteError: the output exists, or cannot be written.
    """
    if not 0.0 <= from_s <= to_s:
        raise BagReadError(f"cannot cut from {from_s:g} s to {to_s:g} s: the first is to be 0 or more, and the smaller")
    reader = BagReader(bag)
    notes = tuple(_unfinished([bag]))
    contents = reader.contents()
    chosen = _chosen(bag, contents.topics, topics)
    begin = contents.start_ns + round(from_s * 1e9)
    end = contents.end_ns if to_s == float("inf") else contents.start_ns + round(to_s * 1e9)
    latched = {name: topic.qos.depth for name, topic in chosen.items() if topic.qos.transient_local}
    before = latched_before(reader, latched, begin) if latched and begin > contents.start_ns else []
    with new_bag(output, storage or storage_of(reader.files[0]), reader.episode) as new:
        _declare(new, reader, chosen)
        for message in _with_bar(_bearable(reader, reader.messages(list(chosen), begin)), f"cut {bag.name}", None):
            if message.ref.log_time_ns <= end:
                while before:
                    new.add(before.pop(0), begin)
                new.add(message, message.ref.log_time_ns)
        if not new.messages:
            lasts = (contents.end_ns - contents.start_ns) * 1e-9
            raise BagEmptyError(f"{bag} has no message from {from_s:g} s to {to_s:g} s: it lasts {lasts:.1f} s")
        return Copied(output, new.messages, tuple(reader.damages), notes)


def merge(output: Path, bags: Sequence[Path], storage: Storage | None = None) -> Copied:
    """Write the messages of several bags into the new bag `output`, in the order of their log times.

    Messages of one bag keep their order. The episode is that of the first bag that names one.

    Args:
        output: folder that does not exist.
        bags: folders or files, of any storage; they may be torn.
        storage: of the output; that of the first bag by default.

    Raises:
        BagReadError: a bag cannot be read, or they disagree about a topic, or a message is too large.
        BagWriteError: the output exists, or cannot be written.
    """
    readers = [BagReader(bag) for bag in bags]
    unfinished = tuple(_unfinished(bags))
    contents = [reader.contents() for reader in readers]
    episode = next((reader.episode for reader in readers if reader.episode is not None), None)
    with new_bag(output, storage or storage_of(readers[0].files[0]), episode) as new:
        for reader, found in zip(readers, contents, strict=True):
            _declare(new, reader, found.topics)
        streams = (_bearable(reader, reader.messages()) for reader in readers)
        ordered = heapq.merge(*streams, key=lambda message: message.ref.log_time_ns)
        for message in _with_bar(ordered, f"merge {len(bags)} bags", sum(found.messages for found in contents)):
            new.add(message, message.ref.log_time_ns)
        if not new.messages:
            raise BagEmptyError("none of the bags holds a message")
        damages = tuple(damage for reader in readers for damage in reader.damages)
        return Copied(output, new.messages, damages, (*unfinished, *_gaps(bags, contents)))


def _unfinished(bags: Sequence[Path]) -> Iterator[str]:
    """Yield a line about each bag that will have more messages."""
    yield from (f"{bag} is being recorded: what was on the disk is taken" for bag in bags if is_being_written(bag))


def _gaps(bags: Sequence[Path], contents: Sequence[Contents]) -> Iterator[str]:
    """Yield a line about each time without a message that is longer than people mean it to be."""
    spans = [(c.start_ns, c.end_ns, str(bag)) for bag, c in zip(bags, contents, strict=True) if c.messages]
    last = (0, "")  # end and name of the bag that lasts longest so far
    for start, end, bag in sorted(spans):
        if last[1] and start - last[0] > _GAP_NS:
            gap = timedelta(seconds=(start - last[0]) // 1_000_000_000)
            asked = "were their clocks the same? A player waits that long"
            yield f"{bag} begins {gap} h after the end of {last[1]}: {asked}"
        last = max(last, (end, bag))


def _chosen(bag: Path, recorded: dict[str, RecordedTopic], topics: Sequence[str] | None) -> dict[str, RecordedTopic]:
    if topics is None:
        return recorded
    names = [name if name.startswith("/") else f"/{name}" for name in topics]
    if missing := sorted(set(names) - recorded.keys()):
        raise BagReadError(f"{bag} has no {', '.join(missing)}: it has {', '.join(sorted(recorded)) or 'no topic'}")
    return {name: topic for name, topic in recorded.items() if name in names}


def _declare(new: NewBag, reader: BagReader, topics: dict[str, RecordedTopic]) -> None:
    for name, topic in topics.items():
        new.declare(name, TopicInfo(topic.type, topic.qos), definition(reader, topic.type), reader.path)


def _bearable(reader: BagReader, messages: Iterator[BagMessage]) -> Iterator[BagMessage]:
    for message in messages:
        if len(message.data) > MOST_MESSAGE_BYTES:
            size = f"{len(message.data) / 1e6:.0f} MB, {MOST_MESSAGE_BYTES / 1e6:.0f} MB are the most"
            raise BagReadError(
                f"{reader.path}: a message on {message.topic} has {size}: leave it out with 'kc-vla bag cut --topics'"
            )
        yield message


def _with_bar(messages: Iterable[BagMessage], what: str, count: int | None) -> Iterator[BagMessage]:
    return iter(tqdm(messages, desc=what, total=count, unit="message", unit_scale=True, leave=False, disable=None))
