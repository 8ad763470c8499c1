"""Makes small videos and folders of pictures for tests of cameras."""

from __future__ import annotations

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
