"""Reads a bag: every message up to its end or to the first damage, which is logged in one line; or any one of them.

MCAP and SQLite look the same from here.

Messages are decoded with the definitions that the bag carries (mcap-ros2-support). That needs no ROS
installation, and unlike a shared type store it has no registry that a bag from another version of the
interfaces could contradict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from kc_vla.bags.definitions import DECODE_ERRORS, decoder, error_text
from kc_vla.bags.errors import BagEmptyError, BagForeignError, BagMissingError, BagReadError, Damage
from kc_vla.bags.mcap_file import ChunkCache, McapFile
from kc_vla.bags.messages import BagMessage, MessageRef
from kc_vla.bags.schemas import Schema
from kc_vla.bags.sqlite_file import SqliteFile
from kc_vla.bags.storage import PACKED, Storage, files_of, storage_of
from kc_vla.bags.topics import Contents, Qos, RecordedEpisodeInfo, RecordedTopic

__all__ = ["BagMessage", "BagReader", "MessageRef", "bag_files"]

T = TypeVar("T")
_BagFile = McapFile | SqliteFile
_NO_TYPE = "leave the topic out, or record it again with a recorder that writes definitions"
_CACHE_BYTES = 128 * 1024 * 1024


class BagReader:
    """A bag folder or a single .mcap or .db3 file, open for reading.

    Attributes:
        files: its files, in order of recording.
        damages: one line for each damaged file, as far as the bag has been read; empty for a whole bag.
    """

    def __init__(self, bag: Path, cache_bytes: int = _CACHE_BYTES) -> None:
        """Find the files of `bag`.

        Args:
            bag: the folder or the file.
            cache_bytes: bound of the decompressed chunks that `load` keeps, in bytes.

        Raises:
            BagMissingError: nothing is there.
            BagEmptyError: a folder without files of a bag, or only empty files.
            BagForeignError: a file that is something else than its name says.
        """
        self.path = bag
        self.files = _find_files(bag)
        self.damages: list[str] = []
        cache = ChunkCache(cache_bytes)
        try:
            self._files: dict[Path, _BagFile] = {
                path: SqliteFile(path) if storage_of(path) == Storage.SQLITE3 else McapFile(path, cache)
                for path in self.files
            }
        except OSError as error:
            raise BagReadError(f"cannot read {bag}: {error.strerror}") from error
        self._decoders: dict[tuple[Path, str], Callable[[bytes], Any] | str] = {}

    @property
    def episode(self) -> RecordedEpisodeInfo | None:
        """Return whose bag it is; None before reading, and where the bag does not say."""
        return next((file.episode for file in self._files.values() if file.episode is not None), None)

    @property
    def qos(self) -> dict[str, Qos]:
        """Return what each topic was offered with, as far as the files have been read."""
        offered: dict[str, Qos] = {}
        for file in reversed(self._files.values()):
            offered |= file.qos
        return offered

    def messages(self, topics: Sequence[str] | None = None, since_ns: int = 0) -> Iterator[BagMessage]:
        """Yield the messages in the order in which they were recorded.

        Args:
            topics: full topic names to keep; all by default.
            since_ns: log time from which on they are kept, ns since the epoch. What lies before costs little if
                `contents`, `topics` or `index` was asked first.

        Raises:
            BagReadError: a file cannot be read from the disk.
        """
        self.damages = []
        for file in self._files.values():
            yield from self._walk(file, topics, since_ns)

    def contents(self) -> Contents:
        """Return topics, counts and times, without reading the messages where the bag has a summary.

        Raises:
            BagReadError: a file cannot be read from the disk.
        """
        self.damages = []
        found = Contents({}, 0, 0)
        for file in self._files.values():
            found += self._from_summary(file, file.contents) or self._count(file)
        return found

    def topics(self) -> dict[str, RecordedTopic]:
        """Return type, quality of service and number of messages of each topic, also of those without messages.

        Raises:
            BagReadError: a file cannot be read from the disk.
        """
        return self.contents().topics

    def index(self, topics: Sequence[str] | None = None) -> dict[str, list[MessageRef]]:
        """Return where every message is, by topic and in order of recording, without reading the messages.

        A file without an index (torn, or its writer made none) is read through instead; `damages` tells what is
        wrong with it. What the index says of a message is held against the message when it is loaded.

        Args:
            topics: full topic names; all by default. Those that the bag does not have are left out.

        Raises:
            BagReadError: a file cannot be read from the disk.
        """
        self.damages = []
        refs: dict[str, list[MessageRef]] = {}
        for file in self._files.values():
            found = self._from_summary(file, partial(file.index, topics))
            if found is None:
                found = {}
                for message in self._walk(file, topics):
                    found.setdefault(message.topic, []).append(message.ref)
            for topic, places in found.items():
                refs.setdefault(topic, []).extend(places)
        return refs

    def schema(self, message_type: str) -> Schema | None:
        """Return the definition of a type, as far as the bag has been read; None where none is known.

        Raises:
            BagReadError: it cannot be read.
        """
        return next((found for path in self.files if (found := self._schema(path, message_type)) is not None), None)

    def load(self, ref: MessageRef) -> BagMessage:
        """Return the message at `ref`, which this reader has given before. For any thread.

        Raises:
            BagReadError: another message is there, or none: the file is damaged, has changed or vanished.
        """
        try:
            return self._files[ref.file].load(ref)
        except Damage as damage:
            raise BagReadError(f"{ref.file} {damage}") from damage
        except OSError as error:
            raise BagReadError(f"cannot read {ref.file}: {error.strerror}") from error

    def decode(self, message: BagMessage) -> Any:
        """Return the message as a plain object with the fields of its type; byte arrays are `bytes`.

        Raises:
            BagReadError: its bytes do not fit the definition that the bag carries.
        """
        ref = message.ref
        key = (ref.file, ref.type or ref.topic)
        if key not in self._decoders:
            self._decoders[key] = self._decoder(ref)
        decode = self._decoders[key]
        if isinstance(decode, str):
            raise BagReadError(decode)
        try:
            return decode(message.data)
        except DECODE_ERRORS as error:
            raise BagReadError(f"{ref.file}: a message on {ref.topic} is no {ref.type}: {error_text(error)}") from error

    def _walk(self, file: _BagFile, topics: Sequence[str] | None, since_ns: int = 0) -> Iterator[BagMessage]:
        count = 0
        try:
            for message in file.messages(None if topics is None else frozenset(topics), since_ns):
                count += 1
                yield message
        except Damage as damage:
            self.damages.append(f"{file.path} {damage}; the {count} messages before that were read")
        except OSError as error:
            raise BagReadError(f"cannot read {file.path}: {error.strerror}") from error

    def _from_summary(self, file: _BagFile, ask: Callable[[], T | None]) -> T | None:
        """Return what the summary of `file` answers, or None where it has to be read through."""
        try:
            return ask()
        except Damage as damage:
            self.damages.append(f"{file.path} {damage}; its messages were read without it")
            return None
        except OSError as error:
            raise BagReadError(f"cannot read {file.path}: {error.strerror}") from error

    def _count(self, file: _BagFile) -> Contents:
        """Read `file` through."""
        counts: dict[str, int] = {}
        types: dict[str, str] = {}
        times: list[int] = []
        for message in self._walk(file, None):
            counts[message.topic] = counts.get(message.topic, 0) + 1
            types[message.topic] = message.ref.type
            now = message.ref.log_time_ns
            times = [min(now, *times), max(now, *times)] if times else [now, now]
        topics = {name: RecordedTopic(types[name], file.qos[name], count) for name, count in counts.items()}
        return Contents(topics, *(times or (0, 0)))

    def _schema(self, path: Path, message_type: str) -> Schema | None:
        try:
            return self._files[path].schema(message_type)
        except Damage as damage:
            raise BagReadError(f"{path} {damage}") from damage
        except OSError as error:
            raise BagReadError(f"cannot read {path}: {error.strerror}") from error

    def _decoder(self, ref: MessageRef) -> Callable[[bytes], Any] | str:
        """Return what decodes the messages of a type, or why they cannot be: a definition is looked at once."""
        if not ref.type:
            return f"{ref.file}: {ref.topic} has no schema, so nobody knows of which type its messages are: {_NO_TYPE}"
        schema = self._schema(ref.file, ref.type)
        if schema is None:
            package = ref.type.split("/")[0]
            return f"{ref.file} has no definition of {ref.type}: install {package}, which has it"
        try:
            return decoder(schema)
        except (BagReadError, *DECODE_ERRORS) as error:
            return f"{ref.file}: the definition of {ref.type} cannot be used: {error_text(error)}"


def bag_files(folder: Path) -> list[Path]:
    """Return the files of a bag folder in the order of recording: name_0, name_1, ... name_10.

    What metadata.yaml says of them is not asked: it may be missing, wrong, or lead elsewhere.

    Raises:
        BagForeignError: there are files of two storages, which cannot be one bag.
    """
    found = [files for storage in Storage if (files := files_of(folder, storage))]
    if len(found) > 1:
        raise BagForeignError(f"{folder} holds .mcap and .db3 files: give one of them")
    return found[0] if found else []


def _find_files(bag: Path) -> list[Path]:
    if not bag.exists():
        raise BagMissingError(f"no bag at {bag}: give a bag folder, an .mcap or a .db3 file")
    if bag.is_dir():
        files = bag_files(bag)
        if packed := [path for path in sorted(bag.glob(f"*{PACKED}")) if path.with_suffix("") not in files]:
            raise _packed(packed[0])
        if not files:
            raise BagEmptyError(f"no .mcap or .db3 file in {bag}: give the folder that the recorder wrote")
    elif bag.name.endswith(PACKED):
        raise _packed(bag)
    elif bag.is_file():
        files = [bag]
    else:
        raise BagForeignError(f"{bag} is neither a file nor a folder: give a bag folder, an .mcap or a .db3 file")
    filled = [path for path in files if path.stat().st_size > 0]
    if not filled:
        raise BagEmptyError(f"{bag} is empty: nothing was recorded")
    return filled


def _packed(path: Path) -> BagForeignError:
    return BagForeignError(f"{path} is compressed as a whole: unpack it with 'zstd -d --rm' first")
