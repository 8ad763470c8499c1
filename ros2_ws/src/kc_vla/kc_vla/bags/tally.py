"""What has been added to a bag file so far."""

from __future__ import annotations

from kc_vla.bags.metadata import FileFacts


class Tally:
    """Counts messages by topic, and knows the first and the last time."""

    def __init__(self, name: str) -> None:
        """Begin to count at 0.

        Args:
            name: of the file.
        """
        self._name = name
        self._counts: dict[str, int] = {}
        self._start_ns: int | None = None
        self._end_ns = 0

    def declare(self, topic: str) -> None:
        """Begin to count a topic at 0."""
        self._counts[topic] = 0

    def add(self, topic: str, time_ns: int) -> None:
        """Count a message."""
        self._counts[topic] += 1
        self._start_ns = time_ns if self._start_ns is None else min(self._start_ns, time_ns)
        self._end_ns = max(self._end_ns, time_ns)

    def count(self, topic: str) -> int:
        """Return the number of messages of a topic so far."""
        return self._counts[topic]

    def facts(self) -> FileFacts:
        """Return all of it, as the metadata want it."""
        return FileFacts(self._name, self._start_ns or 0, self._end_ns, dict(self._counts))
