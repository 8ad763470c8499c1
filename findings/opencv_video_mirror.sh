#!/usr/bin/env bash
# OpenCV: VideoCapture turns a mirrored video upside down, and refuses the option against it at the open.
#
# Guess:  VideoCapture shows a video as its display matrix says, or reads CAP_PROP_ORIENTATION_AUTO at the open.
# Truth:  It takes the angle alone out of the matrix. A video mirrored from left to right is turned by 180 degrees, so
#         it stands upside down; one mirrored from top to bottom is not changed at all. Nothing is raised.
#         CAP_PROP_ORIENTATION_AUTO among the parameters of the open makes the open fail; set() after it works.
#         Switch it off and apply the matrix yourself (PyAV: frame.side_data).
# Seen:   opencv-python-headless 4.14.0.94, av 18.1.0, numpy 2.4.6, Python 3.11, 2026-11-29.
# Source: modules/videoio/src/cap_ffmpeg_impl.hpp, get_rotation_angle and open; ISO/IEC 14496-12, tkhd.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -qq opencv-python-headless==4.14.0.94 av==18.1.0 numpy==2.4.6
cd "$folder"
OPENCV_LOG_LEVEL=OFF "$folder/venv/bin/python" - <<'PROGRAM'
import struct
import sys
from importlib.metadata import version
from pathlib import Path

import av
import cv2
import numpy as np

print("OpenCV", cv2.__version__, "av", version("av"))
WIDTH, HEIGHT = 96, 64
image = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
image[: HEIGHT // 2, : WIDTH // 2] = 255  # the upper left quarter is white
with av.open("video.mp4", "w") as file:
    stream = file.add_stream("mpeg4", rate=10)
    stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
    for _ in range(3):
        file.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
    file.mux(stream.encode())
plain = Path("video.mp4").read_bytes()
start = plain.index(b"tkhd") + 44  # the matrix of a track header of version 0: a b u, c d v, x y w


def white(a, d, automatic=True):
    """Return the white quarter that OpenCV shows under the display matrix (a 0, 0 d), moved back into the picture."""
    matrix = (a << 16, 0, 0, 0, d << 16, 0, WIDTH << 16 if a < 0 else 0, HEIGHT << 16 if d < 0 else 0, 1 << 30)
    Path("shown.mp4").write_bytes(plain[:start] + struct.pack(">9i", *matrix) + plain[start + 36:])
    capture = cv2.VideoCapture("shown.mp4", cv2.CAP_FFMPEG)
    if not automatic:
        assert capture.set(cv2.CAP_PROP_ORIENTATION_AUTO, 0)
    frame = capture.read()[1].mean(axis=2)
    capture.release()
    row, column = np.unravel_index(frame.reshape(2, HEIGHT // 2, 2, WIDTH // 2).mean(axis=(1, 3)).argmax(), (2, 2))
    return ("upper", "lower")[row] + " " + ("left", "right")[column]


seen = {}
for name, a, d, right in (("as recorded", 1, 1, "upper left"), ("turned by 180 degrees", -1, -1, "lower right"),
                          ("mirrored from left to right", -1, 1, "upper right"),
                          ("mirrored from top to bottom", 1, -1, "lower left")):
    seen[name] = white(a, d)
    print(f"{name}: white is {seen[name]}, right is {right}")
off = white(-1, -1, automatic=False)
opened = cv2.VideoCapture("video.mp4", cv2.CAP_FFMPEG, [cv2.CAP_PROP_ORIENTATION_AUTO, 0]).isOpened()
print(f"turned by 180 degrees, set(CAP_PROP_ORIENTATION_AUTO, 0): white is {off}; given at the open: opened {opened}")
if list(seen.values()) != ["upper left", "lower right", "lower right", "upper left"]:
    sys.exit("CHANGED: mirroring is applied, or a turn is not.")
if off != "upper left" or opened:
    sys.exit("CHANGED: the option works at the open, or set() does not work after it.")
print("As recorded: a mirrored video is turned or left alone, and the option works after the open only.")
PROGRAM
