"""What changed in a memory since when, so that a client with a copy of it need not read all of it again."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import NamedTuple

_MOST_REMOVED = 10_000
"""Ids of what left that are kept; an older copy has to be made anew."""


class ChangesSince(NamedTuple):
    """What changed since a revision.

    Attributes:
        revision: of the memory now.
        whole: the revision that was asked for is too old, or of another memory: a copy has to be made anew.
        put: ids that are new or changed since; empty with `whole`.
        removed: ids that left since; empty with `whole`.
    """

    revision: int
    whole: bool
    put: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


class ChangeLog:
    """The revision at which each id changed last. Two logs share no revision, also those of two processes."""

    def __init__(self) -> None:
        self.revision = self._begin = time.time_ns()
        self._put: OrderedDict[str, int] = OrderedDict()
        self._removed: OrderedDict[str, int] = OrderedDict()

    def put(self, name: str) -> None:
        """Note that an id is new or has changed."""
        self._note(self._put, self._removed, name)

    def remove(self, name: str) -> None:
        """Note that an id has left."""
        self._note(self._removed, self._put, name)
        if len(self._removed) > _MOST_REMOVED:
            _, self._begin = self._removed.popitem(last=False)

    def since(self, revision: int) -> ChangesSince:
        """Return what changed since a revision."""
        if not self._begin <= revision <= self.revision:
            return ChangesSince(self.revision, True)
        return ChangesSince(self.revision, False, _later(self._put, revision), _later(self._removed, revision))

    def _note(self, kept: OrderedDict[str, int], other: OrderedDict[str, int], name: str) -> None:
        self.revision += 1
        other.pop(name, None)
        kept[name] = self.revision
        kept.move_to_end(name)


def _later(kept: OrderedDict[str, int], revision: int) -> tuple[str, ...]:
    """Return the ids noted after a revision, the first one first."""
    found = []
    for name in reversed(kept):
        if kept[name] <= revision:
            break
        found.append(name)
    return tuple(reversed(found))
