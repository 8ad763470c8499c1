"""Keyframes joined by time with what was detected near them, in bounded memory.

A keyframe is confirmed a second after its frame, and a detector may take as long for an image. So both wait for each
other here: detections in a ring, keyframes until later detections are in, or until nobody expects any.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from kc_vla.memory.episodic.linked import MOST_SHOWN, LinkedKeyframe
from kc_vla.memory.intake import lasting_stamp
from kc_vla.memory.things import ObservedThing

MOST_RECENT = 400
"""Messages of detections that are held: 20 s of a camera of 20 Hz."""
MOST_WAITING = 64
"""Keyframes that wait for detections; a later one takes the place of the oldest."""
_MOST_DONE = 1000


@dataclass(frozen=True)
class DetectedScene:
    """What was detected in one image, or in the images of one moment.

    Attributes:
        stamp_ns: of the image, ns; simulated, if time is.
        received_ns: when it came, ns of the wall clock.
        episode_id: in which; empty where that is not known.
        seen: in the frame of the memory.
    """

    stamp_ns: int
    received_ns: int
    episode_id: str
    seen: tuple[ObservedThing, ...]


@dataclass
class _Waiting:
    keyframe: LinkedKeyframe
    since_ns: int


class KeyframeJoin:
    """Joins the keyframes of an episode with detections."""

    def __init__(self, tolerance_s: float = 0.15, wait_s: float = 3.0) -> None:
        """Begin with nothing.

        Args:
            tolerance_s: between a keyframe's image and what is detected in it, s, at most.
            wait_s: for which a keyframe waits for later detections, s.
        """
        self._tolerance_ns, self._wait_ns = round(tolerance_s * 1e9), round(wait_s * 1e9)
        self._recent: deque[DetectedScene] = deque(maxlen=MOST_RECENT)
        self._waiting: OrderedDict[str, _Waiting] = OrderedDict()
        self._done: OrderedDict[str, None] = OrderedDict()
        self.overflowed = 0
        """Keyframes that were given up for later ones."""

    def detected(self, scene: DetectedScene) -> None:
        """Take in what was detected."""
        self._recent.append(scene)

    def knows(self, keyframe: LinkedKeyframe) -> bool:
        """Return whether a keyframe was put in already."""
        return keyframe.name in self._waiting or keyframe.name in self._done

    def committed(self, keyframe: LinkedKeyframe, now_ns: int) -> None:
        """Take in a confirmed keyframe; the same one again does no harm.

        Args:
            keyframe: with the stamp of its image, simulated if time is, and nothing seen.
            now_ns: of the wall clock.
        """
        if self.knows(keyframe):
            return
        self._waiting[keyframe.name] = _Waiting(keyframe, now_ns)
        while len(self._waiting) > MOST_WAITING:
            self._waiting.popitem(last=False)
            self.overflowed += 1

    def joined(self, now_ns: int) -> list[LinkedKeyframe]:
        """Return the keyframes whose detections are in, or are not expected any more, each once."""
        found = []
        for name, each in list(self._waiting.items()):
            last_ns = max((scene.stamp_ns for scene in self._of(each.keyframe)), default=0)
            late = now_ns - each.since_ns >= self._wait_ns
            if late or last_ns > each.keyframe.stamp_ns + self._tolerance_ns:
                del self._waiting[name]
                self._done[name] = None
                found.append(self._join(each.keyframe, now_ns))
        while len(self._done) > _MOST_DONE:
            self._done.popitem(last=False)
        return found

    def _of(self, keyframe: LinkedKeyframe) -> Iterable[DetectedScene]:
        return (each for each in self._recent if each.episode_id in ("", keyframe.episode_id))

    def _join(self, keyframe: LinkedKeyframe, now_ns: int) -> LinkedKeyframe:
        """Return a keyframe with what was detected near it, each object as it was nearest in time."""
        near = [each for each in self._of(keyframe) if abs(each.stamp_ns - keyframe.stamp_ns) <= self._tolerance_ns]
        near.sort(key=lambda each: abs(each.stamp_ns - keyframe.stamp_ns))
        if not near:
            return replace(keyframe, stamp_ns=lasting_stamp(keyframe.stamp_ns, now_ns))
        return replace(
            keyframe,
            stamp_ns=lasting_stamp(keyframe.stamp_ns, near[0].received_ns),
            apart_s=abs(near[0].stamp_ns - keyframe.stamp_ns) / 1e9,
            seen=_each_once(near),
        )


def _each_once(scenes: Sequence[DetectedScene]) -> tuple[ObservedThing, ...]:
    """Return the objects of some scenes, each as the first one has it, at most `MOST_SHOWN`."""
    found: dict[str, ObservedThing] = {}
    for scene in scenes:
        for each in scene.seen:
            if each.object_id:
                found.setdefault(each.object_id, each)
    return tuple(list(found.values())[:MOST_SHOWN])
