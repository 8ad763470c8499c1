"""Where frames come from: a V4L2 device, a video file, a folder of pictures. All look alike to the reader."""

from __future__ import annotations

import os
import stat
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from kc_vla.cameras.errors import (
    CameraError,
    SourceBusyError,
    SourceEmptyError,
    SourceLostError,
    SourceMissingError,
    SourceUndecodableError,
)

_PICTURES = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff"})
_DEFAULT_FPS = 20.0


@dataclass(frozen=True)
class SourceSpec:
    """What to open and how.

    Attributes:
        source: a device ("/dev/video0" or "0"), a video file, or a folder of pictures.
        fps: frames per second; 0 for the rate of the device or the video (a folder: 20).
        width, height: size of the pictures in px, scaled where the source has another; 0 for its own.
        loop: begin again at the end of a file or folder.
        format: in which a device is to send its pictures, four letters such as "MJPG" or "YUYV"; empty: as it likes.
    """

    source: str
    fps: float = 0.0
    width: int = 0
    height: int = 0
    loop: bool = False
    format: str = ""

    def __post_init__(self) -> None:
        """Raises CameraError: the format is none."""
        if self.format and (len(self.format) != 4 or not self.format.isascii()):
            raise CameraError(f"format: four letters are wanted, such as MJPG or YUYV, not '{self.format}'")


@dataclass(frozen=True)
class CapturedFrame:
    """One picture.

    Attributes:
        pixels: (height, width, 3) uint8 RGB.
        captured_ns: wall time at which it was taken from the source, ns since the epoch.
    """

    pixels: npt.NDArray[np.uint8]
    captured_ns: int


class FrameSource(ABC):
    """An open source.

    Attributes:
        fps: frames per second that it gives.
        paced: whether `read` itself waits for the next frame (a device does, a file does not).
    """

    fps: float
    paced: bool

    @abstractmethod
    def read(self) -> CapturedFrame | None:
        """Return the next frame, or None at the end of a file that does not loop.

        Raises:
            SourceLostError: a device, file or folder has vanished.
            SourceUndecodableError: a picture cannot be read.
        """

    @abstractmethod
    def close(self) -> None:
        """Give the source back."""


def open_source(spec: SourceSpec) -> FrameSource:
    """Open what `spec` names.

    Raises:
        SourceMissingError: it does not exist.
        SourceEmptyError: it is a folder without pictures.
        SourceUndecodableError: it is a file that is no video.
        SourceBusyError: it is a device that another program holds or that may not be opened.
    """
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_ERROR)  # its warnings come beside ours and say less
    name = f"/dev/video{spec.source}" if spec.source.isdigit() else spec.source
    path = Path(name).expanduser()
    if not name or not path.exists():
        what = f"no camera source '{name}'" if name else "no camera source is given"
        raise SourceMissingError(f"{what}: give a device (/dev/video0), a video file or a folder of pictures")
    if path.is_dir():
        return ImageFolderSource(path, spec)
    if stat.S_ISCHR(path.stat().st_mode):
        return DeviceSource(path, spec)
    return VideoFileSource(path, spec)


class DeviceSource(FrameSource):
    """A V4L2 camera."""

    paced = True

    def __init__(self, path: Path, spec: SourceSpec) -> None:
        if not os.access(path, os.R_OK | os.W_OK):
            raise SourceBusyError(f"{path} may not be opened: add this user to the group 'video'")
        self._path, self._spec = path, spec
        self._capture = cv2.VideoCapture(str(path), cv2.CAP_V4L2)
        # The format first, for sizes and rates depend on it. One buffer: the newest frame matters, not every frame.
        for key, value in (
            (cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*spec.format) if spec.format else 0),
            (cv2.CAP_PROP_FRAME_WIDTH, spec.width),
            (cv2.CAP_PROP_FRAME_HEIGHT, spec.height),
            (cv2.CAP_PROP_FPS, spec.fps),
            (cv2.CAP_PROP_BUFFERSIZE, 1),
        ):
            if value:
                self._capture.set(key, value)
        if not self._capture.isOpened() or not self._capture.grab():
            self._capture.release()
            raise SourceBusyError(f"{path} gives no pictures: close other programs that use it, or plug it in again")
        self.fps = self._capture.get(cv2.CAP_PROP_FPS) or spec.fps or _DEFAULT_FPS

    def read(self) -> CapturedFrame | None:
        """See `FrameSource`; a device has no end."""
        grabbed = self._capture.grab()
        captured_ns = time.time_ns()
        done, pixels = self._capture.retrieve() if grabbed else (False, None)
        if not done or pixels is None:
            raise SourceLostError(f"{self._path} gives no pictures any more: is it unplugged?")
        return CapturedFrame(_to_rgb(pixels, self._spec), captured_ns)

    def close(self) -> None:
        """See `FrameSource`."""
        self._capture.release()


