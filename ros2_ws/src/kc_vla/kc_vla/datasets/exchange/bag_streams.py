"""The messages of another stack's bag by topic: what can be used of them, and a line about what cannot."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from kc_vla.bags.errors import BagReadError
from kc_vla.bags.images import decode_image
from kc_vla.bags.messages import MessageRef
from kc_vla.bags.reader import BagReader
from kc_vla.core.topics import view_on
from kc_vla.datasets.exchange.errors import ExchangeError
from kc_vla.datasets.exchange.joint_streams import JointRow, row_of
from kc_vla.datasets.exchange.stream_clock import far_off, too_late
from kc_vla.datasets.exchange.topic_map import JointNames, kinds_for
from kc_vla.episodes.recording import header_stamp_ns
from kc_vla.keyframes.observation import pose_of

_NS = 1_000_000_000
_UNIT_WITHIN = 0.05
_NUMBER = re.compile(r"\d+")
_COMMANDS = "arm/command"
_SET_BACK, _SHUFFLED = 10, 0.02
"""Steps back of the log times of a topic, or share of its messages, up to which they are those of a clock."""
_TURNS, _FEW = 4, 0.05
"""Changes of the frame_id that are no new start of a driver, and share of messages of another that are a mistake."""


@dataclass(frozen=True, eq=False)
class Message:
    """One message of a topic of theirs.

    Attributes:
        ref: where it is.
        at: its place among all messages of the bag.
        number: its place among those of its topic.
        stamp_ns: of its header; 0 where it has none.
        frame_id: of its header.
        content: size of an image (width, height), a `JointRow`, or a tool pose (7,); None for what is wrong.
        wrong: why it cannot be used; empty where it can.
    """

    ref: MessageRef
    at: int
    number: int
    stamp_ns: int
    frame_id: str
    content: Any
    wrong: str

    def stamped(self, stamp_ns: int) -> Message:
        """Return the message with another stamp."""
        content = self.content._replace(at=stamp_ns) if isinstance(self.content, JointRow) else self.content
        return replace(self, stamp_ns=stamp_ns, content=content)


@dataclass(eq=False)
class Stream:
    """What fills one topic of ours.

    Attributes:
        ours, theirs: names of the topics.
        type: of the messages.
        messages: all there are, in the order of recording.
        used: those that can be used, in that order.
        notes: what was left out, a line each.
    """

    ours: str
    theirs: str
    type: str
    messages: list[Message] = field(default_factory=list)
    used: list[Message] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def stamps(self) -> NDArray[np.int64]:
        """Return the stamps of the used messages (N,), ns."""
        return np.array([message.stamp_ns for message in self.used], np.int64)

    @property
    def logs(self) -> NDArray[np.int64]:
        """Return when the used messages were recorded (N,), ns."""
        return np.array([message.ref.log_time_ns for message in self.used], np.int64)

    def leave_out(self, those: Sequence[Message], why: str, begin_ns: int) -> None:
        """Use these no longer, and say so with their times since the bag's first message at `begin_ns`."""
        if not those:
            return
        gone = {message.at for message in those}
        self.used = [message for message in self.used if message.at not in gone]
        times = [(message.ref.log_time_ns - begin_ns) / _NS for message in those]
        span = f"{min(times):.2f} s to {max(times):.2f} s"
        count = f"{len(those)} of {len(self.messages)} messages"
        self.notes.append(f"{self.theirs}: {count} left out, from {span} of the recording: they {why}")


@dataclass(frozen=True, eq=False)
class Streams:
    """A bag, by our topics.

    Attributes:
        bag: where it is.
        reader: of it, through which the messages are loaded.
        by: each of our topics, those of the views first.
        begin_ns: when its first message was recorded.
        damages: a line for each torn file.
        is_sorted: the messages stand in the file in another order than that in which they were recorded; here they
            are in the latter.
    """

    bag: Path
    reader: BagReader
    by: Mapping[str, Stream]
    begin_ns: int
    damages: tuple[str, ...]
    is_sorted: bool = False


