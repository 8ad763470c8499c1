"""Chooses the part of a third-party bag that becomes an episode: with one clock, images and joint states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.alignment import nearest
from kc_vla.core.topics import view_on
from kc_vla.datasets.exchange.bag_streams import Message, Stream, Streams, group_key, groups_of, leave_out_late
from kc_vla.datasets.exchange.errors import ExchangeError
from kc_vla.datasets.exchange.stream_clock import ascending, longest_run, period_ns, steps

_NS = 1_000_000_000
_HEARD_WITHIN_NS = 500_000_000
"""As the export wants it of states."""
_SAME_STEP_NS = 1_000_000_000
_HALF = 0.5
_LEAST = 2
_END = 2**62


class _Break(NamedTuple):
    """A clock was set: by how many s, on which topic (and of which joints), ahead of which message, recorded when."""

    at: int
    log_ns: int
    seconds: float
    topic: str
    group: object


def choose(streams: Streams, frames: Stream, first: int | None, last: int | None) -> list[str]:
    """Leave of all streams what belongs to one segment of images; return what a person should know, a line each.

    Args:
        streams: of the bag.
        frames: of them, the one whose images are the frames.
        first, last: numbers of its images in the order of recording, both included; None: all.

    Raises:
        ExchangeError: there are no such images, or fewer than two are left.
    """
    count = len(frames.messages)
    begin, end = first or 0, count - 1 if last is None else last
    if not 0 <= begin <= end < count:
        raise ExchangeError(
            f"{streams.bag}: --from {begin} --to {end}: {frames.theirs} has the images 0 to {count - 1}"
        )
    pieces = _Pieces(streams)
    after = frames.messages[begin - 1].at if begin else -1
    before = frames.messages[end + 1].at if end + 1 < count else _END
    for stream in streams.by.values():
        stream.used = [message for message in stream.used if after < message.at < before]
    notes = pieces.keep_longest(streams, frames)
    for stream in streams.by.values():
        leave_out_late(stream, streams.begin_ns)
    for stream in streams.by.values():
        if view_on(stream.ours):
            if moved := int((np.diff(stream.stamps) < 0).sum()):
                notes.append(f"{streams.bag}: {stream.theirs}: {moved} pictures came after later ones: put in order")
            _, again = ascending(stream.stamps)
            stream.leave_out([stream.used[k] for k in again.tolist()], "repeat the stamp of another", streams.begin_ns)
    if len(frames.used) < _LEAST:
        raise ExchangeError(f"{streams.bag}: {len(frames.used)} images on {frames.theirs}: at least 2 are wanted")
    return notes


class _Pieces:
    """The segments of a bag in which no clock was set.

    A clock of a machine is set for all its topics at once, but each has its own first message behind that.
    """

    def __init__(self, streams: Streams) -> None:
        """Find them in what is used of all streams."""
        breaks = [
            _Break(group[step.at].at, group[step.at].ref.log_time_ns, step.seconds, stream.theirs, key)
            for stream in streams.by.values()
            for key, group in groups_of(stream).items()
            for step in steps(*_times(group))
        ]
        self.breaks: list[list[_Break]] = []
        for each in sorted(breaks, key=lambda each: each.at):
            if self.breaks and each.log_ns - self.breaks[-1][0].log_ns <= _SAME_STEP_NS:
                self.breaks[-1].append(each)
            else:
                self.breaks.append([each])

    def _piece(self, stream: Stream, message: Message) -> int:
        """Return the number of the piece that a message is in."""
        key = group_key(message)
        number = 0
        for same in self.breaks:
            own = [each.at for each in same if (each.topic, each.group) == (stream.theirs, key)]
            number += message.at >= (own[-1] if own else same[0].at)
        return number

    def keep_longest(self, streams: Streams, frames: Stream) -> list[str]:
        """Use the messages of the piece with the most images alone, and say how to get at the others."""
        if not self.breaks:
            return []
        numbers: dict[int, list[int]] = {}
        for message in frames.used:
            numbers.setdefault(self._piece(frames, message), []).append(message.number)
        best = max(numbers, key=lambda piece: len(numbers[piece]), default=0)
        for stream in streams.by.values():
            stream.used = [message for message in stream.used if self._piece(stream, message) == best]
        others = [
            f"--from {piece[0]} --to {piece[-1]}"
            for number, piece in sorted(numbers.items())
            if number != best and len(piece) >= _LEAST
        ]
        if not others and len(numbers) < _LEAST:  # it was cut out already
            return []
        kept = numbers.get(best) or [0]
        hint = "are imported" + (f"; for the others: {' or '.join(others)}" if others else "")
        return [
            f"{streams.bag}: {_told(same, frames, streams.begin_ns)}: pictures {kept[0]} to {kept[-1]} {hint}"
            for same in self.breaks
        ]


def _times(group: Sequence[Message]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    stamps, logs = zip(*((message.stamp_ns, message.ref.log_time_ns) for message in group), strict=True)
    return np.array(stamps, np.int64), np.array(logs, np.int64)


def _told(same: Sequence[_Break], frames: Stream, begin_ns: int) -> str:
    """Say that clocks were set, all at about one time."""
    of = ", ".join(dict.fromkeys(each.topic for each in same))
    first = next((each for each in same if each.topic == frames.theirs), same[0])
    number = next((m.number for m in frames.messages if m.at >= first.at), len(frames.messages))
    how = "went back" if first.seconds < 0 else "jumped ahead"
    when = f"{(first.log_ns - begin_ns) / _NS:.2f} s of the recording"
    return f"the clock of {of} {how} by {abs(first.seconds):.1f} s at picture {number} ({when})"


def hear(streams: Streams, frames: Stream, others: Sequence[tuple[Stream, NDArray[np.int64]]]) -> list[str]:
    """Keep the longest segment of frames beside which the robot publishes; return a line if that is not all of them.

    Args:
        streams: of the bag.
        frames: of them, the one whose images are the frames.
        others: what else must lie beside each frame, with the stamps (N,) that it has, ascending.

    Raises:
        ExchangeError: something lies beside fewer than half of the frames: its clock is another.
    """
    stamps = np.sort(frames.stamps)
    within = max(_HEARD_WITHIN_NS, round(2 * period_ns(stamps)))
    heard = np.ones(len(stamps), bool)
    deaf = ""
    for stream, times in others:
        near = np.abs(times[nearest(stamps, times)] - stamps) <= within if len(times) else np.zeros(len(stamps), bool)
        if near.mean() < _HALF:
            raise ExchangeError(_never_meet(streams, frames, stream, times, int(near.sum()), within))
        if not view_on(stream.ours):
            deaf = deaf or ("" if near.all() else stream.theirs)
            heard &= near
    if heard.all():
        return []
    begin, end = longest_run(heard)
    if end - begin < max(_LEAST, _HALF * len(stamps)):
        raise ExchangeError(
            f"{streams.bag}: nothing on {deaf} within {within / _NS:g} s of {int((~heard).sum())} of {len(stamps)} "
            f"images on {frames.theirs}: the robot was silent again and again; cut out a part with --from and --to"
        )
    ordered = sorted(frames.used, key=lambda message: message.stamp_ns)
    gone = [*ordered[:begin], *ordered[end:]]
    frames.leave_out(gone, f"have nothing on {deaf} within {within / _NS:g} s, or lie behind such", streams.begin_ns)
    return []


def _never_meet(
    streams: Streams, frames: Stream, stream: Stream, times: NDArray[np.int64], near: int, within: int
) -> str:
    return (
        f"{streams.bag}: {stream.theirs} ({stream.ours}) is within {within / _NS:g} s of only {near} of "
        f"{len(frames.used)} images on {frames.theirs}: its stamps go {span(times)}, theirs {span(frames.stamps)}; "
        f"if that is another clock, leave {stream.ours} out of --topics, otherwise cut with --from and --to"
    )


def span(stamps: NDArray[np.int64]) -> str:
    """Return from when to when stamps (N,) go, in words, s."""
    return f"from {stamps.min() / _NS:.2f} s to {stamps.max() / _NS:.2f} s" if len(stamps) else "nowhere"