class VideoFileSource(FrameSource):
    """A video file."""

    paced = False

    def __init__(self, path: Path, spec: SourceSpec) -> None:
        self._path, self._spec = path, spec
        self._capture = cv2.VideoCapture(str(path), cv2.CAP_FFMPEG)
        self._next = self._decode()
        if self._next is None:
            self._capture.release()
            raise SourceUndecodableError(f"{path} is no video that can be read: give another file")
        self.fps = spec.fps or self._capture.get(cv2.CAP_PROP_FPS) or _DEFAULT_FPS

    def read(self) -> CapturedFrame | None:
        """See `FrameSource`."""
        pixels, self._next = self._next, None
        if pixels is None:
            pixels = self._decode()
        if pixels is None and self._spec.loop:
            self._capture.release()
            self._capture.open(str(self._path), cv2.CAP_FFMPEG)
            pixels = self._decode()
            if pixels is None:
                raise SourceLostError(f"{self._path} cannot be read again: was it moved?")
        return None if pixels is None else CapturedFrame(_to_rgb(pixels, self._spec), time.time_ns())

    def close(self) -> None:
        """See `FrameSource`."""
        self._capture.release()

    def _decode(self) -> npt.NDArray[np.uint8] | None:
        done, pixels = self._capture.read()
        return np.asarray(pixels, np.uint8) if done else None


class ImageFolderSource(FrameSource):
    """A folder of pictures, in the order of their names."""

    paced = False

    def __init__(self, path: Path, spec: SourceSpec) -> None:
        self._spec = spec
        self._paths = sorted(p for p in path.iterdir() if p.suffix.lower() in _PICTURES)
        if not self._paths:
            raise SourceEmptyError(f"no pictures in {path}: give a folder with .png or .jpg files")
        self._at = 0
        self.fps = spec.fps or _DEFAULT_FPS

    def read(self) -> CapturedFrame | None:
        """See `FrameSource`."""
        if self._at == len(self._paths):
            if not self._spec.loop:
                return None
            self._at = 0
        path = self._paths[self._at]
        try:
            content = np.frombuffer(path.read_bytes(), np.uint8)
        except OSError as error:
            raise SourceLostError(f"{path} cannot be read: {error.strerror}") from error
        pixels = cv2.imdecode(content, cv2.IMREAD_COLOR) if content.size else None
        if pixels is None:
            raise SourceUndecodableError(f"{path} is no picture that can be read: remove it or replace it")
        self._at += 1
        return CapturedFrame(_to_rgb(pixels, self._spec), time.time_ns())

    def close(self) -> None:
        """See `FrameSource`."""


def _to_rgb(bgr: npt.ArrayLike, spec: SourceSpec) -> npt.NDArray[np.uint8]:
    """Return an OpenCV picture as RGB in the size that is asked for."""
    rgb = cv2.cvtColor(np.asarray(bgr, np.uint8), cv2.COLOR_BGR2RGB)
    height, width = rgb.shape[:2]
    wanted = (spec.width or width, spec.height or height)
    if wanted != (width, height):
        rgb = cv2.resize(rgb, wanted, interpolation=cv2.INTER_AREA)
    return np.asarray(rgb, np.uint8)
