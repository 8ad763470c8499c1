"""A bag in the time of its stamps: messages are due when their sensors saw, not when the recorder heard of it.

A simulator that waits for the stack was recorded as slowly as that machine was. A camera has its own pace.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from kc_vla.bags.reader import BagMessage
from kc_vla.episodes.recording import header_stamp_ns


def in_stamped_time(messages: Iterator[BagMessage], stamped: Collection[str]) -> Iterator[BagMessage]:
    """Yield the messages in their order, each with its stamp in place of the time at which it was received.

    A message without a stamp, or with an older one than a message before it, is given the newest stamp so far.

    Args:
        messages: of a bag, in the order in which they were recorded.
        stamped: the topics whose messages begin with a header.

    Raises:
        BagReadError: a message of such a topic is too short for a header.
    """
    newest_ns: int | None = None
    waiting: list[BagMessage] = []  # before the first stamp
    for message in messages:
        if message.topic in stamped:
            newest_ns = max(newest_ns or 0, header_stamp_ns(message))
        elif newest_ns is None:
            waiting.append(message)
            continue
        assert newest_ns is not None
        yield from (_at(early, newest_ns) for early in waiting)
        waiting.clear()
        yield _at(message, newest_ns)
    yield from waiting


def _at(message: BagMessage, time_ns: int) -> BagMessage:
    return replace(message, ref=message.ref._replace(log_time_ns=time_ns))
