"""Puts the streams of one moment together: for each frame of a reference stream, the nearest held sample of the others.

Nothing is filtered away in silence: a frame that cannot be completed is counted, with the stream that failed it.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class SyncedFrame:
    """One complete frame: the stamp of the reference stream and the sample of every stream."""

    stamp_ns: int
    samples: Mapping[str, Any]

    def __getitem__(self, stream: str) -> Any:
        """Return the sample of a stream."""
        return self.samples[stream]


@dataclass
class _Stream:
    samples: list[tuple[int, Any]] = field(default_factory=list)  # ascending by stamp

    def holds(self, stamp_ns: int) -> bool:
        at = self._place(stamp_ns)
        return at < len(self.samples) and self.samples[at][0] == stamp_ns

    def put(self, stamp_ns: int, sample: Any, depth: int, span_ns: int = 0) -> None:
        if self.holds(stamp_ns):
            return
        insort(self.samples, (stamp_ns, sample), key=lambda s: s[0])
        while len(self.samples) > depth and self.samples[-1][0] - self.samples[0][0] > span_ns:
            del self.samples[0]

    def drop_before(self, stamp_ns: int) -> None:
        del self.samples[: self._place(stamp_ns)]

    def newest(self) -> int | None:
        return self.samples[-1][0] if self.samples else None

    def nearest(self, stamp_ns: int) -> tuple[int, Any]:
        at = self._place(stamp_ns)
        around = self.samples[max(at - 1, 0) : at + 1]
        return min(around, key=lambda s: abs(s[0] - stamp_ns))

    def _place(self, stamp_ns: int) -> int:
        return bisect_left(self.samples, stamp_ns, key=lambda s: s[0])


class Synchronizer:
    """Collects samples by stream and stamp; gives complete moments in ascending order, each once.

    A moment is complete when every other stream has a sample within `tolerance_ns` of the reference, or one that is
    newer than the reference, so that no nearer one can come. Streams are taken to be ascending in time.
    """

    def __init__(
        self,
        reference: str,
        others: Iterable[str],
        tolerance_ns: int,
        depth: int = 32,
        exact: Iterable[str] = (),
        span_ns: int = 2_000_000_000,
    ) -> None:
        """Begin without any.

        Args:
            reference: whose frames are completed.
            others: what completes them.
            tolerance_ns: between the reference and another.
            depth: samples kept of a stream; of the reference, no more.
            exact: those of the others that must carry the very same stamp.
            span_ns: of the others, what is no older than that against the stream's newest is kept, too: a node that
                is busy gets its images late, and a fast stream beside them has come much further by then.
        """
        if depth < 1:
            raise ValueError(f"a depth of {depth} samples is too small: it must be 1 or more")
        self.reference = reference
        equal = frozenset(exact)
        self._tolerance = {name: 0 if name in equal else tolerance_ns for name in others}
        self._streams = {name: _Stream() for name in (reference, *self._tolerance)}
        self._depth, self._span_ns = depth, span_ns
        self._done_ns = -1
        self.incomplete: defaultdict[str, int] = defaultdict(int)

    def put(self, stream: str, stamp_ns: int, sample: Any) -> list[SyncedFrame]:
        """Take in one sample; return the moments that it completes, oldest first.

        A reference sample that is not newer than the last one given, or counted as incomplete, is ignored: that
        frame is done.
        """
        held = self._streams[stream]
        if stream == self.reference:
            if stamp_ns <= self._done_ns or held.holds(stamp_ns):
                return []
            if len(held.samples) == self._depth:
                self._lose(held.samples.pop(0)[0])
            held.put(stamp_ns, sample, self._depth)
        else:
            held.put(stamp_ns, sample, self._depth, self._span_ns)
        return self._collect()

    def reset(self, after_ns: int = -1) -> None:
        """Forget everything held; frames stamped at or before `after_ns` count as done."""
        for held in self._streams.values():
            held.samples.clear()
        self._done_ns = after_ns
        self.incomplete.clear()

    def _collect(self) -> list[SyncedFrame]:
        moments = []
        frames = self._streams[self.reference].samples
        while frames:
            stamp, sample = frames[0]
            matched = self._match(stamp)
            if matched is None:
                break
            frames.pop(0)
            self._done_ns = stamp
            late = [name for name, found in matched.items() if found is None]
            if late:
                self.incomplete[late[0]] += 1
                continue
            found = {name: value[1] for name, value in matched.items() if value is not None}
            moments.append(SyncedFrame(stamp, {self.reference: sample, **found}))
        for name, tolerance in self._tolerance.items():
            self._streams[name].drop_before(self._done_ns - tolerance)  # near no frame to come
        return moments

    def _match(self, stamp: int) -> dict[str, tuple[int, Any] | None] | None:
        """Return the sample of each other stream (None: none is near enough), or None to go on waiting."""
        matched: dict[str, tuple[int, Any] | None] = {}
        for name, tolerance in self._tolerance.items():
            stream = self._streams[name]
            newest = stream.newest()
            if newest is None:
                return None
            nearest = stream.nearest(stamp)
            if abs(nearest[0] - stamp) <= tolerance:
                matched[name] = nearest
            elif newest > stamp:
                matched[name] = None
            else:
                return None
        return matched

    def _lose(self, stamp: int) -> None:
        """Drop a reference sample that has no match, and count it against the first stream that has nothing for it."""
        self._done_ns = stamp
        for name, tolerance in self._tolerance.items():
            stream = self._streams[name]
            if stream.newest() is None or abs(stream.nearest(stamp)[0] - stamp) > tolerance:
                self.incomplete[name] += 1
                return
