"""What a V4L2 device says that it can do, by the questions of linux/videodev2.h; nothing is set, no image taken."""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

QUERYCAP, ENUM_FMT, ENUM_FRAMESIZES, ENUM_FRAMEINTERVALS = 0x80685600, 0xC0405602, 0xC02C564A, 0xC034564B
"""Numbers of the questions: direction, size of the answer, 'V' and number, as ioctl(2) wants them."""
CAPABILITY, FORMAT, FRAME_SIZE, FRAME_INTERVAL = "=16s32s32sIII12x", "=III32sII12x", "=III24s8x", "=IIIII24s8x"
"""Layouts of the structures v4l2_capability, v4l2_fmtdesc, v4l2_frmsizeenum and v4l2_frmivalenum."""
_CAPTURE, _CAPTURE_PLANES, _OWN_CAPABILITIES = 0x1, 0x1000, 0x80000000
_CAPTURE_BUFFER, _PLANES_BUFFER = 1, 9
_DISCRETE = 1
_MOST_FORMATS, _MOST_SIZES, _MOST_RATES = 32, 64, 32
"""A driver that never says that there are no more is not asked for ever."""
Ioctl = Callable[[int, int, bytearray], int]


@dataclass(frozen=True)
class FrameSize:
    """A size of images in px, and the most of them a second; 0.0 where the driver does not say."""

    width: int
    height: int
    fps: float


@dataclass(frozen=True)
class PixelFormat:
    """How pixels are packed, e.g. "MJPG" or "YUYV", and in which sizes; `sizes` is empty where any can be asked for."""

    code: str
    sizes: tuple[FrameSize, ...]


@dataclass(frozen=True)
class Capabilities:
    """What a device is.

    Attributes:
        card: its name.
        captures: whether it gives images; many cameras have a second device, for what else they tell.
        formats: of its images.
    """

    card: str
    captures: bool
    formats: tuple[PixelFormat, ...]


def capabilities(path: Path, ioctl: Ioctl = fcntl.ioctl) -> Capabilities:
    """Ask a device; OSError where it cannot be opened or is none of V4L2."""
    device = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        answer = bytearray(struct.calcsize(CAPABILITY))
        ioctl(device, QUERYCAP, answer)
        _, card, _, _, of_all, of_this = struct.unpack(CAPABILITY, answer)
        can = of_this if of_all & _OWN_CAPABILITIES else of_all
        captures = bool(can & (_CAPTURE | _CAPTURE_PLANES))
        buffer = _CAPTURE_BUFFER if can & _CAPTURE else _PLANES_BUFFER
        return Capabilities(_text(card), captures, tuple(_formats(device, ioctl, buffer)) if captures else ())
    finally:
        os.close(device)


def _formats(device: int, ioctl: Ioctl, buffer: int) -> Iterator[PixelFormat]:
    for index in range(_MOST_FORMATS):
        answer = _asked(device, ioctl, ENUM_FMT, struct.pack(FORMAT, index, buffer, 0, b"", 0, 0))
        if answer is None:
            return
        code = struct.unpack(FORMAT, answer)[4]
        yield PixelFormat(_text(struct.pack("<I", code & 0x7FFFFFFF)), tuple(_sizes(device, ioctl, code)))


def _sizes(device: int, ioctl: Ioctl, code: int) -> Iterator[FrameSize]:
    for index in range(_MOST_SIZES):
        answer = _asked(device, ioctl, ENUM_FRAMESIZES, struct.pack(FRAME_SIZE, index, code, 0, b""))
        if answer is None:
            return
        _, _, kind, size = struct.unpack(FRAME_SIZE, answer)
        if kind != _DISCRETE:
            return
        width, height = struct.unpack_from("=II", size)
        yield FrameSize(width, height, max(_rates(device, ioctl, code, width, height), default=0.0))


def _rates(device: int, ioctl: Ioctl, code: int, width: int, height: int) -> Iterator[float]:
    for index in range(_MOST_RATES):
        question = struct.pack(FRAME_INTERVAL, index, code, width, height, 0, b"")
        answer = _asked(device, ioctl, ENUM_FRAMEINTERVALS, question)
        if answer is None:
            return
        *_, kind, interval = struct.unpack(FRAME_INTERVAL, answer)
        seconds, parts = struct.unpack_from("=II", interval)  # of a range: the shortest
        if seconds:
            yield parts / seconds
        if kind != _DISCRETE:
            return


def _asked(device: int, ioctl: Ioctl, question: int, about: bytes) -> bytearray | None:
    answer = bytearray(about)
    try:
        ioctl(device, question, answer)
    except OSError:  # EINVAL after the last one, ENOTTY where the driver does not know the question
        return None
    return answer


def _text(data: bytes) -> str:
    text = data.split(b"\0")[0].decode("utf-8", "replace").strip()
    return "".join(letter if letter.isprintable() else "?" for letter in text)
