"""The file of `cameras:=`: which camera each view of the robot has, and its parameters."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from kc_vla.core.errors import StackError
from kc_vla.core.robot import Robot
from kc_vla.core.untrusted import parsed_yaml, read_text

FILES = ("source", "calibration", "latency")
"""Parameters that may name a file beside that of the cameras."""
HAND_EYE = "hand_eye"
"""What names the file with a camera's place: not for its own node, but for the one that tells all transforms."""


class CamerasError(StackError):
    """A file that is no such file, or one for another robot."""


def cameras_of(file: Path, robot: Robot) -> dict[str, dict[str, Any]]:
    """Return the parameters of the node of each camera by its view, in the order of the robot file.

    Raises:
        CamerasError: the file cannot be read, or does not name the views of the robot, each with its parameters.
    """
    views, told = " and ".join(robot.views), _told(file, robot)
    if set(told) != set(robot.views):
        named = " and ".join(map(str, told)) or "none"
        raise CamerasError(
            f"cameras:={file} must name {views}, the views of the robot '{robot.name}', and names {named}: "
            "change that file, or 'cameras' in a robot file of your own for robot:="
        )
    for view, wanted in told.items():
        if wanted.get("source") and wanted.get("topic"):
            raise CamerasError(f"cameras:={file} names a source and a topic for {view}: leave one of them out")
    wanted = {view: {name: value for name, value in told[view].items() if name != HAND_EYE} for view in robot.views}
    return {view: {"frame_id": robot.cameras[view], **_beside(file, wanted[view])} for view in robot.views}


def hand_eye_files(file: Path, robot: Robot) -> str:
    """Return the files with the cameras' places that a camera file names as `hand_eye`, for the node `transforms`.

    Raises:
        CamerasError: the file cannot be read, or is none.
    """
    named = [str(wanted[HAND_EYE]) for wanted in _told(file, robot).values() if wanted.get(HAND_EYE)]
    return os.pathsep.join(str(file.parent / name) for name in named)


def _told(file: Path, robot: Robot) -> dict[str, dict[str, Any]]:
    """Return what stands in the file.

    Raises:
        CamerasError: it cannot be read, or is none.
    """
    try:
        told = parsed_yaml(read_text(file))
    except (OSError, ValueError) as error:
        raise CamerasError(f"cameras:={file} cannot be read: {error}") from error
    if not isinstance(told, dict) or not all(isinstance(wanted, dict) for wanted in told.values()):
        views = " and ".join(robot.views)
        raise CamerasError(f"cameras:={file} must name {views}, each with its parameters, e.g. source or topic")
    return told


def _beside(cameras: Path, wanted: dict[str, Any]) -> dict[str, Any]:
    """Return the camera's values with whole paths of what lies beside the file of the cameras; a device does not."""
    given = {name: "" if wanted.get(name) is None else str(wanted[name]) for name in FILES}
    there = {name: str(cameras.parent / value) for name, value in given.items() if value}
    return wanted | given | {name: path for name, path in there.items() if Path(path).exists()}
