"""One keyframe in the place of what is remembered now, and what answers from keyframes have in common."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kc_vla.memory.asking.answer import AnswerEvidence, MemoryAnswer, unknown
from kc_vla.memory.asking.meaning import Remembered
from kc_vla.memory.asking.meant import NameFinder
from kc_vla.memory.asking.telling import evidence_of
from kc_vla.memory.episodic.linked import LinkedKeyframe, LinkedKeyframes
from kc_vla.memory.references.naming import Namer
from kc_vla.memory.things import KnownThing, known_of

MOVED_M = 0.03
"""A thing that is so much further away from where it was has been moved, m."""
Position = tuple[float, float, float]
NO_KEYFRAME = unknown("I do not know: I keep no keyframe of a time before.")


@dataclass(frozen=True)
class KeyframeScene:
    """What one keyframe shows, in the place of what is remembered now.

    Attributes:
        keyframe: that is looked at.
        namer: finds out which types a question names.
        furniture: what nobody moves, whether the keyframe shows it or not; its states of then are not known.
    """

    keyframe: LinkedKeyframe
    namer: Namer
    furniture: tuple[KnownThing, ...] = ()

    @property
    def looked(self) -> dict[str, float]:
        """Return nothing: a keyframe does not say what was looked into."""
        return {}

    def things(self) -> Sequence[KnownThing]:
        """Return what it shows, and the furniture."""
        shown = {each.object_id: known_of(each, self.keyframe.stamp_ns / 1e9) for each in self.keyframe.seen}
        return list(({each.object_id: each for each in self.furniture} | shown).values())

    def linked(self) -> LinkedKeyframes:
        """Return no keyframes: it is one."""
        return LinkedKeyframes()


def scene_of_keyframe(keyframe: LinkedKeyframe, memory: Remembered) -> KeyframeScene:
    """Return a keyframe as what a question is asked of, with the furniture that the memory knows."""
    fixed = (each for each in memory.things() if not each.movable)
    return KeyframeScene(keyframe, memory.namer, tuple(replace(each, state="", attributes={}) for each in fixed))


def keyframe_evidence(
    keyframe: LinkedKeyframe, things: Sequence[KnownThing], finder: NameFinder
) -> tuple[AnswerEvidence, ...]:
    """Return what a keyframe shows of some things as what an answer rests on, with where they were in it."""
    shown = [each for each in things if keyframe.of(each.object_id) is not None]
    return tuple(
        replace(said, source="keyframe", keyframe=keyframe.name, position=each.position, frame_id=keyframe.frame_id)
        for said, each in zip(evidence_of(finder, shown), shown, strict=False)  # evidence has the first of them
    )


def gap_notes(history: LinkedKeyframes, frames: Sequence[LinkedKeyframe]) -> tuple[str, ...]:
    """Return in a line that the beginning of an episode is not there any more; nothing where it is."""
    if not history.left or not frames or frames[0].phase == 0:
        return ()
    return (f"{history.left} keyframes have left for newer ones; {frames[0]} is the oldest one that I keep",)


def lost_notes(memory: Remembered, answer: MemoryAnswer) -> tuple[str, ...]:
    """Return in a line which things of an answer are not known any more; nothing where all are."""
    now = {each.object_id for each in memory.things()}
    gone = [each.object_id for each in answer.found if each.object_id not in now]
    return (f"{', '.join(gone)}: not known any more",) if gone else ()


def is_elsewhere(before: KnownThing | AnswerEvidence, after: KnownThing | AnswerEvidence) -> bool:
    """Return whether a thing is not where it was: on or in something else, or further away than noise explains."""
    if before.container and after.container:
        return before.container != after.container
    if before.position is None or after.position is None:
        return True
    return math.dist(before.position, after.position) > MOVED_M


def was_moved(before: KnownThing, after: KnownThing, shift: Position = (0.0, 0.0, 0.0)) -> bool:
    """Return whether a thing is not where it was, also if it is on or in the same as before.

    Args:
        before: the thing as it was.
        after: the thing as it is.
        shift: of what it is on or in, m: what is in a drawer moves with it.
    """
    if is_elsewhere(before, after):
        return True
    x, y, z = (then + by for then, by in zip(before.position, shift, strict=True))
    return math.dist((x, y, z), after.position) > MOVED_M
