"""Calibration files in the forms that ROS tools read, each with its date, the serial number and the residuals."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from kc_vla.calibration.board import Array
from kc_vla.calibration.hand_eye import HandEye, JointOffsets
from kc_vla.calibration.intrinsics import Intrinsics
from kc_vla.calibration.latency import Latency
from kc_vla.core.files import write_whole, yaml_text
from kc_vla.core.robot import Robot


def write_camera(path: Path, name: str, serial: str, size: tuple[int, int], lens: Intrinsics) -> None:
    """Write a lens in the form of camera_info."""
    content = {
        "image_width": size[0],
        "image_height": size[1],
        "camera_name": name,
        "camera_matrix": _matrix(lens.matrix),
        "distortion_model": "plumb_bob",
        "distortion_coefficients": _matrix(lens.distortion[None]),
        "rectification_matrix": _matrix(np.eye(3)),
        "projection_matrix": _matrix(np.concatenate([lens.matrix, np.zeros((3, 1))], axis=1)),
    }
    residuals = {
        "rms_px": _number(lens.rms),
        "views": len(lens.view_rms),
        "worst_view_px": _number(lens.view_rms.max()),
    }
    _write(path, content, serial, residuals)


def write_hand_eye(
    path: Path, name: str, serial: str, in_hand: bool, found: HandEye, frame: str = "", base_frame: str = "robot_base"
) -> None:
    """Write the pose of a camera in the form of easy_handeye2; `frame` is its optical one (`<name>_optical_frame`)."""
    x, y, z, w = Rotation.from_matrix(found.camera[:3, :3]).as_quat().tolist()
    place = dict(zip("xyz", found.camera[:3, 3].tolist(), strict=True))
    content = {
        "parameters": {
            "name": name,
            "calibration_type": "eye_in_hand" if in_hand else "eye_on_base",
            "robot_base_frame": base_frame,
            "robot_effector_frame": "flange",
            "tracking_base_frame": frame or f"{name}_optical_frame",
            "tracking_marker_frame": "board",
        },
        "transformation": {**place, "qx": x, "qy": y, "qz": z, "qw": w},
    }
    residuals = {
        "poses": len(found.place_mm),
        "median_mm": _number(np.median(found.place_mm)),
        "worst_mm": _number(found.place_mm.max()),
        "median_degrees": _number(np.median(found.turn_degrees)),
    }
    _write(path, content, serial, residuals)


def write_joints(path: Path, serial: str, found: JointOffsets, robot: Robot) -> None:
    """Write the file of a robot's joint offsets, with limits in rad."""
    rows = zip(robot.joints, found.offsets, robot.limits.lowest, robot.limits.highest, strict=True)
    joints = [
        {"name": name, "offset": _number(offset), "sign": 1, "limits": [_number(low), _number(high)]}
        for name, offset, low, high in rows
    ]
    residuals = {"without_offsets_mm": _number(found.before_mm), "with_offsets_mm": _number(found.after_mm)}
    _write(path, {"robot": robot.name, "joints": joints}, serial, residuals)


def write_latency(path: Path, name: str, serial: str, found: Latency) -> None:
    """Write how late a camera is against the joints."""
    content = {"camera": name, "camera_to_joints_s": _number(found.seconds)}
    _write(path, content, serial, {"correlation": _number(found.likeness)})


def _write(path: Path, content: Mapping[str, Any], serial: str, residuals: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    made = {"date": date.today().isoformat(), "serial": serial, "residuals": dict(residuals)}
    write_whole(path, yaml_text({**content, "calibration": made}))


def _matrix(values: Array) -> dict[str, Any]:
    rows, columns = values.shape
    return {"rows": rows, "cols": columns, "data": [float(value) for value in values.ravel()]}


def _number(value: Any) -> float:
    return round(float(value), 6)
