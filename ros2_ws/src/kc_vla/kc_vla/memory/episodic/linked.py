"""A keyframe that is linked with the objects that it shows.

The image itself is in the keyframe buffer and in the bag; the link has its name, episode and frame. Positions stay as
they were seen then, whatever becomes of the objects later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from kc_vla.core.errors import StackError
from kc_vla.memory.long_term.nodes import MOST_ATTRIBUTES
from kc_vla.memory.short_term.unit import MOST_LETTERS
from kc_vla.memory.things import ObservedThing, wrong_with

MOST_LINKED = 200
"""Keyframes of one map; the oldest one leaves for a newer one."""
MOST_SHOWN = 100
"""Objects of one keyframe."""
NOTHING_NEAR = -1.0
"""In place of the time between an image and its detections, s, where there were none."""
_MOST_NUMBER = (1 << 63) - 1


class KeyframeLinkError(StackError, ValueError):
    """A keyframe cannot be linked; the text says in one line why."""


@dataclass(frozen=True)
class LinkedKeyframe:
    """A keyframe, and what was detected in it.

    Attributes:
        episode_id: of the keyframe; with the frame it names its image.
        frame: frames since the start of the episode, 0-based.
        stamp_ns: when the image was taken, ns; of its receipt where time is simulated.
        phase: index of the keyframe in its episode, 0-based.
        label: name of the phase that it completes.
        source: name of the selector, or "injected".
        frame_id: coordinate frame of the positions.
        apart_s: time between the image and its detections, s; `NOTHING_NEAR` where nothing was detected near it.
        seen: what was detected, in `frame_id`, as it was then; the ids are those of the units and of the scene graph.
        number: of the link in its store, 1 or more; a later link has a larger one. 0: it is not stored yet.
    """

    episode_id: str
    frame: int
    stamp_ns: int
    phase: int = 0
    label: str = ""
    source: str = ""
    frame_id: str = "map"
    apart_s: float = NOTHING_NEAR
    seen: tuple[ObservedThing, ...] = ()
    number: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        for text in (self.episode_id, self.label, self.source, self.frame_id):
            if type(text) is not str or len(text) > MOST_LETTERS or not text.isprintable():
                raise KeyframeLinkError(
                    f"a keyframe with a name of over {MOST_LETTERS} letters or with control characters"
                )
        if not self.episode_id:
            raise KeyframeLinkError("a keyframe without an episode: give its episode_id")
        for number in (self.frame, self.phase, self.stamp_ns, self.number):
            if type(number) is not int or not 0 <= number <= _MOST_NUMBER:
                raise KeyframeLinkError(f"{number!r:.40} is no frame, phase, stamp or number of a keyframe")
        if not (self.apart_s == NOTHING_NEAR or 0 <= self.apart_s < 1e6):
            raise KeyframeLinkError(f"{self.apart_s!r:.40} s between a keyframe and its detections")
        if len(self.seen) > MOST_SHOWN:
            raise KeyframeLinkError(f"{len(self.seen)} objects in a keyframe: {MOST_SHOWN} are the most")
        if len({each.object_id for each in self.seen}) < len(self.seen):
            raise KeyframeLinkError("a keyframe shows an object twice")
        if any(wrong_with(each) or len(each.attributes) > MOST_ATTRIBUTES for each in self.seen):
            raise KeyframeLinkError("a keyframe shows an object that cannot be")

    @property
    def name(self) -> str:
        """Return the name of its image: "EPISODE/FRAME"."""
        return f"{self.episode_id}/{self.frame}"

    def of(self, object_id: str) -> ObservedThing | None:
        """Return an object as it was then; None where the keyframe does not show it."""
        return next((each for each in self.seen if each.object_id == object_id), None)

    def __str__(self) -> str:
        """Return it in words: "keyframe 597 'flash 1 on'"."""
        return f"keyframe {self.frame}{f' {self.label!r}' if self.label else ''}"


class LinkedKeyframes(NamedTuple):
    """The linked keyframes of a map.

    Attributes:
        keyframes: in the order of their stamps.
        left: how many have left for newer ones.
    """

    keyframes: tuple[LinkedKeyframe, ...] = ()
    left: int = 0

    def showing(self, object_id: str) -> list[LinkedKeyframe]:
        """Return the keyframes that show an object, the oldest first."""
        return [each for each in self.keyframes if each.of(object_id) is not None]

    def improved_by(self, keyframe: LinkedKeyframe) -> bool:
        """Return whether a keyframe is new, or its detections are no further from its image than those linked."""
        known = next((each for each in self.keyframes if each.name == keyframe.name), None)
        if known is None or known.apart_s == NOTHING_NEAR:
            return True
        return NOTHING_NEAR < keyframe.apart_s <= known.apart_s

    def episode(self) -> tuple[LinkedKeyframe, ...]:
        """Return the keyframes of the newest episode, the oldest first."""
        if not self.keyframes:
            return ()
        newest = self.keyframes[-1].episode_id
        return tuple(each for each in self.keyframes if each.episode_id == newest)


def in_order(keyframes: Sequence[LinkedKeyframe], left: int = 0) -> LinkedKeyframes:
    """Return keyframes as a history, whatever order they come in."""
    return LinkedKeyframes(tuple(sorted(keyframes, key=lambda each: (each.stamp_ns, each.frame, each.number))), left)


def link_fields(keyframe: LinkedKeyframe) -> dict[str, Any]:
    """Return what a store keeps of a keyframe beside its episode, frame and number, ready for JSON."""
    names = ("stamp_ns", "phase", "label", "source", "frame_id", "apart_s")
    return {name: getattr(keyframe, name) for name in names} | {"seen": [_thing_fields(each) for each in keyframe.seen]}


def link_from(episode_id: str, frame: int, number: int, kept: Mapping[str, Any]) -> LinkedKeyframe:
    """Return a keyframe from what a store kept of it.

    Raises:
        KeyframeLinkError: it cannot be one.
        TypeError: likewise.
    """
    values = dict(kept)
    seen = tuple(_thing_from(each) for each in values.pop("seen"))
    return LinkedKeyframe(episode_id, frame, number=number, seen=seen, **values)


def _thing_fields(thing: ObservedThing) -> dict[str, Any]:
    values = {each.name: getattr(thing, each.name) for each in fields(ObservedThing)}
    numbers = {name: [float(each) for each in values[name]] for name in ("position", "size")}
    return values | numbers | {"attributes": dict(thing.attributes), "confidence": float(thing.confidence)}


def _thing_from(kept: Mapping[str, Any]) -> ObservedThing:
    values = {each.name: kept[each.name] for each in fields(ObservedThing)}
    x, y, z = values["position"]
    length, width, height = values["size"]
    return ObservedThing(**values | {"position": (x, y, z), "size": (length, width, height)})
