"""Makes a new bag from the messages of other bags; its folder appears only when the bag is complete."""

from __future__ import annotations

import os
import shutil
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kc_vla.bags.errors import BagReadError, BagWriteError
from kc_vla.bags.messages import BagMessage
from kc_vla.bags.metadata import bag_information, to_yaml, write_metadata
from kc_vla.bags.outputs import create_output
from kc_vla.bags.reader import BagReader
from kc_vla.bags.schemas import Schema, same_definition
from kc_vla.bags.storage import Storage
from kc_vla.bags.topics import RecordedEpisodeInfo, TopicInfo

_CHUNK_BYTES = 2 * 1024 * 1024
_FLUSH_BYTES = 32 * 1024 * 1024
"""Written at a time, so that no journal grows with the bag."""


class NewBag:
    """One file and its metadata.yaml, in a folder of its own.

    Attributes:
        messages: how many were added.
    """

    def __init__(self, folder: Path, name: str, storage: Storage, episode: RecordedEpisodeInfo | None) -> None:
        """Begin; raise OSError where `folder`, which is there and empty, cannot be written."""
        self._folder, self._storage, self._episode = folder, storage, episode
        self._output = create_output(storage, folder / f"{name}_0{storage.suffix}", {}, {}, episode, _CHUNK_BYTES)
        self._topics: dict[str, TopicInfo] = {}
        self._schemas: dict[str, Schema] = {}
        self._unflushed = self.messages = 0

    def declare(self, topic: str, info: TopicInfo, schema: Schema, source: Path) -> None:
        """Announce a topic of the bag `source`; it may be in others as well.

        Raises:
            BagReadError: there it has another type, or its type another definition.
            OSError: it could not be written.
        """
        if (known := self._topics.get(topic, info)).type != info.type:
            raise BagReadError(
                f"{topic} is {info.type} in {source} and {known.type} in a bag before: cut it out with 'kc-vla bag cut'"
            )
        if not same_definition(schema, defined := self._schemas.setdefault(info.type, schema)):
            raise BagReadError(
                f"{source} has another definition of {info.type} than an earlier bag: join bags with the same one"
            )
        if topic not in self._topics:
            self._topics[topic] = info
            self._output.declare(topic, info, defined)

    def add(self, message: BagMessage, log_time_ns: int) -> None:
        """Add a message on a declared topic; raise OSError where the disk refuses, BagWriteError for an odd time."""
        try:
            self._output.add(message.topic, message.data, message.publish_time_ns, log_time_ns)
        except struct.error as error:
            raise BagWriteError(f"a message on {message.topic} has a time that cannot be stored: {error}") from error
        self.messages += 1
        self._unflushed += len(message.data)
        if self._unflushed > _FLUSH_BYTES:
            self._output.flush()
            self._unflushed = 0

    def finish(self) -> None:
        """Write the end; raise OSError where the disk refuses."""
        hashes = {name: schema.type_hash for name, schema in self._schemas.items()}
        custom_data = {} if self._episode is None else self._episode.as_metadata()
        information = bag_information([self._output.facts()], self._topics, hashes, custom_data, self._storage)
        self._output.finish(to_yaml(information))
        write_metadata(self._folder, information)

    def abandon(self) -> None:
        """Close the file as it is."""
        self._output.abandon()


@contextmanager
def new_bag(folder: Path, storage: Storage, episode: RecordedEpisodeInfo | None) -> Iterator[NewBag]:
    """Give a bag to write, which takes its place at `folder` at the end; after an error nothing is there.

    Raises:
        BagWriteError: something is at `folder` already, or the disk refuses.
    """
    if folder.exists() or folder.is_symlink():
        raise BagWriteError(f"{folder} exists already: choose another output")
    name = folder.resolve().name
    part = folder.with_name(f".{name}.{os.getpid()}.part")
    try:
        part.mkdir(parents=True)
        bag = NewBag(part, name, storage, episode)
        try:
            yield bag
            bag.finish()
        except BaseException:
            bag.abandon()
            raise
        part.rename(folder)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)
        raise BagWriteError(f"cannot write {folder}: {why}; free space or choose another output") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def definition(reader: BagReader, message_type: str) -> Schema:
    """Return what `reader` knows of a type; a schema without a text where it knows nothing."""
    return reader.schema(message_type) or Schema(message_type, "", "", "")
