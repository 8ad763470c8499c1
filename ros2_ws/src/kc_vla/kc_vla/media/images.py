"""Images of messages as pixels: the common encodings of sensor_msgs/Image, and JPEG and PNG of CompressedImage.

The conversions are OpenCV's own, the ones that cv_bridge calls. All that a message says of itself is checked before it
is believed.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

MOST_SIDE, MOST_PIXELS = 16384, 1 << 26
"""px: more than any camera has, and no more than a machine can hold."""
_MOST_COMPRESSED = 1 << 26
"""Bytes of a compressed image."""
_JPEG, _PNG = b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n"
_MARKER = re.compile(rb"\xff+([^\x00\xff])", re.DOTALL)
"""Pattern of a JPEG marker; a 0 behind 255 is a byte of the image."""
_END_OF_PICTURE = 0xD9
_ALONE = frozenset({0x01, *range(0xD0, 0xD9)})
"""Markers of JPEG without a length."""
_GRAY_PNG, _DEEP = (b"\x00", b"\x04"), 16
"""Color types of the header, and its bit depth."""
_8_BIT_MODES = frozenset({"1", "L", "LA", "P", "PA", "RGB", "RGBA", "RGBX", "CMYK", "YCbCr", "LAB", "HSV"})
"""Pillow's names of what has 8 bits a sample, or fewer."""
_AS_STORED = cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION
_SMALLEST_MOSAIC = 4
"""px: of a smaller one no pixel has all its neighbors."""

QUALITY = 75
"""Quality of a JPEG that is made, 1 to 100."""


class ImageError(ValueError):
    """An image that contradicts itself, is in no form that is known, or is too large; the text says which."""


@dataclass(frozen=True)
class _Form:
    """How an encoding lies in memory: `samples` bytes a pixel in a row, and OpenCV's way to RGB (None: it is that).

    `even` are the sides that must be, and `planes` the rows there are for each row of the image.
    """

    samples: int
    to_rgb: int | None
    even: str = ""
    planes: float = 1.0
    smallest: int = 1


def _mosaic(code: int) -> _Form:
    return _Form(1, code, smallest=_SMALLEST_MOSAIC)


_UYVY = _Form(2, cv2.COLOR_YUV2RGB_UYVY, "width")
_YUYV = _Form(2, cv2.COLOR_YUV2RGB_YUY2, "width")
_FORMS = {
    "rgb8": _Form(3, None),
    "bgr8": _Form(3, cv2.COLOR_BGR2RGB),
    "rgba8": _Form(4, cv2.COLOR_RGBA2RGB),
    "bgra8": _Form(4, cv2.COLOR_BGRA2RGB),
    "mono8": _Form(1, cv2.COLOR_GRAY2RGB),
    "yuv422": _UYVY,
    "uyvy": _UYVY,
    "yuv422_yuy2": _YUYV,
    "yuyv": _YUYV,
    "nv12": _Form(1, cv2.COLOR_YUV2RGB_NV12, "width height", 1.5),
    "nv21": _Form(1, cv2.COLOR_YUV2RGB_NV21, "width height", 1.5),
    # ROS names the first two pixels of the first two rows, OpenCV the second and third of the second row.
    "bayer_rggb8": _mosaic(cv2.COLOR_BayerBG2RGB),
    "bayer_bggr8": _mosaic(cv2.COLOR_BayerRG2RGB),
    "bayer_gbrg8": _mosaic(cv2.COLOR_BayerGR2RGB),
    "bayer_grbg8": _mosaic(cv2.COLOR_BayerGB2RGB),
}
ENCODINGS = tuple(_FORMS)
"""Encodings of sensor_msgs/Image that can become RGB."""
_DEPTHS: dict[str, tuple[type[np.generic], float]] = {"16UC1": (np.uint16, 1e-3), "32FC1": (np.float32, 1.0)}
DEPTHS = tuple(_DEPTHS)
"""Encodings of sensor_msgs/Image that are distances (REP 118), in mm and in m."""


