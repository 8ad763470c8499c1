"""Which description a robot has: that of a file, the robot's own, or one made from the robot's links."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kc_vla.core.robot import Robot, RobotError
from kc_vla.core.urdf import DescriptionError, RobotTree, read_urdf
from kc_vla.description.generated import generated_urdf, rezeroed_urdf


def description_of(robot: Robot, urdf: Path | None = None, firmware: str = "") -> tuple[str, RobotTree]:
    """Return the text of a robot's URDF, and the tree that it describes.

    Args:
        robot: the robot.
        urdf: a file in place of the robot's own description.
        firmware: firmware of an arm whose zero pose depends on it.

    Raises:
        DescriptionError: There is no URDF, it is invalid, or it lacks the robot's base or tool frame.
    """
    file = urdf or robot.urdf
    try:
        text = read_urdf(file) if file is not None else generated_urdf(robot, firmware)
        if file is not None and urdf is None:
            text = _of_firmware(text, robot, firmware)
    except RobotError as error:
        raise DescriptionError(f"{error}; nor does it name a description: add 'urdf' to it") from error
    name = f"the description {file}" if file is not None else f"the description of the robot '{robot.name}'"
    try:
        tree = RobotTree(text)
    except DescriptionError as error:
        raise DescriptionError(f"{name}: {error}") from error
    if missing := [frame for frame in (robot.base_frame, robot.tool_frame) if frame not in tree.links]:
        raise DescriptionError(
            f"{name} has no link '{missing[0]}', which the robot '{robot.name}' has poses in: "
            "name another file, or other base_frame and tool_frame in a robot file of your own"
        )
    return text, tree


def _of_firmware(text: str, robot: Robot, firmware: str) -> str:
    """Return the robot's own description with the zero pose of an arm with that firmware."""
    if robot.links is None or (links := robot.links_of(firmware)) is robot.links:
        return text
    moved = {
        name: np.linalg.inv(usual) @ own
        for name, usual, own in zip(robot.joints, robot.links.origins, links.origins, strict=True)
        if not np.array_equal(usual, own)
    }
    return rezeroed_urdf(text, moved)
