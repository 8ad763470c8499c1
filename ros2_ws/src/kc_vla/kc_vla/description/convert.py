"""Writes a robot file and its URDF from a file of `rigs/`."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from kc_vla.core.chain import Chain
from kc_vla.core.files import replacing
from kc_vla.core.former_robot_file import is_former, read_former
from kc_vla.core.robot import Robot, RobotError, Vector
from kc_vla.core.robot_file import FOLDER, read_robot
from kc_vla.core.share import share
from kc_vla.core.untrusted import one_line, parsed_yaml, read_text
from kc_vla.description.generated import generated_urdf

_SAME = 1e-9


def convert(former: Path, new: Path) -> tuple[Path, ...]:
    """Write the robot file `new` from the file `former`, with a URDF beside it where that has a table of links.

    Returns:
        The files that were written.

    Raises:
        RobotError: `former` is no such file, cannot be expressed, or a file of the new name is there.
    """
    urdf = new.with_suffix(".urdf")
    try:
        content = parsed_yaml(read_text(former))
        if not is_former(content):
            raise RobotError("it has not the format of rigs/: nothing is to be converted")
        robot = read_former(content, former.parent)
        if there := [file for file in (new, urdf) if file.exists() and (file == new or robot.links is not None)]:
            raise RobotError(f"{there[0]} is there already: name another file")
        described = robot.links is not None
        text = _text(robot, content, urdf.name if described else _own_urdf(robot, content, new), former, described)
    except KeyError as error:
        raise RobotError(one_line(f"{former}: {error} is missing")) from error
    except (RobotError, OSError, ValueError, TypeError, AttributeError) as error:
        raise RobotError(one_line(f"{former}: {error}")) from error
    new.parent.mkdir(parents=True, exist_ok=True)
    if described:
        with replacing(urdf) as file:
            file.write_text(generated_urdf(robot))
    try:
        read_robot(parsed_yaml(text), new.parent)
    except (RobotError, ValueError) as error:
        if described:
            urdf.unlink()
        raise RobotError(one_line(f"{former}: what would be written is not understood: {error}")) from error
    with replacing(new) as file:
        file.write_text(text)
    return (new, urdf) if described else (new,)


def _own_urdf(robot: Robot, content: Mapping[str, Any], new: Path) -> str:
    """Return the URDF of a robot without links, as the new file names it."""
    if robot.urdf is None:
        raise RobotError("it has neither links nor urdf: add urdf to it")
    if robot.urdf.is_relative_to(share(FOLDER)):
        return str(content["urdf"])
    return os.path.relpath(robot.urdf.resolve(), new.resolve().parent)


def _text(robot: Robot, content: Mapping[str, Any], urdf: str, former: Path, described: bool) -> str:
    """Return the text of the robot file."""
    lines = [
        f"# Written by kc-vla robot convert from {former.name}.",
        f"robot: {_flow(robot.name)}",
        f"urdf: {_flow(urdf)}",
        "joints:  # limits from the URDF where they are not given: rad, rad/s, rad/s2, rad/s3",
    ]
    limits = zip(robot.limits.lowest.tolist(), robot.limits.highest.tolist(), robot.limits.speed.tolist(), strict=True)
    for name, home, (lower, upper, velocity) in zip(robot.joints, robot.rest.tolist(), limits, strict=True):
        keys = {"home": home} if described else {"home": home, "lower": lower, "upper": upper, "velocity": velocity}
        lines.append(f"  {_flow(name)}: {_flow(keys)}")
    fingers = {"joint": robot.gripper[0]} if len(robot.gripper) == 1 else {"joints": list(robot.gripper)}
    lines.append(f"gripper: {_flow({**fingers, 'width': robot.opening})}  # m")
    lines.append(f"cameras: {_flow(dict(robot.cameras))}")
    lines += [f"base_frame: {_flow(robot.base_frame)}", f"tool_frame: {_flow(robot.tool_frame)}"]
    lines.append(f"driver: {_flow({'type': robot.driver.type, **robot.driver.options})}")
    if robot.older is not None and robot.links is not None:
        zero = dict(zip(robot.joints, _zero(robot.links, robot.older[1]).tolist(), strict=True))
        moved = {name: value for name, value in zero.items() if value}
        older = {"before": str(content["older"]["before"]), "zero": moved}
        lines.append(f"older: {_flow(older)}  # rad")
    lines += [f"{key}: {_flow(content[key])}" for key in ("control_rate", "robot_type", "columns") if key in content]
    return "\n".join(lines) + "\n"


def _flow(value: Any) -> str:
    """Return a value as YAML in one line."""
    text = yaml.safe_dump(value, default_flow_style=True, width=math.inf, sort_keys=False, allow_unicode=True)
    return text.removesuffix("...\n").strip()


def _zero(links: Chain, older: Chain) -> Vector:
    """Return the angles (N,), rad, at which the older arm reads 0."""
    apart = np.linalg.inv(links.origins) @ older.origins
    skew = apart - apart.transpose(0, 2, 1)
    across = np.stack([skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]], axis=1)
    angles = np.arctan2((across * links.axes).sum(axis=1) / 2, (np.trace(apart[:, :3, :3], axis1=1, axis2=2) - 1) / 2)
    if np.abs(links.shifted(angles).origins - older.origins).max() > _SAME:
        raise RobotError("the links of 'older' differ in more than the zero of joints: write a file for each")
    return np.asarray(np.where(np.abs(angles) < _SAME, 0.0, angles.round(12)))
