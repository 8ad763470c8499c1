"""Bags of other stacks into episode bags: their messages under our topics, byte by byte where they are as ours.

What is taken over can be reported, annotated and exported: what is wrong with a bag is said here, in a line, and a
message that is wrong costs no more than itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from kc_vla.bags.errors import BagError
from kc_vla.bags.images import decode_image
from kc_vla.bags.messages import BagMessage, MessageRef
from kc_vla.bags.recorder import BAG_FOLDER
from kc_vla.core.topics import image_topic, view_on
from kc_vla.datasets.exchange.bag_choice import choose, hear, span
from kc_vla.datasets.exchange.bag_output import COMPRESSED, RAW, Announcement, BagOutput
from kc_vla.datasets.exchange.bag_streams import Message, Stream, Streams, read_streams
from kc_vla.datasets.exchange.clock import whole_rate
from kc_vla.datasets.exchange.errors import ExchangeError, RateError
from kc_vla.datasets.exchange.imported import Imported, task_and_instruction
from kc_vla.datasets.exchange.joint_commands import Targets, joint_targets_of
from kc_vla.datasets.exchange.joint_streams import WholeStates, iter_values, whole_states
from kc_vla.datasets.exchange.publishers import one_publisher
from kc_vla.datasets.exchange.rows import read_rows
from kc_vla.datasets.exchange.topic_map import JointNames, views_of
from kc_vla.episodes.episode_data import CommandMode

_NS = 1_000_000_000
_PLACE = ("x", "y", "z")
Write = Callable[[BagOutput, BagMessage], None]
"""Writes what becomes of a message."""


@dataclass(frozen=True)
class Asked:
    """How bags are to be imported.

    Attributes:
        topics: theirs by ours, see `topic_map`.
        task: name of the task.
        instruction: in words; by default the task's.
        name: of the episode, where it is one bag; by default the bag's.
        raw: whether compressed images are decompressed.
        joint_names: see `topic_map`.
        first, last: numbers of the images to import, both included; None: from the first, to the last.
    """

    topics: Mapping[str, str]
    task: str | None = None
    instruction: str = ""
    name: str | None = None
    raw: bool = False
    joint_names: JointNames = ()
    first: int | None = None
    last: int | None = None


def import_bags(bags: Sequence[Path], output: Path, asked: Asked) -> Imported:
    """Write each bag as the episode `output`/<its name>/bag.

    Raises:
        BagError: a bag cannot be read, holds other types than it should, nothing of a topic can be used, or an episode
            cannot be written; the message names the bag and the topic.
    """
    if asked.name and len(bags) > 1:
        raise ExchangeError(f"one --name for {len(bags)} bags: import them one by one, or leave it out")
    folders, notes, frames = [], list[str](), 0
    for bag in bags:
        name = asked.name or (bag.parent.name if bag.name == BAG_FOLDER else bag.stem if bag.is_file() else bag.name)
        task, instruction = task_and_instruction(asked.task, asked.instruction, str(bag))
        streams = read_streams(bag, asked.topics, asked.joint_names)
        episode = _Episode(streams, asked)
        about = Announcement(name, task, instruction, int(episode.stamps[0]), _period_s(episode.stamps))
        notes += _write(episode, output, about)
        folders.append(output / name)
        frames += len(episode.stamps)
    return Imported(tuple(folders), frames, tuple(notes))


class _Episode:
    """What is taken of a bag.

    Attributes:
        streams: of it.
        frames: of these, the one whose images are the frames.
        stamps: of the frames (N,), ns, ascending.
        states: of the robot's joints; None without.
        targets: of the joints; None without.
        notes: what a person should know, a line each.
    """

    def __init__(self, streams: Streams, asked: Asked) -> None:
        """Choose what can be used; ExchangeError where that is nothing."""
        self.streams, self.asked = streams, asked
        self.frames = streams.by[image_topic(views_of(streams.by)[0])]
        self.notes = choose(streams, self.frames, asked.first, asked.last)
        self.states = self._states()
        self._clean_poses()
        self.notes += hear(streams, self.frames, list(self._beside()))
        self.stamps = np.sort(self.frames.stamps)
        self.targets = self._targets()
        bag = streams.bag
        self.notes += [f"{bag}: {note}" for stream in streams.by.values() for note in stream.notes]
        self.notes += [f"{bag}: {damage}" for damage in streams.damages]
        if streams.is_sorted:
            self.notes.append(
                f"{bag}: its messages are not in the order of their recording: they are imported in that order"
            )

    def _beside(self) -> list[tuple[Stream, NDArray[np.int64]]]:
        """Return what must lie beside each frame, with its stamps."""
        found = []
        for own, stream in self.streams.by.items():
            if own == "joint_states" and self.states is not None:
                found.append((stream, self.states.stamps))
            elif own not in ("joint_states", "arm/command") and stream is not self.frames:
                found.append((stream, np.sort(stream.stamps)))
        return found

    def _states(self) -> WholeStates | None:
        stream = self.streams.by.get("joint_states")
        if stream is None:
            return None
        try:
            states = whole_states([message.content for message in stream.used]) if stream.used else None
        except ExchangeError as error:
            way = "name another topic in --topics, or leave joint_states out"
            raise ExchangeError(f"{self.streams.bag}: {stream.theirs}: {error}: {way}") from error
        if states is None:
            raise ExchangeError(
                f"{self.streams.bag}: {stream.theirs}: no message names a joint: leave joint_states out of --topics"
            )
        self.notes += [f"{self.streams.bag}: {stream.theirs}: {note}" for note in states.notes]
        return states

    def _clean_poses(self) -> None:
        stream = self.streams.by.get("tool_pose")
        if stream is None or not stream.used:
            return
        stream.used.sort(key=lambda message: message.stamp_ns)
        places = np.array([message.content[:3] for message in stream.used])
        try:
            cleaned = one_publisher("tool positions", _PLACE, stream.stamps, places, units=("m",) * 3)
        except ExchangeError as error:
            way = "name another topic in --topics, or leave tool_pose out"
            raise ExchangeError(f"{self.streams.bag}: {stream.theirs}: {error}: {way}") from error
        used = list(stream.used)
        for why, mask in cleaned.notes:
            those = [message for message, is_it in zip(used, mask.tolist(), strict=True) if is_it]
            if (cleaned.keep & mask).any():
                self.notes.append(f"{self.streams.bag}: {stream.theirs}: {len(those)} messages {why}")
            else:
                stream.leave_out(those, why, self.streams.begin_ns)

    def _targets(self) -> Targets | None:
        stream = self.streams.by.get("arm/command")
        if stream is None:
            return None
        bag, begin, end = self.streams.bag, int(self.stamps[0]), int(self.stamps[-1])
        if stream.used and all(message.stamp_ns <= 0 for message in stream.used):
            ahead = round(float(np.median(self.frames.stamps - self.frames.logs)))
            stream.used = [message.stamped(message.ref.log_time_ns + ahead) for message in stream.used]
            self.notes.append(f"{bag}: {stream.theirs} has no stamps: its messages count from when they were recorded")
        stream.used.sort(key=lambda message: message.stamp_ns)
        inside = [message for message in stream.used if begin <= message.stamp_ns <= end]
        if not inside:
            which = f"{len(stream.messages)} messages on {stream.theirs} (arm/command)"
            raise ExchangeError(
                f"{bag}: none of the {which} is of the episode: their stamps go {span(stream.stamps)}, the images' "
                f"{span(self.stamps)}: leave arm/command out of --topics, or cut with --from and --to"
            )
        stream.used = inside
        try:
            targets = joint_targets_of([message.content for message in inside], self.states)
        except ExchangeError as error:
            raise ExchangeError(f"{bag}: {stream.theirs}: {error}") from error
        self.notes += [f"{bag}: {stream.theirs}: {note}" for note in targets.notes]
        return targets

    def writers(self, about: Announcement) -> dict[MessageRef, Write]:
        """Return what is written in the place of each message that is taken."""
        found: dict[MessageRef, Write] = {}
        for own, stream in self.streams.by.items():
            if view := view_on(own):
                found |= self._pictures(view, stream)
            elif own == "joint_states" and self.states is not None:
                as_given = self.states.as_given and not self.asked.joint_names
                for of, positions, velocities in iter_values(self.states):
                    message = stream.used[of]
                    told = _copied("/joint_states") if as_given else _state(self.states, message, positions, velocities)
                    found[message.ref] = told
            elif own == "arm/command" and self.targets is not None:
                for of, values in zip(self.targets.of.tolist(), self.targets.values.tolist(), strict=True):
                    found[stream.used[of].ref] = _command(self.targets, stream.used[of], values, about)
            else:
                found |= {message.ref: _copied(f"/{own}") for message in stream.used}
        return found

    def _pictures(self, view: str, stream: Stream) -> dict[MessageRef, Write]:
        """Return images in the order of their stamps, each in the place of one in the order of recording."""
        reader, own = self.streams.reader, image_topic(view)
        compressed = stream.type == COMPRESSED
        topic = f"/{own}/compressed" if compressed and not self.asked.raw else f"/{own}"

        def write(source: Message) -> Write:
            def put(bag: BagOutput, place: BagMessage) -> None:
                shown = place if source.ref == place.ref else reader.load(source.ref)
                log_ns = place.ref.log_time_ns
                if compressed and self.asked.raw:
                    pixels = decode_image(reader.decode(shown), stream.theirs)
                    bag.picture(view, pixels, source.stamp_ns, RAW, log_ns)
                else:
                    bag.copy(topic, shown.data, place.publish_time_ns, log_ns)

            return put

        ordered = sorted(stream.used, key=lambda message: message.stamp_ns)
        return {place.ref: write(source) for place, source in zip(stream.used, ordered, strict=True)}

    @property
    def topics(self) -> list[str]:
        """Return the full names of the stack's topics that are written."""
        packed = not self.asked.raw
        return [
            f"/{own}/compressed" if view_on(own) and stream.type == COMPRESSED and packed else f"/{own}"
            for own, stream in self.streams.by.items()
        ]


