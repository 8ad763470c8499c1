"""The annotations of a bag: a file beside it to which rows are only ever added, so that it is the history as well.

Each person has an annotation of their own, a *track*: two people on one folder never overwrite each other. A row is the
whole track as it stood after one action; the last row of an author holds. The file is `annotations.jsonl` in a bag
folder, `<name>.annotations.jsonl` beside a single bag file.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from kc_vla.core.untrusted import open_ordinary, parsed_json, read_open

OPEN, CONFIRMED = "open", "confirmed"
_FILE = "annotations.jsonl"
_SOURCES = ("person", "rules", "learned", "events", "oracle", "committed", "import")
_MOST_MARKS, _MOST_TEXT, _MOST_ACTION = 1000, 200, 1000


class AnnotationError(ValueError):
    """What was asked for cannot be; the text says why, in one line."""


class Conflict(AnnotationError):  # noqa: N818 - it is what happened, between two who did nothing wrong
    """The annotation has changed since it was looked at."""


@dataclass(frozen=True)
class Mark:
    """One keyframe.

    Attributes:
        frame: 0-based position among the episode's images of the first view.
        stamp_ns: header stamp of that image, ns.
        phase: index of the keyframe in its task, 0 for frame 0.
        label: its name in the task table.
        source: who found it first: "person", or what proposed it.
        score: its confidence, 0..1.
    """

    frame: int
    stamp_ns: int
    phase: int
    label: str
    source: str
    score: float


@dataclass(frozen=True)
class Track:
    """One person's annotation of one bag.

    Attributes:
        author: the person.
        revision: 1 for the first row of this author, one more with each.
        time: of this row, ISO 8601, UTC.
        state: `OPEN` or `CONFIRMED`.
        marks: by frame.
        action: what was done, for people.
    """

    author: str
    revision: int
    time: str
    state: str
    marks: tuple[Mark, ...]
    action: str


class AnnotationLog:
    """The annotations of one bag; every call looks at the file, which others may add to as well."""

    def __init__(self, bag: Path) -> None:
        """Take the log of a bag; nothing is read yet.

        Args:
            bag: a bag folder or a bag file.
        """
        self.path = annotation_file(bag)

    def tracks(self) -> dict[str, Track]:
        """Return the newest row of each author.

        Raises:
            AnnotationError: a row is not as it should be.
            OSError: the file cannot be read.
        """
        return {track.author: track for track in self.history()}

    def history(self) -> list[Track]:
        """Return all rows, the oldest first; a last one that was torn off by a loss of power is left out.

        Raises:
            AnnotationError: a row is not as it should be.
            OSError: the file cannot be read.
        """
        try:
            data = read_open(open_ordinary(self.path, os.O_RDONLY))
        except FileNotFoundError:
            return []
        except ValueError as error:
            raise AnnotationError(f"{self.path} {error}") from error
        rows = data.decode("utf-8", errors="replace").split("\n")
        return [_track(row, f"{self.path}, row {number}") for number, row in enumerate(rows[:-1], start=1) if row]

    def append(self, author: str, since: int, state: str, marks: Sequence[Mark], action: str) -> Track:
        """Add a row, and have it on the disk before this returns.

        Args:
            author: whose track it is.
            since: revision of the author's track that was looked at, 0 for none.
            state: `OPEN` or `CONFIRMED`.
            marks: what it is now.
            action: what was done.

        Raises:
            Conflict: the author's track is further already, e.g. in a second window.
            AnnotationError: a mark cannot be, or a row of the file is not as it should be.
            OSError: the file cannot be written.
        """
        track = Track(author, since + 1, datetime.now(UTC).isoformat(timespec="seconds"), state, tuple(marks), action)
        check(track)
        if state == CONFIRMED:  # rows of before that lack one can be read
            _check_whole(track.marks)
        with _locked(self.path) as file:
            known = self.tracks().get(author)
            newest = 0 if known is None else known.revision
            if newest != since:
                raise Conflict(f"{author} has changed this annotation elsewhere (revision {newest}, not {since})")
            _mend_end(file)
            _add(file, (json.dumps(asdict(track)) + "\n").encode())
        return track


def annotation_file(bag: Path) -> Path:
    """Return where the annotations of `bag` are."""
    return bag / _FILE if bag.is_dir() else bag.with_name(f"{bag.stem}.{_FILE}")


def confirmed_track(bag: Path) -> Track | None:
    """Return the newest confirmed annotation of a bag, by any author; None where there is none.

    Raises:
        AnnotationError: a row of the file is not as it should be.
        OSError: the file cannot be read.
    """
    confirmed = [track for track in AnnotationLog(bag).tracks().values() if track.state == CONFIRMED]
    return max(confirmed, key=lambda track: track.time, default=None)


def check(track: Track) -> None:
    """Check that the values of a track are allowed.

    Raises:
        AnnotationError: it cannot; the text says why.
    """
    if not track.author.strip() or len(track.author) > _MOST_TEXT or not track.author.isprintable():
        raise AnnotationError("an author needs a name of up to 200 letters")
    if len(track.action) > _MOST_ACTION or track.action != _utf8(track.action):
        raise AnnotationError(f"an action is a text of up to {_MOST_ACTION} letters")
    if track.state not in (OPEN, CONFIRMED):
        raise AnnotationError(f"a track is {OPEN} or {CONFIRMED}, not '{track.state}'")
    if len(track.marks) > _MOST_MARKS:
        raise AnnotationError(f"{len(track.marks)} keyframes: {_MOST_MARKS} are the most")
    for mark in track.marks:
        if mark.frame < 0 or not 0 <= mark.phase < _MOST_MARKS or not 0.0 <= mark.score <= 1.0:
            raise AnnotationError(f"a keyframe with frame {mark.frame}, phase {mark.phase}, score {mark.score}")
        if mark.source not in _SOURCES:
            raise AnnotationError(f"frame {mark.frame}: the source is one of {', '.join(_SOURCES)}")
    for before, after in pairwise(track.marks):
        if after.frame <= before.frame:
            raise AnnotationError(f"frame {after.frame}: keyframes ascend, this one follows {before.frame}")
    if track.state == CONFIRMED:
        _check_confirmed(track.marks)


def _check_confirmed(marks: Sequence[Mark]) -> None:
    if not marks or marks[0].frame != 0 or marks[0].phase != 0:
        raise AnnotationError("the first keyframe must be frame 0, phase 0")
    for before, after in pairwise(marks):
        if after.phase <= before.phase:
            raise AnnotationError(f"frame {after.frame}: phase {after.phase} follows phase {before.phase}")


def _check_whole(marks: Sequence[Mark]) -> None:
    for place, mark in enumerate(marks):
        if mark.phase != place:
            raise AnnotationError(
                f"frame {mark.frame} is keyframe {mark.phase}, and keyframe {place} is missing: those after it would "
                "be taken for it; mark it, or leave the later ones out"
            )


def _add(file: int, data: bytes) -> None:
    """Put it behind what is in the file, on the disk; OSError where it does not fit, and nothing has changed."""
    size = os.fstat(file).st_size
    try:
        while data:  # a disk with little room takes a part, and says so the next time
            data = data[os.write(file, data) :]
        os.fsync(file)
    except OSError:
        os.ftruncate(file, size)
        raise


def _track(row: str, told: str) -> Track:
    try:
        fields: dict[str, Any] = parsed_json(row)
        marks = tuple(mark_from(mark) for mark in fields["marks"])
        marks = tuple(replace(mark, label=_utf8(mark.label)) for mark in marks)
        track = replace(Track(**{**fields, "marks": ()}), marks=marks)
        if type(track.revision) is not int or not all(
            isinstance(text, str) for text in (track.author, track.time, track.state, track.action)
        ):
            raise AnnotationError("a field has the wrong type")
        # Such rows were written once: nothing that was done is lost for what somebody called it.
        track = replace(track, time=_utf8(track.time), action=_utf8(track.action)[:_MOST_ACTION])
        check(track)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise AnnotationError(f"{told}: {error}") from error
    return track


def _utf8(text: str) -> str:
    """Return a text as it can be sent: JSON can name halves of letters, which UTF-8 does not have."""
    return text.encode("utf-8", "replace").decode("utf-8")


def mark_from(fields: Any) -> Mark:
    """Return a mark from the fields of a JSON object.

    Raises:
        AnnotationError: one is missing, unknown or of the wrong type.
    """
    kinds: dict[str, tuple[type, ...]] = {
        "frame": (int,),
        "stamp_ns": (int,),
        "phase": (int,),
        "label": (str,),
        "source": (str,),
        "score": (int, float),
    }
    if not isinstance(fields, dict) or set(fields) != set(kinds):
        raise AnnotationError(f"a keyframe has the fields {', '.join(kinds)}")
    for name, kind in kinds.items():
        if isinstance(fields[name], bool) or not isinstance(fields[name], kind):
            raise AnnotationError(f"a keyframe's {name} is {fields[name]!r}")
    return Mark(**fields)


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """Provide the file, open for adding, for this process alone."""
    try:
        file = open_ordinary(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    except ValueError as error:
        raise AnnotationError(f"{path} {error}") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file
    finally:
        os.close(file)


def _mend_end(file: int) -> None:
    """Take away what a loss of power has left of a last row."""
    size = os.fstat(file).st_size
    whole = size
    while whole:
        begin = max(0, whole - 65536)
        found = os.pread(file, whole - begin, begin).rfind(b"\n")
        if found >= 0:
            whole = begin + found + 1
            break
        whole = begin
    if whole != size:
        os.ftruncate(file, whole)
