"""A bag as the annotation page shows it: frames of both views, opened by its index, nothing decoded beforehand."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from kc_vla.bags.errors import BagReadError
from kc_vla.bags.images import decode_image
from kc_vla.bags.lock import require_finished
from kc_vla.bags.messages import MessageRef
from kc_vla.bags.reader import BagReader
from kc_vla.core.alignment import nearest_within
from kc_vla.core.tasks import TASKS
from kc_vla.core.views import VIEWS
from kc_vla.episodes.annotation_errors import AnnotationError
from kc_vla.episodes.episode import header_stamp_ns, is_topic, nanoseconds

_IMAGE = {view: (f"{view}/image_raw", f"{view}/image_raw/compressed") for view in VIEWS}
_RUNNING = 1
_JPEG = b"\xff\xd8\xff"
_JPEG_QUALITY = 85
_CACHE_BYTES = 32 * 1024 * 1024
"""Of decompressed chunks, for each open bag: those around the present frame."""
_DEFAULT_PERIOD_S = 0.05
_NEAR = 4
_SAMPLES = 33


@dataclass(frozen=True)
class Announced:
    """What the bag says of its episode; empty and zero where it says nothing.

    Attributes:
        task: name in the task table.
        instruction: what the policy was told.
        start_ns, end_ns: stamps of the first and the last moment, ns; 0 where they are not told.
        period_s: time between two frames.
    """

    task: str = ""
    instruction: str = ""
    start_ns: int = 0
    end_ns: int = 0
    period_s: float = _DEFAULT_PERIOD_S


class AnnotatedEpisode:
    """One bag, open. All methods may be called from several threads.

    Attributes:
        bag: where it is.
        announced: what it says of itself.
        labels: of the task's keyframes, in order; empty for a task that is not in the table.
        length: number of third-person frames.
        times_s: (length,) when each was seen, s since the first.
        views: names of those that there are pictures of.
    """

    def __init__(self, bag: Path) -> None:
        """Open `bag`.

        Raises:
            BagError: it cannot be read, is being recorded, or has no pictures of the third-person camera.
        """
        require_finished(bag)
        self.bag = bag
        self._lock = threading.Lock()
        self._reader = BagReader(bag, _CACHE_BYTES)
        self._index = self._reader.index()
        self._stamps: dict[MessageRef, int] = {}
        self._frames = self._refs(*_IMAGE["third_person"])
        if not self._frames:
            held = ", ".join(sorted(self._index)) or "nothing"
            raise BagReadError(f"{bag} has no pictures on third_person/image_raw: it holds {held}")
        self.announced = self._announced()
        self._keep_the_episode()
        task = TASKS.get(self.announced.task)
        self.labels: tuple[str, ...] = task.keyframes if task else ()
        self.length = len(self._frames)
        logged = np.array([ref.log_time_ns for ref in self._frames], np.int64)
        self._known_times = self._sampled_times(logged)
        self.times_s = self._since_first_frame(logged)
        self._wrist = _paired(logged, self._refs(*_IMAGE["wrist"]), round(self.announced.period_s * 1e9))
        self.views = VIEWS if any(ref is not None for ref in self._wrist) else VIEWS[:1]

    @property
    def damages(self) -> Sequence[str]:
        """A line for each torn file."""
        return self._reader.damages

    def jpeg(self, view: str, frame: int) -> bytes:
        """A picture as JPEG; an empty one where the wrist camera had none.

        Raises:
            AnnotationError: there is no such view or frame.
            BagError: it cannot be read.
        """
        ref = self._picture(view, frame)
        if ref is None:
            return b""
        with self._lock:
            message = self._reader.decode(self._reader.load(ref))
        if hasattr(message, "format") and bytes(message.data[:3]) == _JPEG:
            return bytes(message.data)
        pixels = decode_image(message, ref.topic)
        done, data = cv2.imencode(".jpg", pixels[:, :, ::-1], [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
        if not done:
            raise BagReadError(f"{self.bag}, frame {frame}: the picture cannot be encoded")
        return data.tobytes()

    def pixels(self, frame: int, view: str = "third_person") -> NDArray[np.uint8]:
        """A picture, (H, W, 3) RGB; errors as `jpeg`, and AnnotationError where the wrist camera had none."""
        ref = self._picture(view, frame)
        if ref is None:
            raise AnnotationError(f"{self.bag}, frame {frame}: the {view} camera has no picture")
        with self._lock:
            message = self._reader.decode(self._reader.load(ref))
        return decode_image(message, ref.topic)

    def stamp_ns(self, frame: int) -> int:
        """Header stamp of a third-person picture, ns; errors as `jpeg`."""
        ref = self._picture("third_person", frame)
        assert ref is not None
        return self._stamp(ref)

    def frame_of(self, stamp_ns: int) -> int:
        """The frame whose stamp is nearest; found by a few looks, since stamps ascend almost evenly."""
        low, high = 0, self.length - 1
        first, last = self.stamp_ns(low), self.stamp_ns(high)
        if last > first:
            guess = round((stamp_ns - first) / (last - first) * high)
            below, above = max(low, min(high, guess) - _NEAR), min(high, max(low, guess) + _NEAR)
            low = below if self.stamp_ns(below) <= stamp_ns else low
            high = above if self.stamp_ns(above) >= stamp_ns else high
        at = low + bisect_left(range(low, high + 1), stamp_ns, key=self.stamp_ns)
        near = [frame for frame in (at - 1, at) if 0 <= frame < self.length]
        return min(near, key=lambda frame: abs(self.stamp_ns(frame) - stamp_ns))

    def messages(self, *names: str) -> Iterator[Any]:
        """The decoded messages on the topics called so in any namespace; errors as `BagReader.decode`."""
        for ref in self._refs(*names):
            with self._lock:
                message = self._reader.decode(self._reader.load(ref))
            yield message

    def recorded_at(self, *names: str) -> NDArray[np.float64]:
        """When these messages were recorded, in the episode's time, s since the first frame."""
        return self._since_first_frame(np.array([ref.log_time_ns for ref in self._refs(*names)], np.int64))

    def _sampled_times(self, logged: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Some frames' times of recording and of their stamps, s since the first frame's.

        An episode that was simulated slowly took longer to record than it lasted. A few stamps tell, and no bag of
        gigabytes has to be read for them.
        """
        frames = np.unique(np.linspace(0, self.length - 1, _SAMPLES).round().astype(int))
        recorded = (logged[frames] - logged[0]) * 1e-9
        seen = np.array([self.stamp_ns(int(frame)) for frame in frames], np.int64)
        seen_s = (seen - seen[0]) * 1e-9
        return (recorded, seen_s) if (np.diff(seen_s) > 0.0).all() else (recorded, recorded)

    def _since_first_frame(self, logged: NDArray[np.int64]) -> NDArray[np.float64]:
        """Time of the episode, s, at which something was recorded."""
        recorded, seen = self._known_times
        at = (logged - self._frames[0].log_time_ns) * 1e-9
        inside = np.interp(at, recorded, seen)
        beyond = at - np.clip(at, recorded[0], recorded[-1])
        return np.asarray(inside + beyond, np.float64)

    def _refs(self, *names: str) -> list[MessageRef]:
        """Where the messages are; of several names that there are messages of, the first."""
        for name in names:
            for topic, refs in self._index.items():
                if refs and is_topic(topic, name):
                    return refs
        return []

    def _picture(self, view: str, frame: int) -> MessageRef | None:
        if view not in VIEWS:
            raise AnnotationError(f"no view '{view}': there are {', '.join(VIEWS)}")
        if not 0 <= frame < self.length:
            raise AnnotationError(f"no frame {frame}: the episode has {self.length}, from 0 on")
        return self._frames[frame] if view == "third_person" else self._wrist[frame]

    def _stamp(self, ref: MessageRef) -> int:
        if ref not in self._stamps:
            with self._lock:
                self._stamps[ref] = header_stamp_ns(self._reader.load(ref))
        return self._stamps[ref]

    def _announced(self) -> Announced:
        running = [message for message in self.messages("episode/status") if message.state == _RUNNING]
        if own := self._reader.episode:
            running = [message for message in running if message.episode_id == own.episode_id]
        if not running:
            return Announced()
        status = running[-1]
        ends = [
            nanoseconds(message.header.stamp)
            for message in self.messages("episode/result")
            if message.episode_id == status.episode_id
        ]
        period = status.frame_period if status.frame_period > 0.0 else _DEFAULT_PERIOD_S
        return Announced(
            status.task, status.instruction, nanoseconds(status.start_time), ends[-1] if ends else 0, float(period)
        )

    def _keep_the_episode(self) -> None:
        """Leave out pictures from before it began and after its end."""
        start, end = self.announced.start_ns, self.announced.end_ns
        low = bisect_left(self._frames, start, key=self._stamp) if start else 0
        high = bisect_left(self._frames, end + 1, key=self._stamp) if end else len(self._frames)
        if low < high:
            self._frames = self._frames[low:high]


def _paired(times: NDArray[np.int64], refs: Sequence[MessageRef], within_ns: int) -> list[MessageRef | None]:
    """For each time the picture that was recorded nearest to it, None where none was within `within_ns`."""
    found = nearest_within(times, np.array([ref.log_time_ns for ref in refs], np.int64), within_ns)
    return [None if at is None else refs[at] for at in found]
