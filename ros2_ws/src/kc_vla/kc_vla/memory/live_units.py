"""A short-term memory that is in use: what is said to it and asked of it, from one thread, and its tally."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import IntEnum
from typing import NamedTuple

from kc_vla.memory.change_log import ChangeLog
from kc_vla.memory.embedding.interface import Embedder
from kc_vla.memory.images.observing import put_detections
from kc_vla.memory.images.store import CropStore
from kc_vla.memory.intake import Taken, lasting_stamp, unit_of
from kc_vla.memory.recall.answer import EVERYTHING, Filters, RecallAnswer
from kc_vla.memory.recall.recall import Ranker, Recall
from kc_vla.memory.recall.unit_images import UnitImages
from kc_vla.memory.references.spatial import Viewpoint
from kc_vla.memory.short_term.absence import UnitAbsence
from kc_vla.memory.short_term.memory import ShortTermMemory, UnitChange, UnitEvent
from kc_vla.memory.short_term.state_reader import StateQuestion, StateReader, StateReading
from kc_vla.memory.short_term.unit import Unit, UnitError, plain

_AT_ONCE = 4
"""Units that are embedded before the next question or detection gets its turn."""
_TOLD = 40
_BACK_NS = 1_000_000_000
"""So far a clock that is set right may go back."""


class RecallOutcome(IntEnum):
    """How a recall turned out."""

    CONFIRMED = 0
    NOT_MEANT = 1
    GONE = 2


class Standing(NamedTuple):
    """A unit, the segment of the replacement policy that it is in, and how often its type was used lately."""

    unit: Unit
    segment: str
    frequency: int


class News(NamedTuple):
    """What became of a unit, and why: None happened where it had to leave for another one."""

    happened: UnitEvent | None
    reason: str
    standing: Standing


class DetectionIntake(NamedTuple):
    """What came of the detections of a message, and of each that is left out, why."""

    news: list[News]
    refused: list[str]


class Recalled(NamedTuple):
    """An answer, and where each of its units stands."""

    answer: RecallAnswer
    standings: list[Standing]


class MemorySight(NamedTuple):
    """What a short-term memory does with images of what it remembers.

    Attributes:
        crops: keeps one of each unit; None: no image is kept.
        reader: reads states from them; None where no model is configured.
        images: compares them with an instruction; None where no model is configured.
    """

    crops: CropStore | None = None
    reader: StateReader | None = None
    images: UnitImages | None = None


class UnitChanges(NamedTuple):
    """What changed since a revision; see `ChangesSince`."""

    revision: int
    whole: bool
    units: list[Standing]
    removed: tuple[str, ...]


class LiveUnits:
    """A short-term memory in use, with its recall and its tally, for one thread."""

    def __init__(
        self,
        memory: ShortTermMemory,
        embedder: Embedder,
        ranker: Ranker | None = None,
        sight: MemorySight | None = None,
    ) -> None:
        """Put a short-term memory into use.

        Args:
            memory: that is put into use.
            embedder: makes vectors of sentences.
            ranker: looks over what is not sure.
            sight: what it does with images of what it remembers; None: nothing.
        """
        self.sight = sight or MemorySight()
        if self.sight.crops is not None:
            self.sight.crops.follow(memory)
        self.memory, self.embedding = memory, embedder.name
        self.tally: Counter[str] = Counter()
        self._absence = UnitAbsence(memory)
        self._recall = Recall(memory, embedder, ranker=ranker, images=self.sight.images)
        self._log: ChangeLog | None = None
        self._now_ns = 0

    def take(self, taken: Taken, frame: str, now_ns: int) -> DetectionIntake:
        """Take in the detections of a message, in that frame, at that time; see `lasting_stamp` for what they count as.

        Where time has begun anew, as simulated time does, all is forgotten that was seen before: it would be newer than
        what is seen now. A stamp alone, which may be wrong, does not do that.
        """
        if now_ns < self._now_ns - _BACK_NS:
            self.memory.refresh()
        self._now_ns = now_ns
        taken = replace(taken, stamp_ns=lasting_stamp(taken.stamp_ns, now_ns))
        units, refused = [], list(taken.refused)
        images = self._crops(taken, refused)
        for each in taken.detections:
            try:
                units.append(unit_of(each, frame, taken.stamp_ns, image=images.get(each.source_id, "")))
            except UnitError as error:
                refused.append(str(error))
        intake = DetectionIntake([*self.observe(units), *self._let_go(taken, frame)], refused)
        for name in images:
            if name not in self.memory and self.sight.crops is not None:
                self.sight.crops.forget(name)
        return intake

    def _let_go(self, taken: Taken, frame: str) -> list[News]:
        """Remove the units whose places were looked at, and were seen to be empty, often enough."""
        gone = self._absence.look(taken.detections, taken.view, 1e-9 * taken.stamp_ns, frame)
        news = []
        for object_id in gone:
            before = self._standing(self.memory[object_id])
            change = self.memory.refute(object_id, stamp=1e-9 * taken.stamp_ns)
            self.tally[change.happened.value] += 1
            news.append(News(change.happened, "its place was looked at, and it was not there any more", before))
        return news

    def attend(self, task: str, object_ids: Sequence[str]) -> None:
        """Take the objects that an instruction is about for those whose states are read from images."""
        if self.sight.reader is not None:
            self.sight.reader.begin(task, object_ids)

    def next_question(self) -> StateQuestion | None:
        """Return what a model is to be asked now of an image of an object that is attended to; None for nothing."""
        if self.sight.reader is None or self.sight.crops is None:
            return None
        return self.sight.reader.next(self.memory, self.sight.crops)

    def take_reading(self, reading: StateReading) -> list[News]:
        """Take in what a model has read from an image."""
        change = None if self.sight.reader is None else self.sight.reader.take_in(self.memory, reading)
        return [] if change is None else list(self._news(change))

    def units(self) -> Iterable[Unit]:
        """Return all units."""
        return iter(self.memory)

    def unit(self, object_id: str) -> Unit | None:
        """Return the unit of that id; None where there is none."""
        return self.memory.get(object_id)

    def put(self, units: Iterable[Unit], used: bool = False, whole: bool = False) -> Callable[[], object]:
        """Take in units at once, so that what is returned has nothing to wait for; see `ShortTermMemory.observe`."""
        self._take_in(units, used, whole)
        return lambda: None

    def observe(self, units: Iterable[Unit], used: bool = False, whole: bool = False) -> list[News]:
        """Take in units, and return what became of each and of those that had to leave."""
        return [news for change in self._take_in(units, used, whole) for news in self._news(change)]

    def answer(
        self,
        text: str,
        most: int,
        filters: Filters = EVERYTHING,
        most_tokens: int | None = None,
        viewpoint: Viewpoint | None = None,
    ) -> RecallAnswer:
        """Return what an instruction is about; see `Recall.ask`."""
        try:
            answer = self._recall.ask(text, most, filters, most_tokens, viewpoint)
        except Exception:
            self.tally["failed"] += 1
            raise
        self.tally["recalls"] += 1
        return answer

    def forget(self) -> None:
        """Forget all."""
        self.memory.refresh()

    def since(self, revision: int) -> UnitChanges:
        """Return what changed since a revision, for a client that keeps a copy of the units."""
        if self._log is None:  # nobody has asked before
            self._log = ChangeLog()
            self.memory.listen(self._note)
        changes = self._log.since(revision)
        held = [unit.object_id for unit in self.memory] if changes.whole else changes.put
        units = [self._standing(self.memory[name]) for name in held]
        return UnitChanges(changes.revision, changes.whole, units, changes.removed)

    def _note(self, object_id: str, unit: Unit | None) -> None:
        assert self._log is not None
        (self._log.remove if unit is None else self._log.put)(object_id)

    def recalled(self, answer: RecallAnswer) -> Recalled:
        """Return an answer with where each of its units stands now."""
        return Recalled(answer, [self._standing(each.unit) for each in answer.found])

    def tell(self, object_id: str, outcome: int, now_ns: int) -> News:
        """Note how a recall turned out, and when, ns: older detections that wait do not bring back what is gone.

        Raises:
            UnitError: there is no such unit, or no such outcome.
        """
        if object_id not in self.memory:
            raise UnitError(
                f"there is no unit {plain(object_id)[:_TOLD]!r}: it was never seen, was evicted, or was reported gone"
            )
        if outcome not in tuple(RecallOutcome):
            told = ", ".join(f"{each.value} {each.name}" for each in RecallOutcome)
            raise UnitError(f"there is no outcome {outcome}: give one of {told}")
        before = self._standing(self.memory[object_id])
        if outcome == RecallOutcome.CONFIRMED:
            change = self.memory.confirm(object_id)
        else:
            change = self.memory.refute(object_id, outcome == RecallOutcome.GONE, 1e-9 * now_ns)
        self.tally[change.happened.value] += 1
        after = before if object_id not in self.memory else self._standing(change.unit)
        return News(change.happened, change.reason, after)

    def held(self) -> list[Standing]:
        """Return all units, of each segment the next to leave first."""
        segments = self.memory.segments()
        return [
            Standing(self.memory[object_id], name, self.memory.frequency(object_id))
            for name, held in segments.items()
            for object_id in held
        ]

    def prepare(self) -> bool:
        """Embed some of what is new; return whether that was all. EmbeddingError where it cannot be."""
        return self._recall.prepare(_AT_ONCE)

    def _take_in(self, units: Iterable[Unit], used: bool, whole: bool) -> list[UnitChange]:
        changes = [self.memory.observe(unit, used, whole) for unit in units]
        for change in changes:
            self.tally[change.happened.value] += 1
            self.tally["evicted"] += change.evicted is not None
        return changes

    def _crops(self, taken: Taken, refused: list[str]) -> Mapping[str, str]:
        """Keep the crops that a detector gives; return the reference of each by the detector's id of its object."""
        if self.sight.crops is None:
            return {}
        references, why = put_detections(self.sight.crops, taken.detections, taken.stamp_ns / 1e9)
        refused += why
        return references

    def _standing(self, unit: Unit) -> Standing:
        """Return where a unit stands: nowhere, if it had to leave meanwhile."""
        if unit.object_id not in self.memory:
            return Standing(unit, "", 0)
        return Standing(unit, self.memory.segment(unit.object_id), self.memory.frequency(unit.object_id))

    def _news(self, change: UnitChange) -> Iterable[News]:
        yield News(change.happened, change.reason, self._standing(change.unit))
        if change.evicted is not None and change.eviction is not None:
            left = Standing(change.evicted, change.eviction.segment, change.eviction.frequency)
            yield News(None, change.eviction.reason, left)
