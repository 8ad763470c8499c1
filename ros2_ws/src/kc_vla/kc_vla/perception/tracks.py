"""All tracks of a tracker: those that are believed, those that are not yet, and those that are lost."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass

import numpy as np

from kc_vla.memory.long_term.detections import IMMOVABLE, plain_type
from kc_vla.perception.camera_frame import CameraFrameError
from kc_vla.perception.containment import Containment
from kc_vla.perception.front import CONTAINERS, PART
from kc_vla.perception.track import ObjectTrack
from kc_vla.perception.track_association import SeenBoxes, began_elsewhere, double_of, overlapping

_BACK_NS = 1_000_000_000
"""So far a clock that is set right may go back; further, time has begun anew."""
_STAYS = 3
"""Furniture is gone after so many times as many looks that do not find it as a thing: an arm keeps clear of it."""
_HANGS_M, _BESIDE_M = 0.05, 0.03
"""What is so far above all that could carry it hangs, m; that reaches so far to the side of where it is located, m."""
_STANDING = frozenset({"sink", "sinkbasin", "tray", "stove", "stoveburner", "basket", "bin"})
"""Types of what stands on or in the surface, and hangs nowhere."""
_MOST_TYPES = 1000
_REST = "object"
"""What is counted under one name where a detector invents types without end."""


class TrackIds:
    """Counts the objects of each type, for ids such as mug_1: none is used for a second object."""

    def __init__(self, run: str = "") -> None:
        """Begin at 1.

        Args:
            run: what the ids end with, for a memory that outlives this process; empty: nothing.
        """
        self._counts: dict[str, int] = {}
        self._end = f"-{run}" if run else ""

    def new(self, object_type: str, taken: Container[str]) -> str:
        """Return the id of a new object: its type with a number, and none of those that are taken."""
        plain = "".join(letter if letter.isalnum() else "_" for letter in object_type.lower()).strip("_")
        kind = plain if plain in self._counts or (plain and len(self._counts) < _MOST_TYPES) else _REST
        while True:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            name = f"{kind}_{self._counts[kind]}{self._end}"
            if name not in taken:
                return name


@dataclass(frozen=True)
class TrackerSettings:
    """How looks become objects.

    Attributes:
        births: looks that have to find a new object ...
        of_looks: ... of so many at its place.
        support_m: height of the surface that things stand on, m; None where that is not known.
        sure: confidence from which one look with a measured place is enough.
        empty_looks: looks in a row that show the place of an object empty before it is gone.
        unseen_looks: likewise, of looks that do not prove it: without depth, or of what is very thin.
        handed_looks: likewise, of what is in something open: that moves when it is closed.
        remembered_s: so long after it was found to be gone, what appears elsewhere keeps its id.
        doubted_s: so long an object is kept that is not believed yet and whose place is not in view.
        farthest_m: what is deeper does not count as in view.
        containers: types of what opens and closes.
        trust_ids: whether `object_id` of a detection names the same object each time, as the simulator's does; a
            detector that numbers its boxes must not be trusted.
        most_tracks: objects that are kept; the one that was not seen for longest makes room.
        run: what the ids of objects end with: a memory that outlives this process must not take the mug_1 of another
            run for the same one.
    """

    support_m: float | None = None
    births: int = 2
    of_looks: int = 3
    sure: float = 0.98
    empty_looks: int = 3
    unseen_looks: int = 10
    handed_looks: int = 6
    remembered_s: float = 60.0
    doubted_s: float = 5.0
    farthest_m: float = 4.0
    containers: Collection[str] = CONTAINERS
    trust_ids: bool = False
    most_tracks: int = 500
    run: str = ""

    def __post_init__(self) -> None:
        looks = self.births, self.empty_looks, self.unseen_looks, self.handed_looks, self.most_tracks
        if min(looks) < 1 or self.of_looks < self.births:
            raise CameraFrameError("looks and tracks are counted from 1, and of_looks is at least births")
        if min(self.remembered_s, self.doubted_s) < 0.0 or self.farthest_m <= 0.0:
            raise CameraFrameError("no time of a tracker is negative, and it looks farther than 0 m")


class Tracks:
    """The tracks, in one thread.

    Attributes:
        settings: see there.
        known: that are believed and have an id.
        doubted: that are not believed yet.
        lost: that are gone, by their ids, the last one at the end.
        containment: what is in what.
    """

    def __init__(self, settings: TrackerSettings) -> None:
        """Begin with none."""
        self.settings = settings
        self.known: list[ObjectTrack] = []
        self.doubted: list[ObjectTrack] = []
        self.lost: OrderedDict[str, ObjectTrack] = OrderedDict()
        self.containment = Containment(settings.containers)
        self._ids = TrackIds(settings.run)
        self._latest_ns = 0

    def pass_time(self, stamp_ns: int) -> None:
        """Forget what is too old; where time has begun anew, everything."""
        if stamp_ns < self._latest_ns - _BACK_NS:
            self.known, self.doubted = [], []
            self.lost.clear()
            self._latest_ns = stamp_ns
        self._latest_ns = max(self._latest_ns, stamp_ns)
        now_ns, settings = self._latest_ns, self.settings
        self.doubted = [each for each in self.doubted if _age_s(each, now_ns) <= settings.doubted_s]
        forgotten = [name for name, each in self.lost.items() if 1e-9 * (now_ns - each.gone_ns) > settings.remembered_s]
        for name in forgotten:
            del self.lost[name]

    def begin(self, track: ObjectTrack, found: Collection[int]) -> str:
        """Take in a new track, in place of another one where there is no room.

        Args:
            track: the new one.
            found: the Python ids of the tracks that the present look shows, which stay.

        Returns:
            Why an old one, or the new one, is left out; empty if there is room.
        """
        most = self.settings.most_tracks
        if len(self.known) + len(self.doubted) < most:
            self.doubted.append(track)
            return ""
        old = [each for each in self.doubted if id(each) not in found]
        old = old or [each for each in self.known if id(each) not in found]
        if old:
            oldest = min(old, key=lambda each: each.seen_ns)
            self.doubted = [each for each in self.doubted if each is not oldest]
            self.known = [each for each in self.known if each is not oldest]
            self.doubted.append(track)
        return f"{most} objects are tracked, the most there can be: others are not followed any more"

    def believe(self, track: ObjectTrack) -> None:
        """Give an id to a track."""
        self.stop_doubting(track)
        taken = {each.object_id for each in self.known} | self.lost.keys()
        named = track.source_id if self.settings.trust_ids else ""
        track.object_id = named or self._ids.new(track.types.best, taken)
        self.lost.pop(track.object_id, None)
        self.known.append(track)

    def go_on(self, known: ObjectTrack, young: ObjectTrack) -> None:
        """Let an object that was missed or lost go on where a new track is."""
        self.stop_doubting(young)
        known.take_over(young)
        if self.lost.pop(known.object_id, None) is not None:
            self.known.append(known)

    def unite(self) -> dict[str, str]:
        """Let what is known twice go on as the one of the two that was known first.

        Returns:
            The ids of the first ones by those of the second ones, which end.
        """
        renamed: dict[str, str] = {}
        together = sorted(overlapping(self.known), key=lambda track: track.begun_ns)
        kept: list[ObjectTrack] = []
        boxes = SeenBoxes(kept, len(together))
        for each in together:
            first = None if self._is_named(each) else double_of(each, boxes)
            if first is None:
                kept.append(each)
                boxes.add(each)
                continue
            if each.seen_ns > first.seen_ns:
                first.see(each.summary(), each.seen_ns)
                boxes = SeenBoxes(kept, len(together))
            renamed[each.object_id] = first.object_id
        if renamed:
            self.known = [each for each in self.known if each.object_id not in renamed]
            self._rename_holders(renamed)
        return renamed

    def stop_doubting(self, track: ObjectTrack) -> None:
        """Take a track out of those that are not believed yet: it is, or it is another one."""
        self.doubted = [each for each in self.doubted if each is not track]

    def hangs(self, track: ObjectTrack) -> bool:
        """Return whether a thing that is not in anything has nothing below it: a hand carried it when it was seen."""
        return plain_type(track.types.best) not in IMMOVABLE and self._floats(track)

    def is_misplaced(self, track: ObjectTrack) -> bool:
        """Return whether furniture that stands is seen high above all that is known.

        A detector may take the arm for furniture, and from very near it estimates badly how far away something is. What
        opens may hang on a wall: it is where its bar is seen.
        """
        kind = plain_type(track.types.best)
        stands = kind in _STANDING or (kind in (CONTAINERS & IMMOVABLE) - {PART} and np.isnan(track.bar_height))
        return stands and self._floats(track)

    def _floats(self, track: ObjectTrack) -> bool:
        support_m = self.settings.support_m
        if support_m is None or track.holder or not track.size.any():
            return False
        low = track.position[2] - track.size[2] / 2
        if low < support_m + _HANGS_M:
            return False
        others = (each for each in self.known if each is not track)
        return not any(_is_below(each, track, low) for each in others)

    def named(self, object_id: str) -> ObjectTrack:
        """Return the believed track with an id, which there has to be."""
        return next(each for each in self.known if each.object_id == object_id)

    def rejoin(self) -> dict[str, str]:
        """Let what is gone go on where something alike began since: it was seen at its new place first.

        Returns:
            The ids of the objects that go on, by the ids that they had at the new place, which end.
        """
        lost, young = list(self.lost.values()), [each for each in self.known if not self._is_named(each)]
        lost = [each for each in lost if not self._is_named(each)]
        renamed = {}
        for at, before in began_elsewhere(lost, young).items():
            track, known = young[at], lost[before]
            known.take_over(track)
            renamed[track.object_id] = known.object_id
            self.known = [known if each is track else each for each in self.known]
            del self.lost[known.object_id]
        self._rename_holders(renamed)
        return renamed

    def _rename_holders(self, renamed: Mapping[str, str]) -> None:
        for each in self.known:
            each.holder = renamed.get(each.holder, each.holder)

    def _is_named(self, track: ObjectTrack) -> bool:
        return self.settings.trust_ids and bool(track.source_id)

    def let_go(self) -> list[str]:
        """Remove what is gone, and return the ids."""
        gone = [each for each in self.known if self._is_gone(each)]
        for each in gone:
            self.lost[each.object_id], each.gone_ns = each, self._latest_ns
        while len(self.lost) > self.settings.most_tracks:
            self.lost.popitem(last=False)
        names = [each.object_id for each in gone]
        self.known = [each for each in self.known if each.object_id not in names]
        return names

    def _is_gone(self, track: ObjectTrack) -> bool:
        settings = self.settings
        needed = settings.handed_looks if track.holder else settings.empty_looks
        unseen = settings.unseen_looks * (_STAYS if plain_type(track.types.best) in IMMOVABLE else 1)
        return not track.shut and (track.empty >= needed or track.unseen >= max(unseen, needed))


def _is_below(other: ObjectTrack, track: ObjectTrack, low: float) -> bool:
    """Return whether a track is above another one, or in it, so that this can carry it; `low`: its lower side, m."""
    beside = np.abs(track.position - other.position) - other.size / 2
    return bool((beside[:2] < _BESIDE_M).all() and low < other.position[2] + other.size[2] / 2 + _HANGS_M)


def _age_s(track: ObjectTrack, now_ns: int) -> float:
    return 1e-9 * (now_ns - track.seen_ns)
