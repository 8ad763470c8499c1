"""An MP4 file that every browser plays, H.264, written image by image."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from types import TracebackType

import av
import cv2
import numpy as np
from av.video.reformatter import ColorRange

from kc_vla.core.files import resolved
from kc_vla.media.canvas import Picture

FOR_PEOPLE = {"crf": "20", "preset": "veryfast", "g": "40"}
"""Small files that look well."""
_BT601 = 6  # H.264's number of this colour matrix; without it players guess another for a picture of this size


class Mp4Writer:
    """Writes images one after another; the file is there when all of them are, and not if something went wrong.

    A context manager. Image n is shown at n periods after the start.
    """

    def __init__(
        self, path: Path, width: int, height: int, period_s: float, options: Mapping[str, str] = FOR_PEOPLE
    ) -> None:
        """Begin to write.

        Args:
            path: of the file, .mp4.
            width: of every image, px, even.
            height: the same.
            period_s: from image to image.
            options: of the encoder x264.

        Raises:
            OSError: the file cannot be written.
        """
        self._path = resolved(path)
        self._partial = self._path.with_name(f".{self._path.name}.part")
        self._partial.unlink(missing_ok=True)  # it may be a link to another file
        self._period = Fraction(period_s).limit_denominator(10_000)
        self._container = av.open(str(self._partial), "w", format="mp4", options={"movflags": "+faststart"})
        self._stream = self._container.add_stream("libx264", rate=1 / self._period)
        self._stream.width, self._stream.height, self._stream.pix_fmt = width, height, "yuv420p"
        self._stream.codec_context.time_base = self._period
        self._stream.options = dict(options)
        self._stream.codec_context.colorspace = _BT601
        self._stream.codec_context.color_range = ColorRange.MPEG

    def add(self, picture: Picture, number: int) -> None:
        """Write `picture`, (height, width, 3) RGB, to be shown at `number`, above that of the last, periods."""
        # OpenCV's conversion (BT.601, video range) takes a tenth of the time of PyAV's, which is half of all the work.
        planes = np.asarray(cv2.cvtColor(picture, cv2.COLOR_RGB2YUV_I420), np.uint8)
        frame = av.VideoFrame.from_ndarray(planes, format="yuv420p")
        frame.pts = number
        frame.time_base = self._period
        self._container.mux(self._stream.encode(frame))

    def add_still(self, picture: Picture, number: int, seconds: float) -> None:
        """Write `picture` to be shown from `number` on, for `seconds`."""
        for extra in range(round(seconds / float(self._period))):
            self.add(picture, number + extra)

    def __enter__(self) -> Mp4Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._container.mux(self._stream.encode(None))
            self._container.close()
            if kind is None:
                self._partial.replace(self._path)
        finally:
            self._partial.unlink(missing_ok=True)
