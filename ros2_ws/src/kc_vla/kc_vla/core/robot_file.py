"""The robot file: one YAML file that says all about a robot (`robots/NAME.yaml`).

`KEYS` and the tables below it are the format. docs/robot_file.md shows them, and a test holds the two together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kc_vla.core.compliance import read_compliance
from kc_vla.core.deprecation import say_once
from kc_vla.core.robot_model import (
    ACCELERATION,
    JERK,
    ROS,
    DriverChoice,
    JointLimits,
    Robot,
    RobotError,
    Vector,
    firmware_version,
)
from kc_vla.core.robot_numbers import (
    acceleration_of,
    box_side,
    check_home,
    check_range,
    jerk_of,
    number,
    rate_of,
    speed_of,
    text_of,
    width_of,
)
from kc_vla.core.share import share
from kc_vla.core.untrusted import read_text
from kc_vla.core.urdf import MOST_BYTES, DescriptionError, Joint, RobotTree
from kc_vla.core.urdf_chain import arm_of
from kc_vla.core.views import DEFAULT_VIEWS, checked_views

FOLDER = "robots"
_CONTROL_RATE = 20
_ROUNDED = 1e-3
"""Difference that rounding in a file may cause, rad, rad/s or m."""


class Key(NamedTuple):
    """A key of the file.

    Attributes:
        unit: of its value; empty for none.
        default: what counts where the key is left out, in words; empty where it must be there.
        text: what it says.
    """

    unit: str
    default: str
    text: str


KEYS: Mapping[str, Key] = {
    "robot": Key("", "", "name of the robot"),
    "urdf": Key("", "", "its description: a path beside the file, or a bundled one such as `urdf/piper.urdf`"),
    "joints": Key("", "", "the joints of the arm from base to tool, each with the keys of the next table"),
    "gripper": Key("", "", "`joint`, or `joints` for fingers that add up, and `width`, m, when it is wide open"),
    "driver": Key("", "", "`type` (`piper`, `ros`, `simulated`, ...) and the options of that driver"),
    "cameras": Key(
        "", "`third_person`, `wrist`", "each view with its optical frame; each image of the first view is a frame"
    ),
    "base_frame": Key("", "`robot_base`", "link of the URDF that poses are in"),
    "tool_frame": Key("", "`tool`", "link at which the arm's chain of joints ends: the flange, or a tool center point"),
    "workspace": Key(
        "m",
        "x, y -0.7 to 0.7, z 0 to 0.9",
        "`x`, `y`, `z` as [lower, upper]: the box in which the origin of `tool_frame` has to stay",
    ),
    "down": Key("", "`-z`", "axis of the base frame that points to the ground, for an arm that is mounted on its side"),
    "older": Key("", "all arms are alike", "`before`, a firmware, and `zero`: where such an arm has its zero, rad"),
    "compliance": Key(
        "",
        "`arm/compliance` is refused",
        "how soft the arm is while it is led by hand or touches something: [the keys](arm_control.md#compliance)",
    ),
    "control_rate": Key("Hz", f"{_CONTROL_RATE}", "control steps of a policy"),
    "skills": Key(
        "", "`motion` for each", "skills, as `CloseObject` or `CloseObject(drawer)`, each by `motion` or `policy`"
    ),
    "robot_type": Key("", "`robot`", "name of the robot in data sets"),
    "columns": Key("", "the names in this file", "names of the joints and of the gripper's joints in data sets"),
}
"""Keys of the file."""

JOINT_KEYS: Mapping[str, Key] = {
    "home": Key("rad", "", "angle in the pose in which the arm lies without power; the controller parks it there"),
    "lower": Key("rad", "that of the URDF", "lower limit"),
    "upper": Key("rad", "that of the URDF", "upper limit"),
    "velocity": Key("rad/s", "that of the URDF", "velocity limit"),
    "acceleration": Key("rad/s²", f"{ACCELERATION:g}", "acceleration limit"),
    "jerk": Key("rad/s³", f"{JERK:g}", "jerk limit"),
}
"""Keys of a joint."""

SKILL_WAYS = ("motion", "policy")
"""How a skill of the planner can be done."""
_NEEDED = {name for name, key in KEYS.items() if not key.default}
_AXES = ("x", "y", "z")
_FORMER = {"rest": "home of each joint", "opening": "width", "links": "urdf", "interface": "driver: {type: ros, ...}"}
"""What was called otherwise in rigs/."""


def read_robot(content: Mapping[str, Any], folder: Path) -> Robot:
    """Return the robot of the content of a file in a folder.

    Raises:
        RobotError, ValueError, TypeError, KeyError: it is not understood; the text says what is wrong.
    """
    check_keys(content, "", set(_NEEDED), set(KEYS))
    name, given = text_of(content["robot"], "robot"), _joints(content["joints"])
    base = text_of(content.get("base_frame", "robot_base"), "base_frame")
    tool = text_of(content.get("tool_frame", "tool"), "tool_frame")
    urdf = find_urdf(folder, content["urdf"])
    try:
        tree = RobotTree(read_text(urdf, MOST_BYTES))
        links, described = arm_of(tree, list(given), base, tool)
    except OSError as error:
        raise ValueError(f"urdf {urdf} cannot be read: {error.strerror}") from error
    except DescriptionError as error:
        raise ValueError(f"urdf {urdf.name}: {error}") from error
    limits, home = _limits(given, described)
    gripper, driver = content["gripper"], _driver(content["driver"])
    fingers = fingers_of(gripper)
    check_keys(gripper, "gripper", {"width"}, {"width", "joint", "joints"})
    if both := [finger for finger in fingers if finger in given]:
        raise ValueError(f"the joint '{both[0]}' is one of the arm and of the gripper")
    width = width_of(gripper["width"], "width")
    _tell_other_width(width, fingers, tree)
    if driver.type == ROS and len(fingers) > 1:
        raise ValueError(f"a robot with the driver '{ROS}' has a gripper of one joint")
    older = content.get("older")
    robot = Robot(
        name=name,
        joints=tuple(given),
        limits=limits,
        rest=home,
        gripper=fingers,
        opening=width,
        links=links,
        older=None if older is None else (_before(older), links.shifted(_zero(older, tuple(given)))),
        robot_type=text_of(content.get("robot_type", name), "robot_type"),
        columns=columns_of(content, (*given, *fingers)),
        cameras=cameras_of(content),
        base_frame=base,
        tool_frame=tool,
        control_rate=rate_of(content.get("control_rate", _CONTROL_RATE)),
        driver=driver,
        urdf=urdf,
        workspace=_workspace(content["workspace"]) if "workspace" in content else None,
        skills=_skills(content.get("skills", {})),
        down=_down(content.get("down", "-z")),
        compliance=read_compliance(content["compliance"], len(given)) if "compliance" in content else None,
    )
    _ = robot.interface  # options that the driver cannot have are refused with the file
    return robot


def check_keys(content: Any, where: str, needed: set[str], known: set[str]) -> None:
    """Check that a mapping has the keys that it needs, and no unknown ones. Raises: ValueError."""
    before = f"{where}: " if where else ""
    if not isinstance(content, Mapping):
        raise ValueError(f"{where or 'it'} must be a mapping")
    if unknown := sorted(map(str, content.keys() - known)):
        here = f": it is called {_FORMER[unknown[0]]} here" if unknown[0] in _FORMER else ""
        there = here or f": it may have {', '.join(sorted(known))}"
        raise ValueError(f"{before}{', '.join(unknown)} is not known{there}")
    if missing := needed - content.keys():
        raise ValueError(f"{before}{', '.join(sorted(missing))} is missing")


def find_urdf(folder: Path, name: Any) -> Path:
    """Return a description beside the file, or one that comes with the stack: a file of one's own begins as a copy."""
    if not isinstance(name, str):
        raise ValueError("urdf must be the path of a file")
    if name.endswith(".xacro"):
        raise ValueError(f"urdf {name} is a xacro: write a URDF of it first (xacro {name} > robot.urdf)")
    own, bundled = folder / Path(name).expanduser(), share(FOLDER) / name
    if found := [file for file in (own, bundled) if file.is_file()]:
        return found[0]
    raise ValueError(f"urdf '{name}' is not there: neither {own} nor a bundled one")


