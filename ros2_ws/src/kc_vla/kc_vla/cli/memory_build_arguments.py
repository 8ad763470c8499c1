"""The arguments of `kc-vla memory build`."""

from __future__ import annotations

import argparse
from pathlib import Path

from kc_vla.cli.numbers import moment

AUTO, RECORDED = "auto", "recorded"
"""Names of `--detector` beside those of the table: what there is, and the detections in the bag."""


def add_build_arguments(build: argparse.ArgumentParser) -> None:
    """Add them to the parser of the action."""
    build.add_argument("store", type=Path, help="file of the memory; a new one is made")
    build.add_argument("bags", nargs="+", type=Path, metavar="bag", help="bag folder, .mcap or .db3 file")
    build.add_argument("--map", default="home", help="map_id (default: home)")
    build.add_argument(
        "--detector",
        default=AUTO,
        metavar="NAME",
        help="what finds objects: recorded, for the detections in the bag, or a detector that looks at images, such as "
        "learned or vision_msgs (default: recorded where the bag has detections, otherwise learned)",
    )
    build.add_argument(
        "--detector-options", default="", metavar="YAML", help="options of the detector, e.g. '{threshold: 0.4}'"
    )
    build.add_argument("--topic", default="", help="topic of recorded detections (default: the only one)")
    build.add_argument(
        "--frame",
        default="",
        help="frame of the map (default: that of the detections, or the base frame of the camera's file)",
    )
    build.add_argument(
        "--camera", type=Path, metavar="FILE", help="file with the pose of the camera, of kc-vla calibrate hand-eye"
    )
    build.add_argument(
        "--lens",
        type=Path,
        metavar="FILE",
        help="file with the lens of the camera: for images without camera_info, or for recorded detections of --camera",
    )
    build.add_argument(
        "--period",
        type=moment,
        metavar="S",
        help="s between two messages of detections (default 0.5), or between two images of a camera (default 0.2)",
    )
    images = build.add_argument_group("images", "for a detector that looks at images")
    for name, what in (("images", "color images"), ("info", "camera_info"), ("depth", "aligned depth")):
        images.add_argument(f"--{name}", nargs="+", default=(), metavar="TOPIC", help=f"{what} (default: by type)")
    images.add_argument(
        "--support",
        type=float,
        metavar="M",
        help="height of the surface that things stand on, m (default: 0 in "
        "the base frame of an arm, and with --camera)",
    )
