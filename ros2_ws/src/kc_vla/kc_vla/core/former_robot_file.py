"""The files of `rigs/`, read for one more version: limits in degrees beside a home pose in rad, links as a table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kc_vla.core.chain import Chain
from kc_vla.core.robot_file import cameras_of, columns_of, find_urdf, fingers_of, texts_of
from kc_vla.core.robot_model import (
    ACCELERATION,
    JERK,
    PIPER,
    ROS,
    SIMULATED,
    DriverChoice,
    JointLimits,
    Robot,
    firmware_version,
)
from kc_vla.core.robot_numbers import joint_angles, links_of, rate_of, speed_of, text_of, width_of

_KEYS = {"robot", "joints", "lowest", "highest", "speed", "rest", "gripper"}
_OPTIONAL = {"links", "older", "robot_type", "columns", "cameras", "base_frame", "tool_frame", "control_rate"} | {
    "interface",
    "urdf",
    "angles",
}
_MARKS = {"lowest", "highest", "speed", "rest", "links", "angles"}


def is_former(content: Any) -> bool:
    """Return whether a file has the format of `rigs/`."""
    return isinstance(content, Mapping) and bool(_MARKS & content.keys())


def read_former(content: Mapping[str, Any], folder: Path) -> Robot:
    """Return the robot of the content of a file in a folder.

    Raises:
        RobotError, ValueError, TypeError, KeyError: it is not understood; the text says what is wrong.
    """
    if missing := _KEYS - content.keys():
        raise ValueError(f"{', '.join(sorted(missing))} is missing")
    if unknown := content.keys() - _KEYS - _OPTIONAL:
        known = ", ".join(sorted(_KEYS | _OPTIONAL))
        raise ValueError(f"{', '.join(map(str, sorted(unknown, key=str)))} is not known: it may have {known}")
    joints = texts_of(content["joints"], "joints")
    if len(set(joints)) < len(joints) or not joints:
        raise ValueError("joints must be different names, one or more")
    count = len(joints)
    lowest, highest, rest = joint_angles(content, count)
    speed, acceleration, jerk = np.repeat([speed_of(content["speed"]), ACCELERATION, JERK], count).reshape(3, count)
    name, gripper, older = text_of(content["robot"], "robot"), content["gripper"], content.get("older")
    fingers = fingers_of(gripper)
    if older and (not isinstance(older, Mapping) or not older.keys() >= {"before", "links"}):
        raise ValueError("older must be a mapping of before, a firmware, and links")
    if "interface" in content and (len(fingers) > 1 or "links" not in content):
        raise ValueError("a robot with an interface has links, and a gripper of one joint")
    robot = Robot(
        name=name,
        joints=joints,
        limits=JointLimits(lowest, highest, speed, acceleration, jerk),
        rest=rest,
        gripper=fingers,
        opening=width_of(gripper["opening"], "opening"),
        links=_chain(content["links"], count) if "links" in content else None,
        older=(firmware_version(str(older["before"])), _chain(older["links"], count)) if older else None,
        robot_type=text_of(content.get("robot_type", name), "robot_type"),
        columns=columns_of(content, (*joints, *fingers)),
        cameras=cameras_of(content),
        base_frame=text_of(content.get("base_frame", "robot_base"), "base_frame"),
        tool_frame=text_of(content.get("tool_frame", "tool"), "tool_frame"),
        control_rate=rate_of(content.get("control_rate", 20)),
        driver=_driver(content),
        urdf=find_urdf(folder, content["urdf"]) if "urdf" in content else None,
    )
    _ = robot.interface  # options that the driver cannot have are refused with the file
    return robot


def _driver(content: Mapping[str, Any]) -> DriverChoice:
    if "interface" in content:
        if not isinstance(content["interface"], Mapping):
            raise ValueError("interface must be a mapping, of the options of the driver 'ros'")
        return DriverChoice(ROS, dict(content["interface"]))
    return DriverChoice(PIPER if "links" in content else SIMULATED)


def _chain(rows: Any, count: int) -> Chain:
    return Chain.of_table(links_of(rows, count))
