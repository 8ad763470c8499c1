"""Makes small videos and folders of pictures for tests of cameras."""

from __future__ import annotations

import struct
from pathlib import Path

import av
import cv2
import numpy as np


def write_video(path: Path, shades: list[int], fps: int = 10) -> Path:
    """Write one gray frame for each shade."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=fps)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for shade in shades:
            frame = av.VideoFrame.from_ndarray(np.full((48, 64, 3), shade, np.uint8), format="rgb24")
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def write_pictures(folder: Path, colours: list[tuple[int, int, int]], width: int = 32, height: int = 24) -> Path:
    """Write one picture of each RGB colour."""
    folder.mkdir(exist_ok=True)
    for number, colour in enumerate(colours):
        cv2.imwrite(str(folder / f"{number:03}.png"), np.full((height, width, 3), colour[::-1], np.uint8))
    return folder


TURNS = {
    "as stored": (1, 0, 0, 1),
    "a quarter to the right": (0, 1, -1, 0),
    "half": (-1, 0, 0, -1),
    "a quarter to the left": (0, -1, 1, 0),
    "mirrored": (-1, 0, 0, 1),
    "upside down and mirrored": (1, 0, 0, -1),
    "about one diagonal": (0, 1, 1, 0),
    "about the other diagonal": (0, -1, -1, 0),
}
"""How players are to turn a video, as its file says: a, b, c, d of x' = a x + c y, y' = b x + d y."""
_MATRIX_AT = 44
"""Bytes from the name of an MP4 track's head to its matrix."""


def corner(width: int = 64, height: int = 48) -> np.ndarray:
    """A picture (height, width, 3) RGB whose every turn and mirror image differs: red, green, blue, gray quarters."""
    pixels = np.full((height, width, 3), 128, np.uint8)
    pixels[: height // 2, : width // 2] = (220, 20, 20)
    pixels[: height // 2, width // 2 :] = (20, 200, 20)
    pixels[height // 2 :, : width // 2] = (20, 20, 220)
    return pixels


def shown(pixels: np.ndarray, turn: str) -> np.ndarray:
    """What a player that heeds the turn shows, found pixel by pixel."""
    a, b, c, d = TURNS[turn]
    height, width = pixels.shape[:2]
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    across, down = a * x + c * y, b * x + d * y
    across, down = across - across.min(), down - down.min()
    out = np.zeros((down.max() + 1, across.max() + 1, 3), np.uint8)
    out[down, across] = pixels
    return out


def write_turned_video(path: Path, turn: str, frames: int = 4, fps: int = 10) -> Path:
    """Write a video of `corner` that says how it is to be turned."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=fps, options={"crf": "5"})
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for _ in range(frames):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(corner(), format="rgb24")))
        container.mux(stream.encode(None))
    data = bytearray(path.read_bytes())
    at = data.index(b"tkhd") + _MATRIX_AT
    a, b, c, d = (number << 16 for number in TURNS[turn])
    struct.pack_into(">9i", data, at, a, b, 0, c, d, 0, 0, 0, 1 << 30)
    path.write_bytes(data)
    return path
