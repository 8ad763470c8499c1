"""The structure of a MessagePack frame, read without making any of its values: how much is in it, and where."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

_FIXED = {0xC0: 0, 0xC2: 0, 0xC3: 0, 0xCA: 4, 0xCB: 8, **{0xCC + k: 1 << k for k in range(4)}} | {
    **{0xD0 + k: 1 << k for k in range(4)},
    **{0xD4 + k: 1 + (1 << k) for k in range(5)},
}
"""Bytes that follow the first one of a value of that kind."""
_SIZED = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4}
"""Bytes and texts: how many bytes their length has; likewise below."""
_EXTENSIONS = {0xC7: 1, 0xC8: 2, 0xC9: 4}
_LISTS, _MAPS = {0xDC: 2, 0xDD: 4}, {0xDE: 2, 0xDF: 4}


class Head(NamedTuple):
    """The beginning of a value.

    Attributes:
        end: where its own bytes end; of a list or map, where its first value begins.
        inside: values that follow as part of it, keys included; 0 of a plain value.
        entries: of a list or map, its entries; None of a plain value.
    """

    end: int
    inside: int
    entries: int | None


def walk(frame: bytes, most_values: int, most_depth: int, refuse: Callable[[str], Exception]) -> dict[bytes, bytes]:
    """Bound what is in a frame, and return the entries of its outermost map, still packed; empty if it is none.

    Of a key that is there twice it is the last entry, as of a map.

    Args:
        frame: to walk through.
        most_values: entries and lists or maps that it may have in all.
        most_depth: lists and maps within each other.
        refuse: makes the error of a frame that is cut off or has more, from what is wrong.
    """
    left, at = most_values, 0
    waiting = [1]
    marks: list[int] = []
    is_map = bool(frame) and (0x80 <= frame[0] <= 0x8F or frame[0] in _MAPS)
    while waiting:
        if not waiting[-1]:
            waiting.pop()
            continue
        if len(waiting) == 2:
            marks.append(at)
        waiting[-1] -= 1
        head = _head(frame, at)
        if head is None or head.end + head.inside > len(frame):  # each value has a byte at least
            raise refuse("is no MessagePack: it breaks off")
        at = head.end
        if head.entries is not None:
            left -= head.entries + 1
            if left < 0:
                raise refuse(f"has more than {most_values} values")
            waiting.append(head.inside)
            if len(waiting) > most_depth + 1:
                raise refuse("is nested too deeply")
    if not is_map:
        return {}
    marks.append(at)
    pieces = [frame[begin:end] for begin, end in pairwise(marks)]
    return dict(zip(pieces[::2], pieces[1::2], strict=True))


def _head(frame: bytes, at: int) -> Head | None:
    """Return the value that begins there; None where the frame ends within its head, or nothing begins so."""
    if at >= len(frame):
        return None
    kind = frame[at]
    at += 1
    if kind <= 0x7F or kind >= 0xE0:
        return Head(at, 0, None)
    if kind <= 0x8F:
        return Head(at, 2 * (kind & 0x0F), kind & 0x0F)
    if kind <= 0x9F:
        return Head(at, kind & 0x0F, kind & 0x0F)
    if kind <= 0xBF:
        return Head(at + (kind & 0x1F), 0, None)
    if kind in _FIXED:
        return Head(at + _FIXED[kind], 0, None)
    width = _SIZED.get(kind) or _EXTENSIONS.get(kind) or _LISTS.get(kind) or _MAPS.get(kind) or 0
    if not width or at + width > len(frame):
        return None
    count = int.from_bytes(frame[at : at + width], "big")
    at += width
    if kind in _LISTS or kind in _MAPS:
        return Head(at, count * (2 if kind in _MAPS else 1), count)
    return Head(at + count + (kind in _EXTENSIONS), 0, None)
