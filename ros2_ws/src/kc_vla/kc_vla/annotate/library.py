"""The bags under a path, as the page lists them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from kc_vla.annotate.episode import AnnotatedEpisode
from kc_vla.bags.errors import BagMissingError
from kc_vla.bags.find import bags_below
from kc_vla.core.files import digest
from kc_vla.episodes.annotation_log import AnnotationError, AnnotationLog

_OPEN_BAGS = 3


@dataclass(frozen=True)
class BagEntry:
    """One bag.

    Attributes:
        key: what the page calls it by, see `key_of`.
        name: for people: its path below the folder.
        bag: where it is.
    """

    key: str
    name: str
    bag: Path


class Library:
    """The bags under a path; a few of them are kept open."""

    def __init__(self, path: Path) -> None:
        """Find them.

        Raises:
            BagMissingError: there is none.
        """
        self.path = path
        bags = bags_below(path)
        if not bags:
            raise BagMissingError(f"no bag at {path}: give a bag, or a folder with bags in it")
        self.entries = [BagEntry(key_of(bag), _name(path, bag), bag) for bag in bags]
        self._by_key = {entry.key: entry for entry in self.entries}
        self._open: OrderedDict[str, AnnotatedEpisode] = OrderedDict()
        self._lock = threading.Lock()

    def entry(self, key: str) -> BagEntry:
        """Return the bag of that key.

        Raises:
            AnnotationError: there is none.
        """
        if key not in self._by_key:
            raise AnnotationError("no such episode here: it was moved, or the page is of another folder: reload it")
        return self._by_key[key]

    def episode(self, key: str) -> AnnotatedEpisode:
        """Open a bag, or take it if it is open.

        Raises:
            AnnotationError: there is none.
            BagError: it cannot be read.
        """
        entry = self.entry(key)
        with self._lock:
            if key not in self._open:
                self._open[key] = AnnotatedEpisode(entry.bag)
                if len(self._open) > _OPEN_BAGS:
                    self._open.popitem(last=False)
            self._open.move_to_end(key)
            return self._open[key]

    def log(self, key: str) -> AnnotationLog:
        """Return its annotations; errors as `entry`."""
        return AnnotationLog(self.entry(key).bag)


def key_of(bag: Path) -> str:
    """Return the key of a bag, which stays the same for it.

    A page that is open while the server is started again must not save into another one.
    """
    return digest(str(bag.resolve()))


def _name(path: Path, bag: Path) -> str:
    """Return the bag's path below `path`, without the folder `bag` that all recorded episodes have."""
    name = str(bag.relative_to(path)) if bag != path else bag.name
    return name.removesuffix("/bag")
