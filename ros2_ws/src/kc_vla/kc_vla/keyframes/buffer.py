"""The keyframe buffer: full observations of the keyframes of one episode, in bounded memory.

It holds a ring of recent observations, so that an event that names a frame of a moment ago finds its pictures, and
the keyframes themselves. The first frame never leaves; when the buffer is full the oldest of the others does.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace

from kc_vla.keyframes.observation import Keyframe, Observation
from kc_vla.keyframes.selector import Event
from kc_vla.keyframes.smoothing import Decision
from kc_vla.keyframes.store import KeyframeStore, StoreError

LOST_FRAMES = 2
"""How far the observation that stands in for a lost frame may be from it, frames."""


class BufferRefusal(ValueError):  # noqa: N818  # a refusal, told to the caller, not a fault
    """The buffer cannot do what was asked; the text says why and what to do."""


@dataclass(frozen=True)
class Entry:
    """One line of the buffer's index."""

    frame: int
    phase: int
    label: str
    committed: bool


class KeyframeBuffer:
    """Keyframes of one episode at a time."""

    def __init__(self, capacity: int = 16, recent: int = 64, store: KeyframeStore | None = None) -> None:
        """Args: `capacity` keyframes and `recent` observations at most; `store` keeps them over a restart."""
        if capacity < 2:
            raise ValueError(f"a capacity of {capacity} keyframes is too small: it must be 2 or more")
        if recent < 1:
            raise ValueError(f"a ring of {recent} recent observations is too small: it must be 1 or more")
        self._capacity = capacity
        self._recent_size = recent
        self._store = store
        self._recent: OrderedDict[int, Observation] = OrderedDict()
        self._history: OrderedDict[int, tuple[Entry, ...]] = OrderedDict()  # the index as it was at each recent frame
        self._keyframes: dict[int, Keyframe] = {}
        self.events = 0
        self.newest_frame = -1
        self._settled = -1
        self.storage_error = ""

    def begin(self, episode_id: str) -> None:
        """Start an episode, or go on with it if the store already holds some of it."""
        self._recent.clear()
        self._history.clear()
        self._keyframes.clear()
        self.events, self.newest_frame, self._settled, self.storage_error = 0, -1, -1, ""
        if self._store is None:
            return
        try:
            self._keyframes = {k.observation.frame: k for k in self._store.begin(episode_id)}
            self.events = self._store.events
            if self._store.damaged:
                self.storage_error = f"unreadable and left out: {', '.join(self._store.damaged)}"
        except StoreError as error:
            self.storage_error = str(error)

    def observe(self, observation: Observation) -> None:
        """Take in the observation of a new frame."""
        self._recent[observation.frame] = observation
        while len(self._recent) > self._recent_size:
            self._recent.popitem(last=False)
        self.newest_frame = max(self.newest_frame, observation.frame)

    def settle(self, frame: int) -> None:
        """Note that every decision up to `frame` is in, so that `keyframes(as_of=frame)` can be answered."""
        self._settled = max(self._settled, frame)
        self._history[frame] = self.index()
        while len(self._history) > self._recent_size:
            self._history.popitem(last=False)

    def apply(self, event: Event, source: str, sequence: int) -> None:
        """Take in one event of the selector, the `sequence`-th of the episode; an earlier one again does no harm.

        Raises:
            BufferRefusal: the event names a frame that is neither a keyframe nor recent.
        """
        self.events = max(self.events, sequence + 1)
        if self._store is not None:
            try:
                self._store.note(self.events)
            except StoreError as error:
                self.storage_error = str(error)
        if event.decision is Decision.RESET:
            self.forget()
            return
        held = self._keyframes.get(event.frame)
        observation = held.observation if held else self._nearest(event.frame)
        if observation is None:
            raise BufferRefusal(
                f"keyframe '{event.label}' names frame {event.frame}, which is not held (the ring keeps "
                f"{self._recent_size} frames): raise recent_frames, or check that the cameras are synchronised"
            )
        for entry in self.index():
            if not entry.committed and entry.phase == event.phase and entry.frame != observation.frame:
                self._remove(entry.frame)
        committed = event.decision is Decision.COMMITTED
        self._keep(Keyframe(event.label, event.phase, event.score, source, committed, observation))

    def inject(self, frame: int, label: str) -> None:
        """Keep a recent frame because a person says so.

        Raises:
            BufferRefusal: the frame is not in the ring of recent observations, or is a keyframe already.
        """
        if frame in self._keyframes:
            raise BufferRefusal(f"frame {frame} is a keyframe already: '{self._keyframes[frame].label}'")
        if frame not in self._recent:
            span = f"{min(self._recent)}..{max(self._recent)}" if self._recent else "empty"
            raise BufferRefusal(f"frame {frame} cannot be injected: the ring of recent frames is {span}")
        phase = max((k.phase for k in self._keyframes.values()), default=0)
        self._keep(Keyframe(label or "injected", phase, 1.0, "injected", True, self._recent[frame]))
        self._history.clear()

    def forget(self) -> None:
        """Forget every keyframe but the first frame."""
        for frame in sorted(self._keyframes)[1:]:
            self._remove(frame)
        self._history.clear()

    def index(self) -> tuple[Entry, ...]:
        """Return what is held, ascending by frame."""
        return tuple(Entry(frame, k.phase, k.label, k.committed) for frame, k in sorted(self._keyframes.items()))

    def keyframes(self, as_of: int | None = None, provisional: bool = True) -> list[Keyframe]:
        """Return the keyframes, ascending by frame, as they are now or as they were known at frame `as_of`.

        A keyframe that has left since (superseded) is given from the ring of recent observations.
        """
        entries = self.index() if as_of is None else self._history.get(as_of, self.index())
        found = []
        for entry in entries:
            held = self._keyframes.get(entry.frame)
            if held is None and entry.frame in self._recent:
                held = Keyframe(entry.label, entry.phase, 0.0, "", False, self._recent[entry.frame])
            if held is not None and (provisional or entry.committed):
                found.append(replace(held, committed=entry.committed))
        return found

    @property
    def settled_frame(self) -> int:
        """Newest frame up to which every decision is in; -1 before the first."""
        return self._settled

    def knows(self, frame: int) -> bool:
        """True if every decision up to `frame` is in."""
        return self._settled >= frame

    def _nearest(self, frame: int) -> Observation | None:
        """Return the recent observation nearest to a frame that a camera may have lost."""
        near = [f for f in self._recent if abs(f - frame) <= LOST_FRAMES]
        return self._recent[min(near, key=lambda f: abs(f - frame))] if near else None

    def _keep(self, keyframe: Keyframe) -> None:
        self._keyframes[keyframe.observation.frame] = keyframe
        if self._store is not None:
            try:
                self._store.put(keyframe)
            except StoreError as error:
                self.storage_error = str(error)
        while len(self._keyframes) > self._capacity:
            self._remove(sorted(self._keyframes)[1])

    def _remove(self, frame: int) -> None:
        self._keyframes.pop(frame, None)
        if self._store is not None:
            self._store.remove(frame)
