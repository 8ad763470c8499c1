"""The content of the live page: a node writes it, and the threads of a server read what is new to each client."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count, takewhile
from types import MappingProxyType
from typing import Any

SCORES, EVENTS, CHUNKS, COMMANDS = "scores", "events", "chunks", "commands"
THUMBS, STEPS = "thumbs", "steps"
_MOST_ROWS = MappingProxyType({SCORES: 4000, EVENTS: 256, CHUNKS: 16, COMMANDS: 600, THUMBS: 64, STEPS: 300})
"""What is kept of each series: at 20 Hz 200 s of scores and 30 s of commands, however long the episode."""
_MOST_PARTS = 128


@dataclass
class ClientState:
    """What one page has got so far.

    Attributes:
        episode: number of the episode of its series.
        parts: number of the latest version of each part that the page has.
        rows: number of the last row of each series that the page has.
        pictures: number of the last image of each view that the page has.
    """

    episode: int = -1
    parts: dict[str, int] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    pictures: dict[str, int] = field(default_factory=dict)


class LiveBoard:
    """Parts that are replaced as a whole, and series that grow in an episode. It is thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = count(1)
        self._parts: dict[str, tuple[int, Any]] = {}
        self._episode, self._id = 0, ""
        self._series: dict[str, deque[tuple[int, Any]]] = {}
        self._clear()

    @property
    def episode(self) -> str:
        """Return the id of the episode of the series; empty before the first episode."""
        return self._id

    def tell(self, part: str, value: Any) -> None:
        """Set a part to JSON without NaN; a part beyond the first 128 is left out."""
        with self._lock:
            known = self._parts.get(part)
            if (known is None and len(self._parts) >= _MOST_PARTS) or (known is not None and known[1] == value):
                return
            self._parts[part] = next(self._numbers), value

    def add(self, series: str, row: Any) -> None:
        """Add a row to a series, as JSON without NaN."""
        with self._lock:
            self._series[series].append((next(self._numbers), row))

    def forget(self, *names: str) -> None:
        """Forget parts and series that nobody keeps up to date any more: who looks later would take them for now."""
        with self._lock:
            for name in names:
                self._parts.pop(name, None)
                if name in self._series:
                    self._series[name].clear()

    def begin(self, episode_id: str) -> None:
        """Begin the series of an episode; what they had of another one is gone."""
        with self._lock:
            if episode_id != self._id:
                self._id = episode_id
                self._episode += 1
                self._clear()

    def news(self, seen: ClientState) -> dict[str, Any]:
        """Return what is new to a client, as JSON: {"parts", "series"}, and "anew" where what it had of series is void.

        Args:
            seen: is brought up to date.
        """
        with self._lock:
            found: dict[str, Any] = {}
            if seen.episode != self._episode:
                seen.episode, seen.rows, found["anew"] = self._episode, {}, True
            parts = {part: value for part, (number, value) in self._parts.items() if number != seen.parts.get(part)}
            seen.parts = {part: number for part, (number, _) in self._parts.items()}
            series = {}
            for name, rows in self._series.items():
                if new := _after(rows, seen.rows.get(name, 0)):
                    series[name] = new
                    seen.rows[name] = rows[-1][0]
        return found | ({"parts": parts} if parts else {}) | ({"series": series} if series else {})

    def _clear(self) -> None:
        self._series = {name: deque(maxlen=most) for name, most in _MOST_ROWS.items()}


def _after(rows: deque[tuple[int, Any]], number: int) -> list[Any]:
    """Return the rows after one, found from the end on.

    A page asks ten times a second, and has thousands of them already.
    """
    new = takewhile(lambda each: each[0] > number, reversed(rows))
    return [row for _, row in new][::-1]


def health(level: int, message: str, values: Mapping[str, str], at_s: float) -> dict[str, Any]:
    """Return the part of a node, of its diagnostics; long ones are cut.

    Args:
        level: 0 well, 1 a warning, 2 an error, 3 stale.
        message: its problem.
        values: what else it tells.
        at_s: when, on the server's steady clock.
    """
    short = {name[:80]: text[:160] for name, text in list(values.items())[:120]}
    return {"level": level, "message": message[:400], "values": short, "at": round(at_s, 2)}