def raw_pixels(message: Any) -> NDArray[np.uint8]:
    """Return the pixels of a sensor_msgs/Image, (H, W, 3) uint8 RGB.

    They are a view of an rgb8 message whose rows are whole.

    `is_bigendian` says nothing of bytes, and is not looked at.

    Raises:
        ImageError: its encoding is none of `ENCODINGS`, or its size and its bytes do not fit.
    """
    form = _FORMS.get(message.encoding)
    if form is None:
        raise ImageError(f"is in '{message.encoding}', which cannot be shown: {', '.join(ENCODINGS)} can")
    height, width = message.height, message.width
    if odd := [side for side in form.even.split() if getattr(message, side) % 2]:
        raise ImageError(f"says {width}x{height} px in '{message.encoding}': its {odd[0]} must be even")
    if min(height, width) < form.smallest:
        raise ImageError(f"says {width}x{height} px in '{message.encoding}': that has {form.smallest} px and more")
    rows = _rows(message, round(height * form.planes), width * form.samples)
    picture = rows.reshape(len(rows), width, form.samples) if form.samples > 1 else rows
    if form.to_rgb is None:
        return picture
    return np.asarray(cv2.cvtColor(np.ascontiguousarray(picture), form.to_rgb), np.uint8)


def compressed_pixels(message: Any) -> NDArray[np.uint8]:
    """Return the pixels of a sensor_msgs/CompressedImage, (H, W, 3) uint8 RGB.

    It is JPEG or PNG, whatever else its `format` says.

    Cameras fill their buffers up: what lies behind the end of the image is not looked at.

    Raises:
        ImageError: it is something else, too large, cut off or damaged, or it has 16 bits of gray, as depth has.
    """
    data = bytes(message.data)
    if not data.startswith((_JPEG, _PNG)) or "compressedDepth" in message.format:
        raise ImageError(f"has the format '{message.format[:40]}': only jpeg and png can be shown")
    file_size(data, message.format)
    return _decoded(data, message.format, _AS_STORED)


def file_pixels(data: bytes) -> NDArray[np.uint8]:
    """Return the pixels of an image file of a form that OpenCV reads, (H, W, 3) uint8 RGB, turned as its EXIF says.

    Raises:
        ImageError: it is none, is cut off or damaged, or has more than 8 bits of gray, as depth has.
    """
    if not data.startswith((_JPEG, _PNG)):
        try:
            with Image.open(io.BytesIO(data)) as head:
                mode = head.mode
        except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
            mode = "RGB"  # of a form that Pillow does not know; OpenCV may
        if mode not in _8_BIT_MODES:
            raise ImageError(f"has samples of the kind '{mode}', as depth has: only 8 bits can be shown")
    return _decoded(data, "a file", cv2.IMREAD_COLOR)


def is_depth(data: bytes) -> bool:
    """Return whether a file is a PNG with 16 bits of gray, the form of depth images (PNG specification, 11.2.2)."""
    return data.startswith(_PNG) and data[24:25] == bytes([_DEEP]) and data[25:26] in _GRAY_PNG


def _decoded(data: bytes, form: str, how: int) -> NDArray[np.uint8]:
    """Return the pixels in a file, RGB.

    JPEG and PNG count only if their end is there: decoders paint over what is missing.
    """
    if is_depth(data):
        raise ImageError("is a PNG of 16 bits of gray, as depth is: its values are no brightness, it cannot be shown")
    end = len(data)
    if data.startswith(_JPEG):
        end = _jpeg_end(data)
    elif data.startswith(_PNG):
        end = _png_end(data)
    try:
        bgr = cv2.imdecode(np.frombuffer(data[:end], np.uint8), how) if end else None
    except cv2.error:
        bgr = None
    if bgr is None:
        raise _damaged(data, form)
    return np.asarray(cv2.cvtColor(bgr, cv2.COLOR_BGR2RGB), np.uint8)


def _jpeg_end(data: bytes) -> int:
    """Return where the image in a JPEG file ends, behind its last marker; 0 where it is cut off before."""
    at = 2
    while found := _MARKER.search(data, at):
        marker, at = found[1][0], found.end()
        if marker == _END_OF_PICTURE:
            return at
        if marker not in _ALONE:  # a segment; what a scan has behind it is searched for the next marker
            if at + 2 > len(data):
                return 0
            at += int.from_bytes(data[at : at + 2], "big")
    return 0