def fingers_of(gripper: Any) -> tuple[str, ...]:
    """Return the joints of a gripper. Raises: ValueError."""
    if not isinstance(gripper, Mapping) or not ("joint" in gripper or "joints" in gripper):
        raise ValueError("gripper must be a mapping of its joint, or joints, and its width")
    if "joint" in gripper and "joints" in gripper:
        raise ValueError("gripper has joint and joints: name one of the two")
    if "joint" in gripper:
        return (text_of(gripper["joint"], "joint of the gripper"),)
    fingers = texts_of(gripper["joints"], "joints of the gripper")
    if not fingers or len(set(fingers)) < len(fingers):
        raise ValueError("joints of the gripper must be different names, one or more")
    return fingers


def columns_of(content: Mapping[str, Any], names: tuple[str, ...]) -> tuple[str, ...]:
    """Return what data sets call the joints and those of the gripper, `names`. Raises: ValueError."""
    columns = texts_of(content.get("columns", names), "columns")
    if len(columns) != len(names) or len(set(columns)) < len(names):
        raise ValueError(f"columns must be {len(names)} different names, of the joints and of the gripper's")
    return columns


def cameras_of(content: Mapping[str, Any]) -> dict[str, str]:
    """Return the views, each with its optical frame. Raises: ValueError."""
    cameras = content.get("cameras", {view: f"{view}_optical_frame" for view in DEFAULT_VIEWS})
    if not isinstance(cameras, Mapping):
        raise ValueError("cameras must name each view with the frame of its camera")
    frames = (text_of(frame, f"the frame of camera '{view}'") for view, frame in cameras.items())
    return dict(zip(checked_views(map(str, cameras)), frames, strict=True))