def read_streams(bag: Path, topics: Mapping[str, str], called: JointNames = ()) -> Streams:
    """Look through a bag: every image is decoded once, so that what is accepted can be shown.

    Args:
        bag: where it is.
        topics: theirs by ours.
        called: see `row_of`.

    Raises:
        ExchangeError: a topic is missing, has another type than it should, or nothing on it can be used.
        BagError: the bag cannot be read.
    """
    reader = BagReader(bag)
    ours = {theirs: own for own, theirs in topics.items()}
    found: dict[str, Stream] = {}
    seen: set[str] = set()
    begin_ns = 0
    bar = tqdm(reader.messages(), desc=f"look through {bag.name}", unit="message", leave=False)
    for at, message in enumerate(bar):
        begin_ns = begin_ns or message.ref.log_time_ns
        seen.add(message.topic)
        own = ours.get(message.topic)
        if own is None:
            continue
        if own not in found:
            found[own] = Stream(own, message.topic, message.ref.type)
            _check_type(bag, found[own])
        stream = found[own]
        stamp, content, wrong, frame_id = 0, None, "", ""
        try:
            stamp = header_stamp_ns(message)
            decoded = reader.decode(message)
            frame_id = str(decoded.header.frame_id)
            content, wrong = _look(stream, stamp, decoded, called)
        except BagReadError as error:
            wrong = f"cannot be understood: {error}"
        stream.messages.append(Message(message.ref, at, len(stream.messages), stamp, frame_id, content, wrong))
    for own, theirs in topics.items():
        if own not in found:
            raise ExchangeError(f"{bag}: no messages on {theirs} ({own}); it has {', '.join(sorted(seen)) or 'none'}")
    is_sorted = _is_out_of_order(found.values())
    if is_sorted:
        begin_ns = _sort(found.values())
    streams = Streams(bag, reader, {own: found[own] for own in topics}, begin_ns, tuple(reader.damages), is_sorted)
    for stream in streams.by.values():
        _sort_out(bag, stream, begin_ns)
    return streams


def _is_out_of_order(streams: Collection[Stream]) -> bool:
    """Return whether a tool wrote the messages in another order than that of their recording.

    It wrote topic after topic, each in order, or it shuffled them. A recorder whose clock was set back wrote them in
    order: all of its topics go back, and a few times at most.
    """
    logs = [np.array([message.ref.log_time_ns for message in stream.messages], np.int64) for stream in streams]
    backward = [int((np.diff(each) < 0).sum()) for each in logs]
    if not any(backward):
        order = np.argsort(np.concatenate([[message.at for message in stream.messages] for stream in streams]))
        return bool((np.diff(np.concatenate(logs)[order]) < -_NS).any())
    return sum(backward) > max(_SET_BACK, _SHUFFLED * sum(map(len, logs)))


def _sort(streams: Collection[Stream]) -> int:
    """Put the messages of all streams in the order of their recording; return when the first was recorded, ns."""
    every = [(message, stream) for stream in streams for message in stream.messages]
    every.sort(key=lambda each: each[0].ref.log_time_ns)
    for stream in streams:
        stream.messages.clear()
    for at, (message, stream) in enumerate(every):
        stream.messages.append(replace(message, at=at, number=len(stream.messages)))
    return every[0][0].ref.log_time_ns


def _check_type(bag: Path, stream: Stream) -> None:
    if not stream.type:
        raise ExchangeError(
            f"{bag}: {stream.theirs} has no schema and thus no type: name another for {stream.ours} with --topics"
        )
    if stream.type not in (kinds := kinds_for(stream.ours)):
        raise ExchangeError(
            f"{bag}: {stream.theirs} is {stream.type}; {stream.ours} can be filled from {' or '.join(kinds)}"
        )


def _look(stream: Stream, stamp: int, message: Any, called: JointNames) -> tuple[Any, str]:
    """Return what is to be known of a message, and what is wrong with it."""
    if view_on(stream.ours):
        try:
            height, width = decode_image(message, stream.theirs).shape[:2]
        except BagReadError as error:
            return None, f"cannot be shown: each {str(error).removeprefix(f'an image on {stream.theirs} ')}"
        return (width, height), ""
    if stream.ours == "tool_pose":
        pose = pose_of(message.pose)
        if not np.isfinite(pose).all():
            return None, "are not finite"
        unit = abs(np.linalg.norm(pose[3:]) - 1) <= _UNIT_WITHIN
        return pose, "" if unit else "have a quaternion whose length is not 1"
    return row_of(stamp, message, called), ""


