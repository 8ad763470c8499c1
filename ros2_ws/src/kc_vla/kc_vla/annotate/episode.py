"""A bag as the annotation page shows it: frames of all views, opened by its index, nothing decoded beforehand."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from kc_vla.bags.errors import BagReadError
from kc_vla.bags.images import decode_image
from kc_vla.bags.lock import require_finished
from kc_vla.bags.messages import MessageRef
from kc_vla.core.stamps import nanoseconds
from kc_vla.core.tasks import TASKS
from kc_vla.core.topics import image_topic
from kc_vla.episodes.annotation_log import AnnotationError
from kc_vla.episodes.episode_data import RecordedStatus
from kc_vla.episodes.recording import RUNNING, Recording, announced, beside, require_one, within

_JPEG = b"\xff\xd8\xff"
_JPEG_QUALITY = 85
_DEFAULT_PERIOD_S = 0.05
_NEAR = 4
_SAMPLES = 33


class AnnotatedEpisode:
    """One bag, open. All methods may be called from several threads.

    Attributes:
        bag: where it is.
        status: what it says of itself; empty and zero where it says nothing.
        labels: of the task's keyframes, in order; empty for a task that is not in the table.
        length: number of frames, the images of the first view.
        times_s: (length,) when each was seen, s since the first.
        views: names of those that there are images of, the first first.
    """

    def __init__(self, bag: Path) -> None:
        """Open `bag`.

        Raises:
            BagError: it cannot be read, is being recorded, or has no images of the first view.
        """
        require_finished(bag)
        self.bag = bag
        self._recording = Recording(bag, by_index=True)
        self.damages = self._recording.damages
        first, *others = self._recording.views
        recorded = self._recording.pictures(first)
        if not recorded:
            held = ", ".join(sorted(self._recording.counts)) or "nothing"
            raise BagReadError(f"{bag} has no images on {image_topic(first)}: it holds {held}")
        self.status, end_ns = self._announced()
        self._frames = within(recorded, self._recording.stamp_ns, self.status.start_ns, end_ns) or recorded
        task = TASKS.get(self.status.task)
        self.labels: tuple[str, ...] = task.keyframes if task else ()
        self.length = len(self._frames)
        logged = np.array([ref.log_time_ns for ref in self._frames], np.int64)
        self._known_times = self._sampled_times(logged)
        self.times_s = self._since_first_frame(logged)
        period_ns = round(self.status.frame_period_s * 1e9)
        self._shown: dict[str, list[MessageRef | None]] = {first: [*self._frames]}
        for view in others:
            pictures = [(ref.log_time_ns, ref) for ref in self._recording.pictures(view)]
            self._shown[view] = beside(logged, pictures, period_ns)
        self.views = tuple(view for view, shown in self._shown.items() if any(ref is not None for ref in shown))

    def jpeg(self, view: str, frame: int) -> bytes:
        """Return an image as JPEG; an empty one where the camera had none.

        Raises:
            AnnotationError: there is no such view or frame.
            BagError: it cannot be read.
        """
        ref = self._picture(view, frame)
        if ref is None:
            return b""
        message = self._recording.message(ref)
        if hasattr(message, "format") and bytes(message.data[:3]) == _JPEG:
            return bytes(message.data)
        pixels = decode_image(message, ref.topic)
        done, data = cv2.imencode(".jpg", pixels[:, :, ::-1], [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
        if not done:
            raise BagReadError(f"{self.bag}, frame {frame}: the image cannot be encoded")
        return data.tobytes()

    def pixels(self, frame: int, view: str) -> NDArray[np.uint8]:
        """Return an image, (H, W, 3) RGB; errors as `jpeg`, and AnnotationError where the camera had none."""
        ref = self._picture(view, frame)
        if ref is None:
            raise AnnotationError(f"{self.bag}, frame {frame}: the {view} camera has no image")
        return self._recording.image(ref)

    def stamp_ns(self, frame: int) -> int:
        """Return the header stamp of a frame, ns; errors as `jpeg`."""
        self._check(frame)
        return self._recording.stamp_ns(self._frames[frame])

    def frame_of(self, stamp_ns: int) -> int:
        """Return the frame with the nearest stamp. Stamps ascend almost evenly, so the search takes a few steps."""
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

    def messages(self, name: str) -> Iterator[Any]:
        """Return the decoded messages on the topic called so in any namespace; errors as `Recording.messages`."""
        return (message for _, message in self._recording.messages(name))

    def recorded_at(self, name: str) -> NDArray[np.float64]:
        """Return when these messages were recorded, in the episode's time, s since the first frame."""
        return self._since_first_frame(np.array([ref.log_time_ns for ref in self._recording.refs(name)], np.int64))

    def last(self, name: str) -> list[MessageRef]:
        """Return the last message of a topic before each frame; it is empty for a topic without messages.

        Frames before the first message get the first.
        """
        refs = self._recording.refs(name)
        before = np.searchsorted(self.recorded_at(name), self.times_s, side="right") - 1
        return [refs[at] for at in np.maximum(before, 0)] if refs else []

    def message(self, ref: MessageRef) -> Any:
        """Return one of them, decoded; errors as `Recording.message`."""
        return self._recording.message(ref)

    def _sampled_times(self, logged: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return some frames' times of recording and of their stamps, s since the first frame's.

        An episode that was simulated slowly took longer to record than it lasted. A few stamps tell, and no bag of
        gigabytes has to be read for them.
        """
        frames = np.unique(np.linspace(0, self.length - 1, _SAMPLES).round().astype(int))
        recorded = (logged[frames] - logged[0]) * 1e-9
        seen = np.array([self.stamp_ns(int(frame)) for frame in frames], np.int64)
        seen_s = (seen - seen[0]) * 1e-9
        return (recorded, seen_s) if (np.diff(seen_s) > 0.0).all() else (recorded, recorded)

    def _since_first_frame(self, logged: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the time of the episode, s, at which something was recorded."""
        recorded, seen = self._known_times
        at = (logged - self._frames[0].log_time_ns) * 1e-9
        inside = np.interp(at, recorded, seen)
        beyond = at - np.clip(at, recorded[0], recorded[-1])
        return np.asarray(inside + beyond, np.float64)

    def _picture(self, view: str, frame: int) -> MessageRef | None:
        if view not in self._shown:
            raise AnnotationError(f"no view '{view}': there are {', '.join(self._shown)}")
        self._check(frame)
        return self._shown[view][frame]

    def _check(self, frame: int) -> None:
        if not 0 <= frame < self.length:
            raise AnnotationError(f"no frame {frame}: the episode has {self.length}, from 0 on")

    def _announced(self) -> tuple[RecordedStatus, int | None]:
        """Return what the bag says of its episode, and when it ended, ns, if it says so."""
        told = list(self.messages("episode/status"))
        # The end of the one before may be in it, which was told a moment ago.
        ids = dict.fromkeys(message.episode_id for message in told if message.state == RUNNING)
        require_one(self.bag, list(ids), "annotate")
        status = announced(told, self._recording.info)
        if status is None:
            return RecordedStatus("", "", "", "", 0, 0, _DEFAULT_PERIOD_S), None
        results = [m for m in self.messages("episode/result") if m.episode_id == status.episode_id]
        end_ns = nanoseconds(results[-1].header.stamp) if results else None
        return (status if status.frame_period_s > 0.0 else replace(status, frame_period_s=_DEFAULT_PERIOD_S)), end_ns