def texts_of(row: Any, what: str) -> tuple[str, ...]:
    """Return a list of names. Raises: ValueError."""
    if not isinstance(row, list | tuple):
        raise ValueError(f"{what} must be a list of names")
    return tuple(text_of(name, f"a name of {what}") for name in row)


def _joints(content: Any) -> dict[str, Mapping[str, Any]]:
    """Return what the file says of each joint, in order: a mapping, or a list of mappings of one joint each."""
    rows = content if isinstance(content, list) else [content]
    if not rows or not all(isinstance(row, Mapping) and (row or rows == [content]) for row in rows):
        raise ValueError("joints must be a mapping of each joint's name to its keys, such as joint1: {home: 0.0}")
    pairs = [(text_of(name, "the name of a joint"), given) for row in rows for name, given in row.items()]
    if len({name for name, _ in pairs}) < len(pairs) or not pairs:
        raise ValueError("joints must be different names, one or more")
    for name, given in pairs:
        check_keys(given, f"joint '{name}'", {"home"}, set(JOINT_KEYS))
    return dict(pairs)


def _limits(given: Mapping[str, Mapping[str, Any]], described: Sequence[Joint]) -> tuple[JointLimits, Vector]:
    rows = [_joint(name, keys, joint) for (name, keys), joint in zip(given.items(), described, strict=True)]
    lower, upper, velocity, acceleration, jerk, home = np.array(rows).T
    return JointLimits(lower, upper, velocity, acceleration, jerk), home


def _joint(name: str, keys: Mapping[str, Any], described: Joint) -> tuple[float, ...]:
    """Return lower and upper limit, velocity, acceleration, jerk and home of a joint."""
    where = f"joint '{name}'"
    lower, upper, velocity = (
        number(keys[key], f"{key} of {where}") if key in keys else value
        for key, value in zip(("lower", "upper", "velocity"), described.limits, strict=True)
    )
    if lower is None or upper is None:
        why = "is continuous" if described.kind == "continuous" else "has no limits in the URDF"
        raise ValueError(f"{where} {why}: give it lower and upper, rad")
    if not velocity and "velocity" not in keys:
        raise ValueError(f"{where} has no velocity limit in the URDF: give it velocity, rad/s")
    check_range(lower, upper, where, described.limits[:2])
    _tell_wider(name, keys, described)
    home = number(keys["home"], f"home of {where}")
    check_home(home, lower, upper, f"home of {where}", math.radians(home))
    return (
        lower,
        upper,
        speed_of(velocity, f"velocity of {where}"),
        acceleration_of(keys.get("acceleration", ACCELERATION), f"acceleration of {where}"),
        jerk_of(keys.get("jerk", JERK), f"jerk of {where}"),
        home,
    )


