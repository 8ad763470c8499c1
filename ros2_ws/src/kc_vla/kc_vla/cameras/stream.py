"""A camera that stays: reads a source on a thread of its own, at its rate, and opens it again when it vanishes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from kc_vla.cameras.decimation import Decimator
from kc_vla.cameras.errors import CameraError, SourceLostError
from kc_vla.cameras.sources import CapturedFrame, FrameSource, SourceSpec, open_source

_FIRST_PAUSE_S = 0.25
_LONGEST_PAUSE_S = 5.0


class CameraStream:
    """Delivers frames from a source until it is closed or its file ends."""

    def __init__(
        self,
        spec: SourceSpec,
        on_frame: Callable[[CapturedFrame], None],
        on_lost: Callable[[str], None],
        on_back: Callable[[], None],
        on_end: Callable[[], None],
        accept: Callable[[CapturedFrame], None] = lambda frame: None,
    ) -> None:
        """Open the source and begin to read.

        All callbacks but `accept` come from the reading thread, one at a time.

        Args:
            spec: what to read.
            on_frame: takes each frame.
            on_lost: called once, with the reason, when the source vanishes.
            on_back: called when it delivers frames again.
            on_end: called at the end of a file or folder that does not loop.
            accept: sees the first frame before this returns, and refuses the source with a `CameraError`.

        Raises:
            CameraError: the source cannot be opened at the start, or is refused.
        """
        self._spec = spec
        self._on_frame, self._on_lost, self._on_back, self._on_end = on_frame, on_lost, on_back, on_end
        self._stop = threading.Event()
        self._decimator = Decimator(spec.fps)
        source = open_source(spec)
        self.fps = source.fps
        try:
            first = source.read()
            if first is not None:
                accept(first)
        except CameraError:
            source.close()
            raise
        self._thread = threading.Thread(target=self._run, args=(source, first), name="camera", daemon=True)
        self._thread.start()

    def close(self, timeout_s: float = 5.0) -> None:
        """Stop reading; give up a device that does not answer within `timeout_s`."""
        self._stop.set()
        self._thread.join(timeout_s)

    def _run(self, source: FrameSource, first: CapturedFrame | None) -> None:
        current: FrameSource | None = source
        if first is not None:
            self._on_frame(first)
        while current is not None and not self._stop.is_set():
            try:
                self._read(current)
                current.close()
                return
            except CameraError as error:
                current.close()
                self._on_lost(str(error))
                current = self._open_again()

    def _read(self, source: FrameSource) -> None:
        """Deliver frames until the end of the source or of this stream."""
        due = time.monotonic()
        while not self._stop.is_set():
            if not source.paced:
                # A reader that fell behind goes on from now: it does not hurry to catch up.
                due = max(due + 1.0 / source.fps, time.monotonic())
                if self._stop.wait(max(0.0, due - time.monotonic())):
                    return
            frame = source.read()
            if frame is None:
                self._on_end()
                return
            # A device has rates of its own, and takes the one that is next to what it is asked for.
            if not source.paced or self._decimator.takes(frame.captured_ns):
                self._on_frame(frame)

    def _open_again(self) -> FrameSource | None:
        """Try until the source opens and gives a frame, pausing longer each time; None when closed meanwhile."""
        pause_s = _FIRST_PAUSE_S
        while not self._stop.wait(pause_s):
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
            try:
                source = open_source(self._spec)
            except CameraError:
                continue
            try:
                frame = source.read()
                if frame is None:
                    raise SourceLostError("it ended at once")
            except CameraError:
                source.close()
                continue
            self._on_back()
            self._on_frame(frame)
            return source
        return None