def _png_end(data: bytes) -> int:
    """Return where the image in a PNG file ends, behind its chunk IEND; 0 where it is cut off before."""
    at = len(_PNG)
    while at + 8 <= len(data):
        length, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        at += length + 12
        if kind == b"IEND":
            return min(at, len(data))
    return 0


def check_depth(message: Any) -> None:
    """Raise `ImageError` unless a sensor_msgs/Image is a depth image with as many bytes as its size requires."""
    kind, _ = _depth_form(message)
    _rows(message, message.height, message.width * kind().itemsize)


def depth_metres(message: Any) -> NDArray[np.float32]:
    """Return the distances in a sensor_msgs/Image of depth, (H, W) float32, m.

    They are NaN where nothing was measured (REP 118).

    Raises:
        ImageError: its encoding is none of `DEPTHS`, or its size and its bytes do not fit.
    """
    kind, unit = _depth_form(message)
    rows = _rows(message, message.height, message.width * kind().itemsize)
    order = np.dtype(kind).newbyteorder(">" if message.is_bigendian else "<")
    told = np.ascontiguousarray(rows).view(order)
    metres = told.astype(np.float32) * np.float32(unit)
    return np.where(told == 0, np.float32(np.nan), metres) if kind is np.uint16 else metres


def _depth_form(message: Any) -> tuple[type[np.generic], float]:
    form = _DEPTHS.get(message.encoding)
    if form is None:
        raise ImageError(f"is in '{message.encoding}', which is no depth: {' and '.join(DEPTHS)} are")
    return form


def _rows(message: Any, count: int, used: int) -> NDArray[np.uint8]:
    """Return the first `used` bytes of each of `count` rows (count, used)."""
    height, width, step = message.height, message.width, message.step
    _check_size(width, height)
    held = memoryview(message.data).nbytes
    if step < used or held != step * count:
        raise ImageError(
            f"says {width}x{height} px in '{message.encoding}' with {step} bytes a row and carries {held} bytes"
        )
    return np.frombuffer(message.data, np.uint8).reshape(count, step)[:, :used]


def _check_size(width: int, height: int) -> None:
    if not (0 < width <= MOST_SIDE and 0 < height <= MOST_SIDE and width * height <= MOST_PIXELS):
        raise ImageError(f"says {width}x{height} px: between 1 and {MOST_PIXELS} px in all can be")


def file_size(data: bytes, form: str) -> tuple[int, int]:
    """Return the width and height, px, that the head of a JPEG or PNG file says: nothing is unpacked.

    Args:
        data: the file.
        form: what it is called in an error.

    Raises:
        ImageError: it is no such file, or too large.
    """
    if len(data) > _MOST_COMPRESSED:
        raise ImageError(f"has {len(data)} bytes: {_MOST_COMPRESSED} can be")
    try:
        with Image.open(io.BytesIO(data), formats=("JPEG", "PNG")) as head:
            size = head.size
    except Image.DecompressionBombError as error:
        raise ImageError(f"is too large: {error}") from error
    except (OSError, SyntaxError, ValueError) as error:
        raise _damaged(data, form) from error
    _check_size(*size)
    return size


def jpeg(pixels: NDArray[np.uint8], longest: int, quality: int = QUALITY) -> bytes:
    """Return an image, (H, W, 3) RGB, as JPEG with no side of more than `longest` px; `quality` is 1 to 100."""
    height, width = pixels.shape[:2]
    share = longest / max(height, width)
    if share < 1:
        size = max(1, round(width * share)), max(1, round(height * share))
        pixels = np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)
    bgr = cv2.cvtColor(np.ascontiguousarray(pixels), cv2.COLOR_RGB2BGR)
    return bytes(cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, quality])[1])


def _damaged(data: bytes, form: str) -> ImageError:
    return ImageError(f"is cut off or damaged: {len(data)} bytes of {form[:40]}")