def _copied(topic: str) -> Write:
    return lambda bag, message: bag.copy(topic, message.data, message.publish_time_ns, message.ref.log_time_ns)


def _state(states: WholeStates, of: Message, positions: list[float], velocities: list[float]) -> Write:
    return lambda bag, message: bag.joints(
        states.names, positions, velocities, of.stamp_ns, log_ns=message.ref.log_time_ns
    )


def _command(targets: Targets, of: Message, values: list[float], about: Announcement) -> Write:
    """Return a joint target of theirs as a command of ours, for the control step that it falls into."""
    step = int((of.stamp_ns - about.start_ns) * 1e-9 / about.period_s + 1e-6)
    mode = int(CommandMode.JOINT_POSITION)
    return lambda bag, message: bag.command(step, mode, targets.names, values, of.stamp_ns, message.ref.log_time_ns)


def _write(episode: _Episode, output: Path, about: Announcement) -> list[str]:
    """Write the episode, and see that it can be used; return what a person should know, a line each."""
    writers = episode.writers(about)
    streams = episode.streams
    first_log_ns = min(ref.log_time_ns for ref in writers)
    theirs = [stream.theirs for stream in streams.by.values()]
    with BagOutput(output, about, episode.topics, first_log_ns) as written:
        last_log_ns = first_log_ns
        messages: Iterable[BagMessage] = streams.reader.messages(theirs)
        if streams.is_sorted:
            messages = map(streams.reader.load, sorted(writers, key=lambda ref: ref.log_time_ns))
        for message in tqdm(messages, desc=f"import {about.episode_id}", unit="message"):
            write = writers.get(message.ref)
            if write is not None:
                write(written, message)
                last_log_ns = message.ref.log_time_ns
        written.finish(int(episode.stamps[-1]), last_log_ns)
        written.close()
        try:
            read_rows(written.bag)
        except RateError as error:
            told = str(error).removeprefix(f"{written.bag}: ")
            return [*episode.notes, f"{streams.bag}: {told}; it can be annotated and reported, and not exported"]
        except BagError as error:
            told = str(error).replace(str(written.bag), str(streams.bag))
            raise ExchangeError(f"{told}: cut out a part with --from and --to, or take other --topics") from error
    return episode.notes


def _period_s(stamps: NDArray[np.int64]) -> float:
    """Return the time between two frames; exactly that of a whole number a second where the camera makes about that."""
    rate = _NS / float(np.median(np.diff(stamps)))
    return 1 / (whole_rate(rate) or rate)
