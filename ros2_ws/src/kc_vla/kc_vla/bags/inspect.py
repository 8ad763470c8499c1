"""What is in a bag, whether all of it is well, and a torn one made whole: `kc-vla bag info|check|repair`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from tqdm import tqdm

from kc_vla.bags.errors import BagBusyError, BagReadError, one_line
from kc_vla.bags.lock import BagLock, is_being_written, is_open_for_writing
from kc_vla.bags.metadata import FileFacts, bag_information, noted_metadata, recounted, write_metadata
from kc_vla.bags.reader import BagReader
from kc_vla.bags.repair import Repaired, repair_file
from kc_vla.bags.storage import storage_of
from kc_vla.bags.topics import TopicInfo
from kc_vla.core.files import resolved

_WORST = 5
"""Messages of a topic that are named one by one when they cannot be understood."""

_SHUFFLED_NS = 1_000_000_000
"""Messages of several publishers of a topic may overtake each other by so much."""

_A_STREAM = 10
"""So many messages within a second have a rate; fewer may be all that there ever are."""


@dataclass
class TopicFacts:
    """The facts about one topic of a bag.

    Attributes:
        type: of its messages.
        count: how many there are.
        size: their bytes.
        first_ns, last_ns: log time of the first and the last, ns.
        backwards: how many are clearly older than the one before.
        longest_gap_ns: between two of them, ns.
    """

    type: str
    count: int = 0
    size: int = 0
    first_ns: int = 0
    last_ns: int = 0
    backwards: int = 0
    longest_gap_ns: int = 0

    def add(self, log_time_ns: int, size: int) -> None:
        """Count one more message."""
        if self.count == 0:
            self.first_ns = log_time_ns
        else:
            self.backwards += log_time_ns < self.last_ns - _SHUFFLED_NS
            self.longest_gap_ns = max(self.longest_gap_ns, log_time_ns - self.last_ns)
        self.count += 1
        self.size += size
        self.last_ns = log_time_ns

    @property
    def rate(self) -> float | None:
        """Return the messages a second; None of a few that came within a second.

        So they come on topics on which each node publishes once.
        """
        seconds = (self.last_ns - self.first_ns) * 1e-9
        return (self.count - 1) / seconds if seconds >= 1.0 or (self.count >= _A_STREAM and seconds > 0) else None


@dataclass
class BagFacts:
    """The facts about a whole bag.

    Attributes:
        path: of the bag.
        episode: its episode's id; empty where it names none.
        topics: by name.
        on_disk: bytes of its files, in which messages may be packed.
        troubles: what is wrong with it, a line each; empty for a bag that is well.
    """

    path: Path
    episode: str = ""
    topics: dict[str, TopicFacts] = field(default_factory=dict)
    on_disk: int = 0
    troubles: list[str] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """Yield the facts about the bag as lines for a person."""
        times = [t for facts in self.topics.values() for t in (facts.first_ns, facts.last_ns)]
        begun = f"{datetime.fromtimestamp(min(times) * 1e-9):%Y-%m-%d %H:%M:%S}" if times else "never"
        seconds = (max(times) - min(times)) * 1e-9 if times else 0.0
        size = sum(facts.size for facts in self.topics.values()) / 1e6
        messages = sum(facts.count for facts in self.topics.values())
        episode = f", episode {self.episode}" if self.episode else ""
        sizes = f"{size:.1f} MB unpacked, {self.on_disk / 1e6:.1f} MB on disk"
        yield f"{self.path}: {seconds:.1f} s from {begun}, {messages} messages, {sizes}{episode}"
        width = max(map(len, self.topics), default=0)
        for name, facts in sorted(self.topics.items()):
            rate = "-" if facts.rate is None else f"{facts.rate:.1f} Hz"
            yield one_line(f"  {name:<{width}}  {facts.count:>7}  {rate:>9}  {facts.type}")
        yield from (one_line(f"  {trouble}") for trouble in self.troubles)


def look_into(bag: Path, decode: bool = False) -> BagFacts:
    """Read a bag through once; it may be larger than the memory.

    Args:
        bag: folder, .mcap or .db3 file.
        decode: whether every message is taken apart, too, as a check of its bytes.

    Raises:
        BagError: it cannot be read at all.
    """
    reader = BagReader(bag)
    recorded_now = is_being_written(bag)
    facts = BagFacts(bag, on_disk=sum(file.stat().st_size for file in reader.files))
    misunderstood: dict[str, int] = {}
    for message in tqdm(reader.messages(), desc=bag.name, unit="message", leave=False, disable=None):
        ref = message.ref
        facts.topics.setdefault(ref.topic, TopicFacts(ref.type)).add(ref.log_time_ns, len(message.data))
        if not decode:
            continue
        try:
            reader.decode(message)
        except BagReadError as error:
            misunderstood[ref.topic] = misunderstood.get(ref.topic, 0) + 1
            if misunderstood[ref.topic] <= _WORST:
                number = facts.topics[ref.topic].count
                facts.troubles.append(f"message {number} of {ref.topic} is not understood: {error}")
    facts.episode = reader.episode.episode_id if reader.episode is not None else ""
    if recorded_now:
        facts.troubles.append("it is being recorded: this is what is on the disk by now")
    facts.troubles += reader.damages
    facts.troubles += [
        f"{count - _WORST} more messages of {topic} are not understood"
        for topic, count in misunderstood.items()
        if count > _WORST
    ]
    facts.troubles += [
        f"{found.backwards} messages of {name} are over a second older than the one ahead"
        for name, found in sorted(facts.topics.items())
        if found.backwards
    ]
    if not facts.topics:
        facts.troubles.append("it holds no message")
    return facts


def repair(bag: Path) -> list[str]:
    """Repair every torn or damaged file of a bag in its place, and keep all undamaged messages.

    If the path is a symbolic link, this repairs the file behind the link, and the bag of that file.

    Returns:
        what was wrong, what is missing, and where the damaged file is kept, a line each; empty for a bag
            that was whole.

    Raises:
        BagBusyError: The bag is being recorded.
        BagError: it cannot be read at all.
        OSError: there is no room for the copy; nothing has changed then.
    """
    files = BagReader(bag).files
    folder = bag if bag.is_dir() else bag.parent
    places = {place.resolve(): place for place in [*(resolved(path).parent for path in files), folder]}
    with ExitStack() as locks:
        for place in places.values():
            locks.enter_context(BagLock(place))
        for path in files:
            if is_open_for_writing(path):
                raise BagBusyError(f"{path} is open for writing in another program, such as a recorder: end that first")
        mended = {path: repair_file(path) for path in files}
        lines = [line for path, found in mended.items() for line in _told(path, found)]
        if any(found.damage for found in mended.values()):
            facts = {path: found.facts for path, found in mended.items()}
            lines += [line for place in places.values() if (line := _counted(place, facts))]
            if bag.is_dir() and not noted_metadata(bag):
                _note(bag, list(facts.values()))
        return lines


def _counted(folder: Path, mended: Mapping[Path, FileFacts]) -> str:
    """Let the metadata.yaml of `folder` count the repaired files, if it names them; return a remark if it cannot.

    A folder of links has names of its own for them.
    """
    own = {path.name: facts for path, facts in mended.items() if path.parent.samefile(folder)}
    named = own or {
        real.name: replace(facts, name=real.name)
        for path, facts in mended.items()
        if (real := resolved(path)).parent.samefile(folder)
    }
    information = recounted(noted_metadata(folder), list(named.values()))
    if information is None:
        return ""
    try:
        write_metadata(folder, information)
    except OSError as error:
        return f"{folder / 'metadata.yaml'} counts the messages as before: it cannot be written: {error.strerror}"
    return ""


def _note(bag: Path, files: Sequence[FileFacts]) -> None:
    """Write the metadata.yaml of a bag whose recorder was killed before it did: other tools open none without."""
    reader = BagReader(bag)
    topics = {name: TopicInfo(topic.type, topic.qos) for name, topic in reader.topics().items()}
    episode = {} if reader.episode is None else reader.episode.as_metadata()
    write_metadata(bag, bag_information(files, topics, {}, episode, storage_of(reader.files[0])))


def _told(path: Path, mended: Repaired) -> Iterator[str]:
    if not mended.damage:
        return
    kept = f"repaired: now it has {mended.facts.messages} messages, all that are well"
    yield f"{mended.damage}; {kept if mended.facts.messages else 'no message can be read: it is left as it is'}"
    yield from (one_line(f"{path}: {line}") for line in mended.missing)
    if mended.kept is not None:
        yield f"{path}: {mended.facts.messages} messages; as it was, it is {mended.kept}"
