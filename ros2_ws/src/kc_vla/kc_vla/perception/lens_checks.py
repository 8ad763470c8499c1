"""What is looked for in a camera's calibration before it is believed."""

from __future__ import annotations

from typing import Any

from kc_vla.cameras.calibration import Calibration

MODELS = "plumb_bob", "rational_polynomial", "equidistant"
"""Distortion models that can be used."""
_FOCAL = 0.1, 30.0
"""A focal length as a share of the image's width: a lens of more than 157 degrees, and one of less than 2."""


def wrong_lens(view: str, lens: Calibration, image: Any) -> str:
    """Return what is wrong with a calibration, in one line; empty where it can be."""
    if (lens.width, lens.height) != (image.width, image.height):
        return (
            f"camera_info of {view} is of {lens.width}x{lens.height} px, its images have {image.width}x{image.height}: "
            "calibrate it at this size, or name its driver's camera_info"
        )
    fx, cx, fy, cy = lens.k[0], lens.k[2], lens.k[4], lens.k[5]
    low, high = (share * lens.width for share in _FOCAL)
    if not (low <= fx <= high and low <= fy <= high and 0 <= cx <= lens.width and 0 <= cy <= lens.height):
        return (
            f"camera_info of {view} has the focal lengths {fx:g}, {fy:g} px and the middle {cx:g}, {cy:g} px, which no "
            f"camera of {lens.width}x{lens.height} px has: calibrate it"
        )
    if any(lens.d) and lens.distortion_model not in MODELS:
        return (
            f"camera_info of {view} has the distortion model '{lens.distortion_model[:40]}', which is not known: "
            f"{', '.join(MODELS)} are"
        )
    return ""