def _tell_wider(name: str, keys: Mapping[str, Any], described: Joint) -> None:
    """Say which limits of a joint are wider than those of the URDF: they count."""
    for key, value, sign in zip(("lower", "upper", "velocity"), described.limits, (-1, 1, 1), strict=True):
        if (
            key in keys
            and value is not None
            and (value or key != "velocity")
            and sign * keys[key] > sign * value + _ROUNDED
        ):
            say_once(
                f"robot file: {key} {keys[key]:g} of joint '{name}' is wider than {value:g} of the URDF, and counts"
            )


def _tell_other_width(width: float, fingers: Sequence[str], tree: RobotTree) -> None:
    """Say where the gripper of the URDF opens to another width; nothing where the URDF does not tell all of it."""
    known = {joint.name: joint for joint in tree.joints if joint.kind == "prismatic"}
    limits = [known[name].limits[:2] for name in fingers if name in known]
    travels = [upper - lower for lower, upper in limits if lower is not None and upper is not None]
    if len(travels) == len(fingers) and abs(sum(travels) - width) > _ROUNDED:
        say_once(
            f"robot file: width {width:g} m of the gripper differs from {sum(travels):g} m, the travel of "
            f"{', '.join(fingers)} in the URDF, and counts"
        )


def _driver(content: Any) -> DriverChoice:
    if not isinstance(content, Mapping) or not isinstance(content.get("type"), str):
        raise ValueError("driver must be a mapping with a type, such as {type: piper}")
    return DriverChoice(
        text_of(content["type"], "type of the driver"),
        {str(key): value for key, value in content.items() if key != "type"},
    )


def _skills(content: Any) -> dict[str, str]:
    """Return the way of each skill that is named. Raises: ValueError."""
    if not isinstance(content, Mapping):
        raise ValueError("skills must be a mapping of skills to their way, such as {PickupObject: policy}")
    ways = {text_of(name, "a name of skills"): text_of(way, f"the way of {name}") for name, way in content.items()}
    for name, way in ways.items():
        if way not in SKILL_WAYS:
            raise ValueError(f"skills: {name} is done by '{way}': choose {' or '.join(SKILL_WAYS)}")
    return ways


def _before(older: Any) -> tuple[int, ...]:
    check_keys(older, "older", {"before", "zero"}, {"before", "zero"})
    return firmware_version(str(older["before"]))


def _zero(older: Mapping[str, Any], joints: tuple[str, ...]) -> Vector:
    """Return where an arm with an older firmware has its zero (N,), rad, by the angles of the URDF."""
    zero = older["zero"]
    check_keys(zero, "older: zero", set(), set(joints))
    found = np.array([number(zero.get(name, 0.0), f"older: zero of joint '{name}'") for name in joints])
    if (far := np.abs(found)).max() > math.pi + _ROUNDED:
        raise RobotError(f"older: zero of joint '{joints[int(far.argmax())]}' is more than half a turn: it is in rad")
    return found


def _down(given: Any) -> tuple[float, float, float]:
    """Return the unit vector of an axis such as "-y". Raises: ValueError."""
    if given not in [sign + axis for axis in _AXES for sign in "+-"]:
        raise ValueError(f"down is {given!r}: it must be an axis of the base frame, one of '-z', '+y', '-y', '+x', ...")
    sign = 1.0 if given[0] == "+" else -1.0
    x, y, z = (sign if axis == given[1] else 0.0 for axis in _AXES)
    return x, y, z


def _workspace(content: Any) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    check_keys(content, "workspace", set(_AXES), set(_AXES))
    (x, y, z) = (box_side(content[axis], f"workspace: {axis}") for axis in _AXES)
    return (x[0], y[0], z[0]), (x[1], y[1], z[1])
