"""Which object is which over many views, and which is not there any more.

Each detection is at most one object. A new object is believed after some looks that agree, and one that was missed is
gone after some looks that show its place empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kc_vla.perception.absence import Absence, absences, empty_places, sight_lines
from kc_vla.perception.camera_frame import CameraFrame
from kc_vla.perception.located_object import LocatedObject
from kc_vla.perception.track import ObjectTrack
from kc_vla.perception.track_association import (
    SeenBoxes,
    by_source,
    displaced,
    doubles,
    is_of_type,
    moved,
    moved_on,
    near,
    overlaps_known,
)
from kc_vla.perception.tracks import TrackerSettings, Tracks


@dataclass(frozen=True)
class Tracked:
    """What is known after a look.

    Attributes:
        objects: that are reported now, with their ids: those that were seen, and those that were just shut in something
            (their `box` is empty and their attribute "place" says where they are).
        gone: ids of the objects that are not there any more, each once.
        undecided: ids of the objects that nothing hides and that were not seen, without proof that they are gone.
        refused: what was left out, a line for each reason.
    """

    objects: list[LocatedObject]
    gone: list[str] = field(default_factory=list)
    undecided: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


class Tracker:
    """Objects over the views of all cameras, for one thread."""

    def __init__(self, settings: TrackerSettings | None = None) -> None:
        """Begin with no object."""
        self._tracks = Tracks(settings or TrackerSettings())

    def update(self, frame: CameraFrame, located: Sequence[LocatedObject]) -> Tracked:
        """Take in what one image shows; its depth has NaN or 0 where it is not known."""
        self._tracks.pass_time(frame.stamp_ns)
        self._tracks.containment.carry(self._tracks.known)
        return _Look(frame, located, self._tracks).outcome()


class _Look:
    """The work of one call of `Tracker.update`."""

    def __init__(self, frame: CameraFrame, seen: Sequence[LocatedObject], tracks: Tracks) -> None:
        self._stamp_ns, self._seen, self._tracks, self._settings = frame.stamp_ns, seen, tracks, tracks.settings
        self._frame = frame
        self._lines = sight_lines(frame, tracks.settings.farthest_m)
        self._of: dict[int, ObjectTrack] = {}
        """Which track each detection is, by its number."""
        self._found: set[int] = set()
        """The Python ids of those tracks."""
        self._shut = {id(each) for each in tracks.known if each.look_at_bar(frame)}
        """The Python ids of the tracks that depth shows to be shut."""
        self._refused: list[str] = []
        self._undecided: list[str] = []

    def outcome(self) -> Tracked:
        tracks = self._tracks
        self._match()
        missed = [each for each in tracks.known if id(each) not in self._found]
        why = self._absences(missed)
        self._match_moved([each for each, absence in zip(missed, why, strict=True) if absence is Absence.EMPTY])
        found = {each.object_id: each for each in tracks.known if id(each) in self._found}
        for each, absence in zip(missed, why, strict=True):
            if id(each) not in self._found:
                self._miss(each, absence, found)
        self._doubt()
        self._begin()
        self._believe()
        found = {each.object_id: each for each in self._of.values() if each.object_id}
        for each in found.values():
            each.look_at_door(self._frame)
        for each in tracks.known:
            each.look_for_bar(self._frame)
        shut = tracks.containment.update(tracks.known, found)
        gone = tracks.let_go()
        rejoined, united = tracks.rejoin(), tracks.unite()
        renamed = {name: united.get(known, known) for name, known in rejoined.items()} | united
        gone = [*(name for name in gone if name not in renamed.values()), *renamed]
        found = {renamed.get(name, name): tracks.named(renamed.get(name, name)) for name in found}
        reported = [each.reported() for each in found.values()] + [each.reported(in_image=False) for each in shut]
        undecided = [name for name in self._undecided if name not in gone and name not in found]
        return Tracked(reported, gone, undecided, self._refused)

    def _absences(self, missed: Sequence[ObjectTrack]) -> list[Absence]:
        """Return for each track that was not found what that says: depth passes through what is open."""
        there = [at for at, each in enumerate(self._seen) if at in self._of or not each.faint]
        since_ns = [self._of[at].placed_ns if at in self._of else self._stamp_ns for at in there]
        why = absences(self._lines, missed, self._tracks.known, [self._seen[at] for at in there], since_ns)
        instead = displaced(missed, [each for each in self._of.values() if each.object_id]).tolist()
        return [self._judged(each, absence, other) for each, absence, other in zip(missed, why, instead, strict=True)]

    def _judged(self, track: ObjectTrack, absence: Absence, is_displaced: bool) -> Absence:
        """Return what an absence says, as depth passes through what is open, and no two solids are at one place."""
        if absence is Absence.EMPTY and self._tracks.containment.is_hollow(track.types.best):
            return Absence.UNSEEN
        if absence is Absence.HIDDEN and not track.holder and is_displaced:
            return Absence.UNSEEN
        return absence

    def _take(self, number: int, track: ObjectTrack) -> None:
        self._of[number] = track
        self._found.add(id(track))

    def _left(self) -> list[int]:
        return [number for number in range(len(self._seen)) if number not in self._of]

    def _match(self) -> None:
        """Find which detections are tracks near their places."""
        tracks = [*self._tracks.known, *self._tracks.doubted]
        if self._settings.trust_ids:
            for number, at in by_source(tracks, self._seen).items():
                tracks[at].see(self._seen[number], self._stamp_ns)
                self._take(number, tracks[at])
        self._match_near(tracks, faint=False)
        self._match_near(self._tracks.known, faint=True)

    def _match_near(self, tracks: Sequence[ObjectTrack], faint: bool) -> None:
        """Find which detections are some of the tracks near their places: first the sure ones, then those left over.

        The two steps are those of ByteTrack (Zhang et al., 2022).
        """
        left = [at for at in self._left() if self._seen[at].faint == faint]
        left = [at for at in left if not self._is_named(self._seen[at].object_id)]
        others = [each for each in tracks if id(each) not in self._found and not self._is_named(each.source_id)]
        seen = [self._seen[number] for number in left]
        shut = [id(each) in self._shut for each in others]
        for row, at in near(others, seen, self._tracks.containment.is_holder, shut).items():
            if faint and not is_of_type(others[at], seen[row]):
                continue
            others[at].see(self._seen[left[row]], self._stamp_ns)
            self._take(left[row], others[at])

    def _is_named(self, name: str) -> bool:
        """Return whether only detections and tracks with that name belong together."""
        return self._settings.trust_ids and bool(name)

    def _match_moved(self, empty: Sequence[ObjectTrack]) -> None:
        """Find which detections are tracks elsewhere whose place is seen empty."""
        tracks = [each for each in empty if not self._is_named(each.source_id)]
        left = [number for number in self._left() if not self._is_named(self._seen[number].object_id)]
        for row, at in moved(tracks, [self._seen[number] for number in left]).items():
            tracks[at].move(self._seen[left[row]], self._stamp_ns)
            self._take(left[row], tracks[at])

    def _miss(self, track: ObjectTrack, absence: Absence, found: Mapping[str, ObjectTrack]) -> None:
        """Count a look that did not find an object."""
        if track.shut or absence is Absence.OUT_OF_VIEW:
            return
        if absence is Absence.HIDDEN:
            track.empty = track.unseen = 0
            return
        if absence is Absence.UNSEEN or track.holder:
            self._undecided.append(track.object_id)
        if track.holder and track.holder not in found:  # it may just be moving with what it is in
            return
        track.empty = track.empty + 1 if absence is Absence.EMPTY else 0
        track.unseen += 1

    def _doubt(self) -> None:
        """Count the looks at the places of what is not believed yet, and forget what cannot be believed any more."""
        settings, tracks = self._settings, self._tracks
        missed = [each for each in tracks.doubted if id(each) not in self._found]
        why = self._absences(missed)
        seen_at = {id(each) for each, reason in zip(missed, why, strict=True) if reason is not Absence.OUT_OF_VIEW}
        kept = []
        for each in tracks.doubted:
            if id(each) in self._found or id(each) in seen_at:
                each.looks = [*each.looks, id(each) in self._found][-settings.of_looks :]
            if each.looks.count(False) <= settings.of_looks - settings.births:
                kept.append(each)
        tracks.doubted = kept

    def _begin(self) -> None:
        """Begin tracks with what is new.

        It is not new where this look has seen the same thing already, and nothing where depth shows that it is not.
        """
        left = [number for number in self._left() if not self._seen[number].faint]
        left.sort(key=lambda number: -self._seen[number].confidence)
        empty = empty_places(self._lines, [self._seen[number] for number in left])
        boxes = SeenBoxes(list(self._of.values()), len(left))
        for number, is_empty in zip(left, empty, strict=True):
            seen = self._seen[number]
            same = None if self._is_named(seen.object_id) else boxes.same(seen)
            if same is not None:
                same.support_type(seen)
            elif self._is_no_drawer(seen) or self._is_part(seen):
                continue
            elif not is_empty or self._tracks.containment.is_hollow(seen.object_type):
                track = ObjectTrack(seen, self._stamp_ns)
                full = self._tracks.begin(track, self._found)
                self._refused = [full] if full else self._refused
                self._take(number, track)
                boxes.add(track)

    def _is_no_drawer(self, seen: LocatedObject) -> bool:
        """Return whether what is taken for a drawer cannot be one, after the cabinets that are known."""
        containment, known = self._tracks.containment, self._tracks.known
        return containment.is_too_large(seen, known) or containment.is_stray(seen, known)

    def _is_part(self, seen: LocatedObject) -> bool:
        """Return whether the image shows but a part of furniture, where such furniture is known: from very near.

        What the rim of the image cuts is located badly: it is no second one.
        """
        return self._frame.cuts(seen.box) and overlaps_known(seen, self._tracks.known)

    def _believe(self) -> None:
        """Give ids to what enough looks have found, that of an object that was here before where it is one."""
        tracks = self._tracks
        ready = [each for each in tracks.doubted if id(each) in self._found and self._is_ready(each)]
        if not ready:
            return
        own = [each for each in ready if not self._is_named(each.source_id)]
        for number, at in doubles(own, tracks.known).items():
            self._absorb(own[number], tracks.known[at])
        ready = [each for each in ready if id(each) in self._found]
        missed = (each for each in tracks.known if id(each) not in self._found and not each.shut)
        lost = [each for each in (*missed, *tracks.lost.values()) if not self._is_named(each.source_id)]
        again = moved_on(lost, ready, [tracks.hangs(each) for each in lost])
        for number, each in enumerate(ready):
            if number not in again or self._is_named(each.source_id):
                tracks.believe(each)
                continue
            known = lost[again[number]]
            tracks.go_on(known, each)
            self._of = {at: known if track is each else track for at, track in self._of.items()}

    def _absorb(self, double: ObjectTrack, known: ObjectTrack) -> None:
        """Count a track that is a second one of what is known as a look at that."""
        self._tracks.stop_doubting(double)
        known.meet(self._stamp_ns)
        self._found.discard(id(double))
        self._found.add(id(known))
        self._of = {at: known if track is double else track for at, track in self._of.items()}

    def _is_ready(self, track: ObjectTrack) -> bool:
        settings = self._settings
        enough = track.looks.count(True) >= settings.births or track.is_sure(settings.sure)
        return enough and not self._tracks.is_misplaced(track)
