"""Sources of camera frames behind one interface: a V4L2 device, a video file, or a folder of images."""

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
from kc_vla.core.files import by_number
from kc_vla.media.images import ImageError, file_pixels
from kc_vla.media.video_file import display_matrix, upright

_PICTURES = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff"})
_DEFAULT_FPS = 20.0


@dataclass(frozen=True)
class SourceSpec:
    """The source to open, and its settings.

    Attributes:
        source: a device ("/dev/video0" or "0"), a video file, or a folder of images.
        fps: frames per second; 0 for the rate of the device or the video (a folder: 20).
        width, height: size of the images in px, to which others are scaled; 0 for the size of the source.
        loop: whether to begin again at the end of a file or folder.
        format: format of a device's images, four letters such as "MJPG" or "YUYV"; empty: the device chooses.
    """

    source: str
    fps: float = 0.0
    width: int = 0
    height: int = 0
    loop: bool = False
    format: str = ""

    def __post_init__(self) -> None:
        """Check the format.

        Raises:
            CameraError: it is not four letters.
        """
        if self.format and (len(self.format) != 4 or not self.format.isascii()):
            raise CameraError(f"format: four letters are wanted, such as MJPG or YUYV, not '{self.format}'")


@dataclass(frozen=True)
class CapturedFrame:
    """One image.

    Attributes:
        pixels: (height, width, 3) uint8 RGB.
        captured_ns: wall time at which the image came from the source, ns since the epoch.
    """

    pixels: npt.NDArray[np.uint8]
    captured_ns: int


class FrameSource(ABC):
    """An open source of frames.

    Attributes:
        fps: frames per second of the source.
        paced: whether `read` itself waits for the next frame (a device does, a file does not).
    """

    fps: float
    paced: bool

    @abstractmethod
    def read(self) -> CapturedFrame | None:
        """Return the next frame, or None at the end of a file that does not loop.

        Raises:
            SourceLostError: a device, file or folder has vanished.
            SourceUndecodableError: an image cannot be read.
        """

    @abstractmethod
    def close(self) -> None:
        """Release the source."""


def open_source(spec: SourceSpec) -> FrameSource:
    """Open the source that `spec` names.

    Raises:
        SourceMissingError: The source does not exist.
        SourceEmptyError: The folder has no images.
        SourceUndecodableError: The file is no video.
        SourceBusyError: Another program has the device, or this user may not open it.
    """
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_ERROR)  # its warnings come beside ours and say less
    name = f"/dev/video{spec.source}" if spec.source.isdigit() else spec.source
    path = Path(name).expanduser()
    if not name or not path.exists():
        what = f"no camera source '{name}'" if name else "no camera source is given"
        raise SourceMissingError(f"{what}: give a device (/dev/video0), a video file or a folder of images")
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
            raise SourceBusyError(f"{path} gives no images: close other programs that use it, or plug it in again")
        self.fps = self._capture.get(cv2.CAP_PROP_FPS) or spec.fps or _DEFAULT_FPS

    def read(self) -> CapturedFrame | None:
        """Grab the next frame of the device, which has no end.

        Raises:
            SourceLostError: the device sends no images any more.
        """
        grabbed = self._capture.grab()
        captured_ns = time.time_ns()
        done, pixels = self._capture.retrieve() if grabbed else (False, None)
        if not done or pixels is None:
            raise SourceLostError(f"{self._path} gives no images any more: is it unplugged?")
        return CapturedFrame(_to_rgb(pixels, self._spec), captured_ns)

    def close(self) -> None:
        """Release the device."""
        self._capture.release()


class VideoFileSource(FrameSource):
    """A video file."""

    paced = False

    def __init__(self, path: Path, spec: SourceSpec) -> None:
        self._path, self._spec = path, spec
        self._matrix = display_matrix(path)
        self._capture = cv2.VideoCapture()
        self._open()
        self._next = self._decode()
        if self._next is None:
            self._capture.release()
            raise SourceUndecodableError(f"{path} is no video that can be read: give another file")
        self.fps = spec.fps or self._capture.get(cv2.CAP_PROP_FPS) or _DEFAULT_FPS

    def read(self) -> CapturedFrame | None:
        """Decode the next frame; return None at the end of a file that is not looped.

        Raises:
            SourceLostError: a looped file cannot be read again.
        """
        pixels, self._next = self._next, None
        if pixels is None:
            pixels = self._decode()
        if pixels is None and self._spec.loop:
            self._capture.release()
            self._open()
            pixels = self._decode()
            if pixels is None:
                raise SourceLostError(f"{self._path} cannot be read again: was it moved?")
        return None if pixels is None else CapturedFrame(_to_rgb(pixels, self._spec), time.time_ns())

    def close(self) -> None:
        """Close the video file."""
        self._capture.release()

    def _open(self) -> None:
        self._capture.open(str(self._path), cv2.CAP_FFMPEG)
        self._capture.set(cv2.CAP_PROP_ORIENTATION_AUTO, 0)  # it would turn pictures, and mirror none

    def _decode(self) -> npt.NDArray[np.uint8] | None:
        done, pixels = self._capture.read()
        return upright(np.asarray(pixels, np.uint8), self._matrix) if done else None


class ImageFolderSource(FrameSource):
    """A folder of images, in the order of the numbers in their names."""

    paced = False

    def __init__(self, path: Path, spec: SourceSpec) -> None:
        self._spec = spec
        self._paths = sorted((p for p in path.iterdir() if p.suffix.lower() in _PICTURES), key=by_number)
        if not self._paths:
            raise SourceEmptyError(f"no images in {path}: give a folder with .png or .jpg files")
        self._at = 0
        self.fps = spec.fps or _DEFAULT_FPS

    def read(self) -> CapturedFrame | None:
        """Read the next image file; return None at the end of a folder that is not looped.

        Raises:
            SourceLostError: a file cannot be read.
            SourceUndecodableError: a file is no image.
        """
        if self._at == len(self._paths):
            if not self._spec.loop:
                return None
            self._at = 0
        path = self._paths[self._at]
        try:
            content = path.read_bytes()
        except OSError as error:
            raise SourceLostError(f"{path} cannot be read: {error.strerror}") from error
        try:
            pixels = file_pixels(content)
        except ImageError as error:
            raise SourceUndecodableError(f"{path} is no readable image: it {error}: remove it or replace it") from error
        self._at += 1
        return CapturedFrame(_sized(pixels, self._spec), time.time_ns())

    def close(self) -> None:
        """Do nothing, because no file stays open between two frames."""


def _to_rgb(bgr: npt.ArrayLike, spec: SourceSpec) -> npt.NDArray[np.uint8]:
    """Return an OpenCV image as RGB in the size that is asked for."""
    return _sized(np.asarray(cv2.cvtColor(np.asarray(bgr, np.uint8), cv2.COLOR_BGR2RGB), np.uint8), spec)


def _sized(rgb: npt.NDArray[np.uint8], spec: SourceSpec) -> npt.NDArray[np.uint8]:
    """Return an image in the size that is asked for."""
    height, width = rgb.shape[:2]
    wanted = (spec.width or width, spec.height or height)
    if wanted == (width, height):
        return rgb
    return np.asarray(cv2.resize(rgb, wanted, interpolation=cv2.INTER_AREA), np.uint8)
