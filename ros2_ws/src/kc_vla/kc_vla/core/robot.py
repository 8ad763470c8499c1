"""The robots that come with the stack (`robots/`), and those of a user's own files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from kc_vla.core.deprecation import deprecated
from kc_vla.core.former_robot_file import is_former, read_former
from kc_vla.core.robot_file import FOLDER, read_robot
from kc_vla.core.robot_model import FIRMWARE, DriverChoice, JointLimits, Robot, RobotError, Vector, firmware_version
from kc_vla.core.share import share
from kc_vla.core.untrusted import one_line, parsed_yaml, read_text

__all__ = [
    "FIRMWARE",
    "DriverChoice",
    "JointLimits",
    "Robot",
    "RobotError",
    "Vector",
    "firmware_version",
    "gripper_joints",
    "load_robot",
    "robot_of",
    "shipped_robots",
    "unit_of",
]


def load_robot(name: str) -> Robot:
    """Return the robot of that name that comes with the stack, or of a YAML file of that path.

    Raises:
        RobotError: there is none, or it is not understood.
    """
    path = Path(name).expanduser() if name.endswith((".yaml", ".yml")) else share(FOLDER) / f"{name}.yaml"
    try:
        content = parsed_yaml(read_text(path))
    except FileNotFoundError:
        known = ", ".join(sorted(file.stem for file in share(FOLDER).glob("*.yaml")))
        raise RobotError(one_line(f"no robot '{name}': there are {known}, or name a YAML file of your own")) from None
    except (OSError, ValueError) as error:
        raise RobotError(one_line(f"the robot file {path} cannot be read: {error}")) from error
    try:
        return _read(content, path)
    except KeyError as error:
        raise RobotError(one_line(f"the robot file {path} is not understood: {error} is missing")) from error
    except (AttributeError, RobotError, TypeError, ValueError) as error:
        raise RobotError(one_line(f"the robot file {path} is not understood: {error}")) from error


def _read(content: Any, path: Path) -> Robot:
    if not isinstance(content, Mapping):
        raise ValueError("it must be a mapping")
    if not is_former(content):
        return read_robot(content, path.parent)
    robot = read_former(content, path.parent)
    deprecated(f"{path} has the format of rigs/: write a robot file with kc-vla robot convert {path} NEW.yaml")
    return robot


def robot_of(names: Sequence[str]) -> Robot | None:
    """Return the first robot that comes with the stack whose joints have these names; None without one.

    `Robot.is_called` says which names count.
    """
    return next((robot for robot in shipped_robots() if robot.is_called(names)), None)


def gripper_joints(names: Sequence[str]) -> list[int]:
    """Return which of the joints are the gripper's, of a robot that may be unknown: those called finger or gripper."""
    return [number for number, name in enumerate(names) if unit_of(name) == "m"]


def unit_of(joint: str) -> str:
    """Return the unit of a joint's position: m for a finger or gripper, rad for any other."""
    return "m" if "finger" in joint or "gripper" in joint else "rad"


@cache
def shipped_robots() -> tuple[Robot, ...]:
    """Return those that come with the stack, by name."""
    return tuple(load_robot(file.stem) for file in sorted(share(FOLDER).glob("*.yaml")))
