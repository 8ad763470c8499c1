"""A bag from a time on, with the latched messages that a node which joins then would receive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kc_vla.bags.messages import BagMessage
from kc_vla.bags.reader import BagReader


def latched_before(reader: BagReader, depths: Mapping[str, int], time_ns: int) -> list[BagMessage]:
    """Return the last messages of transient local topics before a log time, in the order of time.

    Args:
        reader: of the bag.
        depths: how many messages of each topic are kept for those who come late.
        time_ns: ns since the epoch.

    Raises:
        BagReadError: the bag cannot be read.
    """
    refs = [
        ref
        for topic, places in reader.index(list(depths)).items()
        for ref in [place for place in places if place.log_time_ns < time_ns][-depths[topic] :]
    ]
    return [reader.load(ref) for ref in sorted(refs, key=lambda ref: ref.log_time_ns)]


def with_late_start(
    reader: BagReader, topics: Sequence[str] | None, latched: Sequence[str], start_s: float
) -> Iterator[BagMessage]:
    """Yield the first message of a bag, the last of each latched topic before the start, and all from there on.

    Args:
        reader: of the bag.
        topics: full names; all by default.
        latched: those of them that are transient local.
        start_s: s since the first message.

    Raises:
        BagReadError: the bag cannot be read.
    """
    first = next(reader.messages(topics), None)
    if first is None:
        return
    since_ns = first.ref.log_time_ns + round(start_s * 1e9)
    yield first
    yield from latched_before(reader, dict.fromkeys(latched, 1), since_ns)
    yield from reader.messages(topics, since_ns)