def _sort_out(bag: Path, stream: Stream, begin_ns: int) -> None:
    """Leave out of a stream what can never be used.

    Raises:
        ExchangeError: that is all of it.
    """
    stream.used = list(stream.messages)
    count = len(stream.messages)
    kinds: dict[str, list[Message]] = {}
    for message in stream.messages:
        if message.wrong:
            kinds.setdefault(_NUMBER.sub("", message.wrong), []).append(message)
    if sum(map(len, kinds.values())) == count:
        told = stream.messages[0].wrong
        raise ExchangeError(
            f"{bag}: none of the {count} messages on {stream.theirs} ({stream.ours}) can be used: they {told}"
        )
    for those in kinds.values():
        stream.leave_out(those, those[0].wrong, begin_ns)
    if view_on(stream.ours):
        size = Counter(message.content for message in stream.used).most_common(1)[0][0]
        others = [message for message in stream.used if message.content != size]
        stream.leave_out(others, f"have another size than the {size[0]}x{size[1]} px of most", begin_ns)
    if view_on(stream.ours) or stream.ours == "tool_pose":
        _one_frame_id(bag, stream, begin_ns)
    unstamped = [message for message in stream.used if message.stamp_ns <= 0]
    if len(unstamped) == len(stream.used):
        if stream.ours == _COMMANDS:
            return  # they count from when they were recorded
        raise ExchangeError(
            f"{bag}, message 0 on {stream.theirs}: it has no stamp, as none of {len(unstamped)}; without, nothing can "
            "be brought together"
        )
    stream.leave_out(unstamped, "have no stamp", begin_ns)
    for group in groups_of(stream).values():
        stamps = np.array([message.stamp_ns for message in group], np.int64)
        logs = np.array([message.ref.log_time_ns for message in group], np.int64)
        off = [message for message, wrong in zip(group, far_off(stamps, logs).tolist(), strict=True) if wrong]
        stream.leave_out(off, "have stamps that contradict those around them", begin_ns)


def _one_frame_id(bag: Path, stream: Stream, begin_ns: int) -> None:
    """Leave out a few messages of another frame between those of one.

    Raises:
        ExchangeError: they are many: two cameras, or two publishers of poses, speak in turn.
    """
    counts = Counter(message.frame_id for message in stream.used).most_common()
    turns = sum(one.frame_id != other.frame_id for one, other in pairwise(stream.used))
    if turns < _TURNS:
        return  # a driver that was started anew may call its frame otherwise
    others = [message for message in stream.used if message.frame_id != counts[0][0]]
    if len(others) > _FEW * len(stream.used):
        told = " and ".join(f"{count} of '{name[:80]}'" for name, count in counts[:3])
        raise ExchangeError(
            f"{bag}: {stream.theirs} ({stream.ours}) has messages of different frame_id in turn, {told}: several "
            "publishers share the topic, and nothing tells which is meant: give each a topic of its own"
        )
    stream.leave_out(others, f"have another frame_id than '{counts[0][0][:80]}'", begin_ns)


def groups_of(stream: Stream) -> dict[object, list[Message]]:
    """Return the messages of each set of joints.

    Their publishers may differ in their clocks, and in when they publish.
    """
    groups: dict[object, list[Message]] = {}
    for message in stream.used:
        groups.setdefault(group_key(message), []).append(message)
    return groups


def group_key(message: Message) -> object:
    """Return what messages of the same joints have in common; None for all others."""
    return frozenset(message.content.names) if isinstance(message.content, JointRow) else None


def leave_out_late(stream: Stream, begin_ns: int) -> None:
    """Leave out messages that are stamped long before others that were recorded ahead of them."""
    for group in groups_of(stream).values():
        stamps = np.array([message.stamp_ns for message in group], np.int64)
        late = [message for message, is_late in zip(group, too_late(stamps).tolist(), strict=True) if is_late]
        stream.leave_out(late, "are stamped long before those ahead of them", begin_ns)
