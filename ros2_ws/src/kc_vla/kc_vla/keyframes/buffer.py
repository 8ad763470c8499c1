"""The keyframe buffer: full observations of the keyframes of one episode, in bounded memory.

It holds a ring of recent observations, so that an event that names a frame of a moment ago finds its images, and
the keyframes themselves. The first frame never leaves; when the buffer is full the oldest of the others does that
nobody has asked to keep.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from kc_vla.keyframes.observation import Keyframe, Observation
from kc_vla.keyframes.selector import SelectorEvent
from kc_vla.keyframes.smoothing import Decision
from kc_vla.keyframes.store import KeyframeStore, KeyframeStoreError

LOST_FRAMES = 2
"""How far the observation that stands in for a lost frame may be from it, frames."""


class BufferRefusal(ValueError):  # noqa: N818  # a refusal, told to the caller, not a fault
    """The buffer cannot do what was asked; the text says why and what to do."""


@dataclass(frozen=True)
class BufferEntry:
    """One line of the buffer's index."""

    frame: int
    phase: int
    label: str
    score: float
    committed: bool


class KeyframeBuffer:
    """Keyframes of one episode at a time."""

    def __init__(self, capacity: int = 16, recent: int = 64, store: KeyframeStore | None = None) -> None:
        """Begin without keyframes, or with those that are stored.

        Args:
            capacity: keyframes at most.
            recent: observations at most.
            store: keeps the keyframes over a restart; None: nothing does.
        """
        if capacity < 2:
            raise ValueError(f"a capacity of {capacity} keyframes is too small: it must be 2 or more")
        if recent < 1:
            raise ValueError(f"a ring of {recent} recent observations is too small: it must be 1 or more")
        self._capacity = capacity
        self._recent_size = recent
        self._store = store
        self._recent: OrderedDict[int, Observation] = OrderedDict()
        self._history: OrderedDict[int, list[Keyframe]] = OrderedDict()  # what was known from each decision on
        self._keyframes: dict[int, Keyframe] = {}
        self._kept: set[int] = set()
        self.events = 0
        self.newest_frame = -1
        self._settled = -1
        self.storage_error = ""
        self._restart_history()

    def begin(self, episode_id: str) -> None:
        """Start an episode, or go on with it if the store already holds some of it."""
        self._recent.clear()
        self._keyframes.clear()
        self._kept.clear()
        self.events, self.newest_frame, self._settled, self.storage_error = 0, -1, -1, ""
        if self._store is not None:
            try:
                self._keyframes = {k.observation.frame: k for k in self._store.begin(episode_id)}
                self.events = self._store.events
                if self._store.damaged:
                    self.storage_error = f"unreadable and left out: {', '.join(self._store.damaged)}"
            except KeyframeStoreError as error:
                self.storage_error = str(error)
        self._evict()
        self._restart_history()

    def observe(self, observation: Observation) -> None:
        """Take in the observation of a new frame."""
        self._recent[observation.frame] = observation
        while len(self._recent) > self._recent_size:
            self._recent.popitem(last=False)
        self.newest_frame = max(self.newest_frame, observation.frame)

    def settle(self, frame: int) -> None:
        """Note that every decision up to `frame` is in, so that `keyframes(as_of=frame)` can be answered."""
        self._settled = max(self._settled, frame)

    def apply(self, event: SelectorEvent, source: str, sequence: int) -> None:
        """Take in one event of the selector, the `sequence`-th of the episode; an earlier one again does no harm.

        Raises:
            BufferRefusal: the event names a frame that is neither a keyframe nor recent.
        """
        try:
            self._take(event, source, seen=sequence < self.events)
        finally:
            self.events = max(self.events, sequence + 1)
            # after the keyframe itself: an event that was noted is never needed again
            self._persist(lambda store: store.note(self.events))

    def _take(self, event: SelectorEvent, source: str, seen: bool) -> None:
        if event.decision is Decision.RESET:
            if not seen:
                self.forget()
            return
        committed = event.decision is Decision.COMMITTED
        if seen and not committed and self._is_over(event):
            return
        observation = self._observation_for(event, exact=seen)
        if observation is None:
            raise BufferRefusal(
                f"keyframe '{event.label}' names frame {event.frame}, which is not held: {self._why_not_held(event)}"
            )
        held = self._keyframes.get(observation.frame)
        # what is committed never becomes a candidate again, and what a person keeps is not undone by a repeated event
        if held is None or not held.committed or (committed and not seen):
            keyframe = Keyframe(event.label, event.phase, event.score, source, committed, observation)
            if held is not None and held.is_but_for_score(keyframe) and not self.storage_error:
                self._keyframes[observation.frame] = keyframe  # as while a score stays high: no disk for that alone
            else:
                self._keep(keyframe)
        for entry in self.index():
            if not entry.committed and entry.phase == event.phase and entry.frame != observation.frame:
                self._remove(entry.frame)
        self._evict()
        self._remember(event.decided_at)

    def _why_not_held(self, event: SelectorEvent) -> str:
        oldest = next(iter(self._recent), None)
        if oldest is not None and event.frame < oldest and len(self._recent) == self._recent_size:
            return f"the ring keeps {self._recent_size} frames, from {oldest} on: raise recent_frames"
        return "a camera or the arm gave nothing for it, or not in time: are all cameras and the arm publishing?"

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
        if len(self._keyframes) >= self._capacity and frame < self._next_to_leave():
            raise BufferRefusal(
                f"frame {frame} cannot be injected: the buffer is full ({self._capacity} keyframes) and it would be "
                "the oldest, the next to leave: raise capacity"
            )
        # the phase of a candidate is still open: a restarted selector would take it for done
        phase = max((k.phase for k in self._keyframes.values() if k.committed), default=0)
        self._keep(Keyframe(label or "injected", phase, 1.0, "injected", True, self._recent[frame]))
        self._evict()
        self._restart_history()

    def keep(self, frame: int) -> None:
        """Keep a keyframe for a skill that depends on it: others leave before it does, until the episode ends.

        Raises:
            BufferRefusal: the buffer does not hold it, or may keep no further one.
        """
        if frame not in self._keyframes or not self._keyframes[frame].committed:
            held = ", ".join(str(each) for each, one in sorted(self._keyframes.items()) if one.committed) or "none"
            raise BufferRefusal(f"frame {frame} cannot be kept: the buffer holds the keyframes {held}")
        if frame not in self._kept and len(self._kept) >= self._capacity // 2:
            raise BufferRefusal(
                f"frame {frame} cannot be kept: {len(self._kept)} are, half of the {self._capacity} that the buffer "
                "holds: raise capacity"
            )
        self._kept.add(frame)

    def forget(self) -> None:
        """Forget every keyframe but the first frame."""
        for frame in sorted(self._keyframes)[1:]:
            self._remove(frame)
        self._restart_history()

    def index(self) -> tuple[BufferEntry, ...]:
        """Return what is held, ascending by frame."""
        return tuple(
            BufferEntry(frame, k.phase, k.label, k.score, k.committed) for frame, k in sorted(self._keyframes.items())
        )

    def keyframes(self, as_of: int | None = None, provisional: bool = True) -> list[Keyframe]:
        """Return the keyframes, ascending by frame, as they are now or as they were known at frame `as_of`.

        What a person does (`inject`, `forget`) counts for every frame. The last decisions are remembered, as many as
        the ring has frames; for a frame from before them the oldest state that is remembered is given.
        """
        if as_of is None:
            known = self._now()
        else:
            at = max((frame for frame in self._history if frame <= as_of), default=min(self._history))
            known = self._history[at]
        return [k for k in known if provisional or k.committed]

    @property
    def settled_frame(self) -> int:
        """Return the newest frame up to which every decision is in; -1 before the first."""
        return self._settled

    def knows(self, frame: int) -> bool:
        """Return whether the selector has decided on every frame up to `frame`."""
        return self._settled >= frame

    def _is_over(self, candidate: SelectorEvent) -> bool:
        """Return whether a later candidate of its phase, or a keyframe of its phase or a later one, is held."""
        return any(
            k.phase >= candidate.phase and (k.committed or frame >= candidate.frame)
            for frame, k in self._keyframes.items()
        )

    def _observation_for(self, event: SelectorEvent, exact: bool) -> Observation | None:
        """Return the observation of the frame of an event, or, unless `exact`, the nearest one of a lost frame.

        Of the start, the first that came whole: where a camera or the arm was late, nothing has moved by then, since
        the arm holds until the start is known.
        """
        pool = {**self._recent, **{frame: k.observation for frame, k in self._keyframes.items()}}
        if event.frame in pool or exact:
            return pool.get(event.frame)
        if event.phase == 0 and not self._keyframes and 0 < len(self._recent) < self._recent_size:
            return next(iter(self._recent.values()))
        taken = {frame for frame, k in self._keyframes.items() if k.phase != event.phase}
        near = [frame for frame in pool if abs(frame - event.frame) <= LOST_FRAMES and frame not in taken]
        return pool[min(near, key=lambda frame: abs(frame - event.frame))] if near else None

    def _now(self) -> list[Keyframe]:
        return [keyframe for _, keyframe in sorted(self._keyframes.items())]

    def _remember(self, frame: int) -> None:
        """Note what is known from `frame` on; a decision that comes late counts from the newest one on."""
        self._history[max(frame, next(reversed(self._history)))] = self._now()
        while len(self._history) > self._recent_size:
            self._history.popitem(last=False)

    def _restart_history(self) -> None:
        self._history.clear()
        self._history[self._settled] = self._now()

    def _keep(self, keyframe: Keyframe) -> None:
        self._keyframes[keyframe.observation.frame] = keyframe
        self._persist(lambda store: store.put(keyframe))

    def _evict(self) -> None:
        while len(self._keyframes) > self._capacity:
            self._remove(self._next_to_leave())

    def _next_to_leave(self) -> int:
        return next(frame for frame in sorted(self._keyframes)[1:] if frame not in self._kept)

    def _remove(self, frame: int) -> None:
        self._keyframes.pop(frame, None)
        self._kept.discard(frame)
        self._persist(lambda store: store.remove(frame))

    def _persist(self, write: Callable[[KeyframeStore], None]) -> None:
        """Write to the store, if there is one; what cannot be written stays in memory."""
        if self._store is None:
            return
        try:
            write(self._store)
        except KeyframeStoreError as error:
            self.storage_error = str(error)
