"""Calibration files of joints, of latency and of where a camera is, read and checked where they are used."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kc_vla.arm.offsets import Offsets
from kc_vla.cameras.calibration import load_calibration, read_calibration
from kc_vla.cameras.errors import CalibrationError
from kc_vla.core.mounted_camera import MountedCamera, pose_matrix
from kc_vla.core.robot import JointLimits, RobotError, load_robot

_MOST_OFFSET = math.radians(20.0)
"""More than that is no offset but another zero pose."""
_MOST_LATENCY_S = 1.0
_FARTHEST_M = 100.0
_IN_HAND = {"eye_in_hand": True, "eye_on_base": False}

NO_CAMERA_PLACE = (
    "a real arm is not moved by skills without a calibrated camera: measure its place with 'kc-vla calibrate "
    "hand-eye', and name the file as hand_eye in the file of cameras:="
)


def load_offsets(path: Path, own: JointLimits, known_as: Sequence[str] = ()) -> Offsets:
    """Read joint offsets as `kc-vla calibrate joints` writes them.

    Args:
        path: of the file.
        own: limits of the arm that they are for; it says how many joints there are, and its top speeds count.
        known_as: names of that arm's robot, first its own, where the file has to be for it.

    Raises:
        CalibrationError: it is missing, for another arm or number of joints, or holds something that cannot be.
    """
    content = read_calibration(path)
    made_for = content.get("robot", content.get("rig"))
    if known_as and made_for is not None and not {made_for, _kind_of(str(made_for))} & set(known_as):
        told = f"{path} is of the arm '{made_for}', not of a '{known_as[0]}'"
        raise CalibrationError(f"{told}: make one with kc-vla calibrate joints --robot {known_as[0]}")
    joints = content.get("joints")
    if not isinstance(joints, list) or len(joints) != len(own.speed):
        raise CalibrationError(f"{path}: 'joints' must be a list of {len(own.speed)}: made for another arm?")
    offsets, lowest, highest = [], [], []
    for number, joint in enumerate(joints, 1):
        where = f"{path}, joint {number}"
        if not isinstance(joint, dict) or joint.get("sign") != 1:
            raise CalibrationError(f"{where}: offset, sign 1 and limits are wanted")
        offsets.append(_number(where, "offset", joint.get("offset"), -_MOST_OFFSET, _MOST_OFFSET))
        limits = joint.get("limits")
        if not isinstance(limits, list) or len(limits) != 2:
            raise CalibrationError(f"{where}: limits must be two angles [lower, upper], rad")
        low, high = (_number(where, "limits", value, -7.0, 7.0) for value in limits)
        if low >= high:
            raise CalibrationError(f"{where}: its first limit is not below its second: write [lower, upper], rad")
        lowest.append(low)
        highest.append(high)
    return Offsets(np.array(offsets), JointLimits(np.array(lowest), np.array(highest), own.speed))


def _kind_of(robot: str) -> str:
    """Return the type of the robot of that name, if it comes with the stack; empty for another.

    A Piper that a third-party driver moves has the same type.
    """
    try:
        return load_robot(robot).robot_type
    except RobotError:
        return ""


def load_latency(path: Path) -> float:
    """Read how late a camera is against the joints, s, as `kc-vla calibrate latency` writes it.

    Raises:
        CalibrationError: it is missing, or no time that can be.
    """
    value = read_calibration(path).get("camera_to_joints_s")
    return _number(str(path), "camera_to_joints_s", value, -_MOST_LATENCY_S, _MOST_LATENCY_S)


def load_camera(pose: Path, lens: Path | None = None) -> MountedCamera:
    """Read where a camera is, as `kc-vla calibrate hand-eye` and easy_handeye2 write it, and its lens (camera_info).

    Raises:
        CalibrationError: a file is missing, or holds something that cannot be.
    """
    content = read_calibration(pose)
    told, place = content.get("parameters"), content.get("transformation")
    kind = told.get("calibration_type") if isinstance(told, dict) else None
    frame = told.get("tracking_base_frame") if isinstance(told, dict) else None
    if kind not in _IN_HAND or not isinstance(frame, str) or not frame or not isinstance(place, dict):
        raise CalibrationError(
            f"{pose}: no place of a camera: calibration_type ({' or '.join(_IN_HAND)}), tracking_base_frame and "
            "transformation are wanted, as kc-vla calibrate hand-eye writes them"
        )
    position = [_number(str(pose), name, place.get(name), -_FARTHEST_M, _FARTHEST_M) for name in "xyz"]
    turn = [_number(str(pose), name, place.get(name), -1.01, 1.01) for name in ("qx", "qy", "qz", "qw")]
    if not 0.99 < float(np.linalg.norm(turn)) < 1.01:
        raise CalibrationError(f"{pose}: qx, qy, qz, qw are no unit quaternion")
    matrix = pose_matrix(position, turn)
    if lens is None:
        return MountedCamera(frame, matrix, _IN_HAND[kind])
    known = load_calibration(lens)
    return MountedCamera(
        frame, matrix, _IN_HAND[kind], np.reshape(known.k, (3, 3)).astype(float), (known.width, known.height)
    )


def _number(where: str, name: str, value: Any, low: float, high: float) -> float:
    if type(value) not in (int, float) or not low <= value <= high:
        raise CalibrationError(f"{where}: {name} is {value!r}, it must be a number from {low:.3g} to {high:.3g}")
    return float(value)
