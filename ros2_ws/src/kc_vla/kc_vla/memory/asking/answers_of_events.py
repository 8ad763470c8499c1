"""Answers to "which one did I show you first" and "which one was moved last", by comparing keyframes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from kc_vla.memory.asking.answer import MemoryAnswer, unknown
from kc_vla.memory.asking.meaning import Remembered, UnknownNameError
from kc_vla.memory.asking.meant import NameFinder, plain_name
from kc_vla.memory.asking.past_scene import (
    NO_KEYFRAME,
    KeyframeScene,
    Position,
    gap_notes,
    keyframe_evidence,
    lost_notes,
    was_moved,
)
from kc_vla.memory.asking.past_words import LAST, SceneEvent
from kc_vla.memory.asking.surroundings import HomeSurroundings
from kc_vla.memory.asking.telling import called, listed
from kc_vla.memory.episodic.linked import LinkedKeyframe
from kc_vla.memory.things import KnownThing

_RANKED = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", LAST: "last"}


class _Happened(NamedTuple):
    """Things to which something happened at once, in words by when, and the keyframe that shows it."""

    by: str
    keyframe: LinkedKeyframe
    things: Sequence[KnownThing]


class _Stood(NamedTuple):
    """A thing at a moment, and where that was which it was on or in."""

    thing: KnownThing
    holder: Position | None

    def has_left(self, before: _Stood) -> bool:
        """Return whether it was moved since, by more than what it is on or in was."""
        if self.holder is None or before.holder is None:
            return was_moved(before.thing, self.thing)
        x, y, z = (now - then for now, then in zip(self.holder, before.holder, strict=True))
        return was_moved(before.thing, self.thing, (x, y, z))


def answer_event(memory: Remembered, around: HomeSurroundings, name: str, event: SceneEvent, rank: int) -> MemoryAnswer:
    """Return the thing to which something happened as the first, the second ... or the last one.

    What comes into view by a keyframe was shown then; what is elsewhere than in the keyframe before was moved.

    Args:
        memory: that is asked, with its keyframes.
        around: where and when the robot is asked.
        name: of the things that are compared; empty for whatever can be carried.
        event: that happened.
        rank: 1 for the first, or `LAST`.
    """
    frames = memory.linked().episode()
    if not frames:
        return NO_KEYFRAME
    if gap := gap_notes(memory.linked(), frames):
        return unknown(f"I do not know: {gap[0]}.")
    said = plain_name(name) or "thing"
    try:
        scenes = [_Happened(f"by {each}", each, _named(memory, around, name, each)) for each in frames]
    except UnknownNameError as error:
        return unknown(str(error))
    groups = _shown(scenes) if event is SceneEvent.SHOWN else _moved(memory, scenes, rank != LAST)
    if not groups:
        return unknown(f"I do not know: no keyframe shows a {said} that was {event.value}.")
    at = len(groups) - 1 if rank == LAST else rank - 1
    counted = groups[at : at + 1] if rank == LAST else groups[: at + 1]
    several = next((each for each in counted if len(each.things) > 1), None)
    if several is not None:
        why = f"{several.by}, {listed(several.things)} were {event.value} at once"
        return unknown(f"I do not know which {said} was {event.value} {_RANKED[rank]}: {why}.")
    if at >= len(groups):
        return unknown(f"I do not know of a {_RANKED[rank]} {said} that was {event.value}: I know of {len(groups)}.")
    group = groups[at]
    finder = NameFinder(KeyframeScene(group.keyframe, memory.namer), around)
    evidence = keyframe_evidence(group.keyframe, group.things, finder)
    text = f"It is {called(group.things[0])}: it was {event.value} {_RANKED[rank]}, {group.by}."
    answer = MemoryAnswer(text, True, group.things[0].confidence, evidence)
    return replace(answer, notes=lost_notes(memory, answer))


def _named(memory: Remembered, around: HomeSurroundings, name: str, keyframe: LinkedKeyframe) -> Sequence[KnownThing]:
    """Return the things of that name that a keyframe shows; what can be carried, where there is no name."""
    finder = NameFinder(KeyframeScene(keyframe, memory.namer), around)
    return finder.named(name).things if name else [each for each in finder.things if each.movable]


def _shown(scenes: Sequence[_Happened]) -> list[_Happened]:
    """Return what comes into view, each thing once, in the order of the keyframes."""
    groups, seen = [], set[str]()
    for scene in scenes:
        new = [each for each in scene.things if each.object_id not in seen]
        seen |= {each.object_id for each in new}
        if new:
            groups.append(scene._replace(things=new))
    return groups


def _moved(memory: Remembered, scenes: Sequence[_Happened], once: bool) -> list[_Happened]:
    """Return what moves from keyframe to keyframe, and after the last one; each thing's first move if `once`."""
    now = {each.object_id: each for each in memory.things()}
    named = dict.fromkeys(each.object_id for scene in scenes for each in scene.things)
    newest = scenes[-1].keyframe
    after = _Happened(f"after {newest}", newest, [now[each] for each in named if each in now])
    holders = [{each.object_id: each.position for each in scene.keyframe.seen} for scene in scenes]
    holders.append({name: each.position for name, each in now.items()})
    groups, last, done = [], dict[str, _Stood](), set[str]()
    for scene, places in zip((*scenes, after), holders, strict=True):
        here = {each.object_id: _Stood(each, places.get(each.container)) for each in scene.things}
        moved = [
            each.thing for name, each in here.items() if name not in done and name in last and each.has_left(last[name])
        ]
        last |= here
        done |= {each.object_id for each in moved if once}
        if moved:
            groups.append(scene._replace(things=moved))
    return groups
