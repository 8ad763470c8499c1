"""What a repaired file has lost: which topics, when, and how many messages, as far as anything still tells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

UNKNOWN_TOPIC = "topics that nothing names"
_MOST_LINES = 5
"""Number of gaps that are reported one by one; more are reported as one."""


@dataclass
class Span:
    """A time, ns of the log; an end that is None is not known."""

    start_ns: int | None
    end_ns: int | None
    count: int = 0

    def add(self, time_ns: int) -> None:
        """Count one more message."""
        self.start_ns = time_ns if self.start_ns is None else min(self.start_ns, time_ns)
        self.end_ns = time_ns if self.end_ns is None else max(self.end_ns, time_ns)
        self.count += 1


class Losses:
    """The losses of one repaired file, noted in the order of the file.

    Attributes:
        kept: messages that are kept, by topic.
        any: whether anything of the file is left out.
    """

    def __init__(self) -> None:
        """Begin with no losses."""
        self.kept: Counter[str] = Counter()
        self.any = False
        self._all = Span(None, None)
        self._named: dict[str, Span] = {}
        self._gaps: list[Span] = []
        self._last_ns: int | None = None

    def keep(self, topic: str, time_ns: int) -> None:
        """Count a message that is kept."""
        self.kept[topic] += 1
        self._all.add(time_ns)
        for gap in reversed(self._gaps):
            if gap.end_ns is not None:
                break
            gap.end_ns = time_ns
        self._last_ns = time_ns

    def lose(self, topic: str, time_ns: int) -> None:
        """Note a message that is lost, while it is known which."""
        self.any = True
        self._all.add(time_ns)
        self._named.setdefault(topic, Span(None, None)).add(time_ns)

    def lose_some(self, start_ns: int | None = None, end_ns: int | None = None, count: int = 0) -> Span:
        """Note that some messages are lost, `count` where that is known, and return the gap.

        Their times are between the neighbors' where they are not known.
        """
        self.any = True
        gap = Span(self._last_ns if start_ns is None else start_ns, end_ns, count)
        self._gaps.append(gap)
        return gap

    def explain(self, gap: Span) -> None:
        """Forget a gap, because what is missing there was noted with `lose`."""
        self._gaps = [other for other in self._gaps if other is not gap]

    def lines(self, expected: Mapping[str, int] | None) -> list[str]:
        """Say it for a person; times in s since the first message.

        Args:
            expected: messages that there were, by topic; None where nothing tells.
        """
        told = []
        unnamed = {} if expected is None else {name: count - self.kept[name] for name, count in expected.items()}
        gaps = self._gaps
        if expected is not None and (unknown := self._named.pop(UNKNOWN_TOPIC, None)) is not None:
            gaps = [*gaps, unknown]
        for topic in sorted({*self._named, *(name for name, count in unnamed.items() if count > 0)}):
            span = self._named.get(topic, Span(None, None))
            count = max(span.count, unnamed.get(topic, 0))
            of = f" of {count + self.kept[topic]}" if expected is not None else ""
            when = self._when([span] if count == span.count else [span, *gaps])
            told.append(f"{topic}: {count}{of} messages are missing{when}")
        if expected is None:
            for some in [gaps] if len(gaps) > _MOST_LINES else [[gap] for gap in gaps]:
                count = sum(gap.count for gap in some) if all(gap.count for gap in some) else 0
                told.append(
                    f"{count} messages are missing{self._when(some)}"
                    if count
                    else f"messages may be missing{self._when(some)}; nothing tells how many"
                )
        return told

    def _when(self, spans: list[Span]) -> str:
        known = [span for span in spans if span.start_ns is not None or span.end_ns is not None]
        begin = self._all.start_ns
        if not known or begin is None:
            return ""
        words = []
        if all(span.start_ns is not None for span in known):
            words.append(f"from {(min(span.start_ns or 0 for span in known) - begin) * 1e-9:.2f} s")
        if all(span.end_ns is not None for span in known):
            words.append(f"to {(max(span.end_ns or 0 for span in known) - begin) * 1e-9:.2f} s")
        return " " + " ".join([*words, "on"] if len(words) == 1 and words[0].startswith("from") else words)


class Salvaged(NamedTuple):
    """What became of a file.

    Attributes:
        losses: what is missing.
        expected: messages that there were, by topic; None where the file does not tell.
    """

    losses: Losses
    expected: Mapping[str, int] | None
