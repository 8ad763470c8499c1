"""A robot as data: its joints, limits, gripper, cameras and links, read from one YAML file (`rigs/`)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.errors import StackError
from kc_vla.core.robot_interface import RobotInterface, read_interface
from kc_vla.core.share import share
from kc_vla.core.untrusted import parsed_yaml, read_text
from kc_vla.core.views import DEFAULT_VIEWS, checked_views

Vector = NDArray[np.float64]
FIRMWARE = re.compile(r"S-V(\d+)\.(\d+)-(\d+)")
_KEYS = {"robot", "joints", "lowest", "highest", "speed", "rest", "gripper"}
_OPTIONAL = {"links", "older", "robot_type", "columns", "cameras", "base_frame", "tool_frame", "control_rate"} | {
    "interface",
    "urdf",
}
_LINK = 4


class RigError(StackError):
    """A rig that is not there or cannot be; the text names the file and what is wrong in it."""


@dataclass(frozen=True, eq=False)
class JointLimits:
    """Of N joints: `lowest` and `highest` angle (N,), rad, and top `speed` (N,), rad/s."""

    lowest: Vector
    highest: Vector
    speed: Vector

    def narrowed(self, other: JointLimits) -> JointLimits:
        """What both allow."""
        return JointLimits(
            np.maximum(self.lowest, other.lowest),
            np.minimum(self.highest, other.highest),
            np.minimum(self.speed, other.speed),
        )


@dataclass(frozen=True, eq=False)
class Rig:
    """An arm of N joints with a gripper of G joints.

    Attributes:
        name: of the rig.
        joints: their names.
        limits: of the joints.
        rest: how the arm lies by itself without power (N,), rad.
        gripper: names of its joints, G of them: one that is its opening, or two fingers.
        opening: of the gripper when it is wide open, m: its joints add up to it.
        links: modified Denavit-Hartenberg table (Craig): a(i-1) m, alpha(i-1) rad, d m, offset of theta rad, (N, 4);
            None for a robot whose way the stack does not plan.
        older: links of arms whose firmware is older, and the first firmware that is not; None where all are alike.
        robot_type: what data sets call the robot.
        columns: what they call its joints and those of the gripper, N + G.
        cameras: the views, one or more, and the name of each one's optical frame.
        base_frame: that poses are in.
        tool_frame: of the tool centre point.
        control_rate: control steps per second.
        interface: how drivers of others move it; None for a robot that this stack reaches by itself.
        urdf: file with its description, for viewers; None where that is made from its links.
    """

    name: str
    joints: tuple[str, ...]
    limits: JointLimits
    rest: Vector
    gripper: tuple[str, ...]
    opening: float
    links: Vector | None
    older: tuple[tuple[int, ...], Vector] | None
    robot_type: str
    columns: tuple[str, ...]
    cameras: Mapping[str, str]
    base_frame: str
    tool_frame: str
    control_rate: float
    interface: RobotInterface | None = None
    urdf: Path | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Of joint positions: the joints, rad, and those of the gripper, m."""
        return (*self.joints, *self.gripper)

    @property
    def views(self) -> tuple[str, ...]:
        """Names of its cameras, in order; the pictures of the first count the frames."""
        return tuple(self.cameras)

    def is_called(self, names: Sequence[str]) -> bool:
        """Whether these are its joints and those of its gripper, as it or a data set calls them, in order.

        What all of `names` begin with, up to an underscore, is no part of a name: "left_joint1" of two arms.
        """
        return _bare(names) in (_bare(self.names), _bare(self.columns))

    def gripper_opening(self, positions: Vector) -> Vector:
        """How far the gripper is open, m (...), out of joint positions (..., N + G)."""
        return np.asarray(positions[..., len(self.joints) :].sum(axis=-1))

    def gripper_share(self, positions: Vector) -> Vector:
        """How far the gripper is open, 0 closed .. 1 open (...), out of joint positions (..., N + G)."""
        return np.asarray(np.clip(self.gripper_opening(positions) / self.opening, 0.0, 1.0))

    def links_of(self, firmware: str) -> Vector:
        """The links of an arm with that firmware, e.g. "S-V1.8-5"; as `links` (N, 4).

        Raises:
            RigError: it has none.
        """
        if self.links is None:
            raise RigError(f"the rig '{self.name}' has no links: it cannot be driven as an arm of joints")
        version = FIRMWARE.match(firmware)
        if self.older is None or version is None or tuple(map(int, version.groups())) >= self.older[0]:
            return self.links
        return self.older[1]


def load_rig(name: str) -> Rig:
    """The rig of that name that comes with the stack, or of a YAML file of that path.

    Raises:
        RigError: there is none, or it is not understood.
    """
    path = Path(name).expanduser() if name.endswith((".yaml", ".yml")) else share("rigs") / f"{name}.yaml"
    try:
        content = parsed_yaml(read_text(path))
    except FileNotFoundError:
        known = ", ".join(sorted(file.stem for file in share("rigs").glob("*.yaml")))
        raise RigError(f"no rig '{name}': there are {known}, or name a YAML file of your own") from None
    except (OSError, ValueError) as error:
        raise RigError(f"the rig {path} cannot be read: {error}") from error
    try:
        return _rig(content, path.parent)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise RigError(f"the rig {path} is not understood: {error}") from error


def rig_of(names: Sequence[str]) -> Rig | None:
    """The first rig that comes with the stack whose joints are called so, see `Rig.is_called`; None without one."""
    return next((rig for rig in shipped_rigs() if rig.is_called(names)), None)


def gripper_joints(names: Sequence[str]) -> list[int]:
    """Which of the joints are the gripper's, of a robot that may be unknown: those called finger or gripper."""
    return [number for number, name in enumerate(names) if unit_of(name) == "m"]


def unit_of(joint: str) -> str:
    """Unit of a joint's position: m of a finger or gripper, rad of any other."""
    return "m" if "finger" in joint or "gripper" in joint else "rad"


@cache
def shipped_rigs() -> tuple[Rig, ...]:
    """Those that come with the stack, by name."""
    return tuple(load_rig(file.stem) for file in sorted(share("rigs").glob("*.yaml")))


def _bare(names: Sequence[str]) -> tuple[str, ...]:
    first, last = min(names, default=""), max(names, default="")
    common = next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    return tuple(name[first.rfind("_", 0, common) + 1 :] for name in names)


def _rig(content: Any, folder: Path) -> Rig:
    if not isinstance(content, Mapping):
        raise ValueError("it must be a mapping")
    if missing := _KEYS - content.keys():
        raise ValueError(f"{', '.join(sorted(missing))} is missing")
    if unknown := content.keys() - _KEYS - _OPTIONAL:
        known = ", ".join(sorted(_KEYS | _OPTIONAL))
        raise ValueError(f"{', '.join(map(str, sorted(unknown, key=str)))} is not known: it may have {known}")
    joints = tuple(map(str, content["joints"]))
    count = len(joints)
    limits = JointLimits(
        np.radians(_row(content, "lowest", count)),
        np.radians(_row(content, "highest", count)),
        np.full(count, _positive(content["speed"], "speed")),
    )
    if not (limits.lowest < limits.highest).all():
        raise ValueError("a joint's lowest angle is not below its highest")
    name, gripper, older = str(content["robot"]), content["gripper"], content.get("older")
    fingers = _texts(gripper["joints"], "joints of the gripper") if "joints" in gripper else (str(gripper["joint"]),)
    names = (*joints, *fingers)
    columns = _texts(content.get("columns", names), "columns")
    if len(columns) != len(names) or len(set(columns)) < len(names):
        raise ValueError(f"columns must be {len(names)} different names, of the joints and of the gripper's")
    cameras = content.get("cameras", {view: f"{view}_optical_frame" for view in DEFAULT_VIEWS})
    if not isinstance(cameras, Mapping):
        raise ValueError("cameras must name each view with the frame of its camera")
    if "interface" in content and (len(fingers) > 1 or "links" not in content):
        raise ValueError("a robot with an interface has links, and a gripper of one joint")
    return Rig(
        name=name,
        joints=joints,
        limits=limits,
        rest=_row(content, "rest", count),
        gripper=fingers,
        opening=_positive(gripper["opening"], "opening"),
        links=_links(content["links"], count) if "links" in content else None,
        older=older and (_version(str(older["before"])), _links(older["links"], count)),
        robot_type=str(content.get("robot_type", name)),
        columns=columns,
        cameras=dict(zip(checked_views(map(str, cameras)), map(str, cameras.values()), strict=True)),
        base_frame=str(content.get("base_frame", "robot_base")),
        tool_frame=str(content.get("tool_frame", "tool")),
        control_rate=_positive(content.get("control_rate", 20), "control_rate"),
        interface=read_interface(content["interface"], joints) if "interface" in content else None,
        urdf=_urdf(folder, str(content["urdf"])) if "urdf" in content else None,
    )


def _urdf(folder: Path, name: str) -> Path:
    """A description beside the rig, or one that comes with the stack: a rig of one's own begins as a copy."""
    return own if (own := folder / name).is_file() else share("rigs") / name


def _texts(row: Any, what: str) -> tuple[str, ...]:
    if isinstance(row, str):
        raise ValueError(f"{what} must be a list of names")
    return tuple(map(str, row))


def _row(content: Mapping[str, Any], name: str, count: int) -> Vector:
    values = np.array(content[name], float)
    if values.shape != (count,) or not np.isfinite(values).all():
        raise ValueError(f"{name} must be {count} finite numbers, one for each joint")
    return values


def _positive(value: Any, name: str) -> float:
    if not 0.0 < float(value) < np.inf:
        raise ValueError(f"{name} must be a number above 0")
    return float(value)


def _links(rows: Any, count: int) -> Vector:
    table = np.array(rows, float)
    if table.shape != (count, _LINK) or not np.isfinite(table).all():
        raise ValueError(f"links must be {count} rows of four finite numbers: a, alpha, d, offset")
    table[:, [1, 3]] = np.radians(table[:, [1, 3]])
    return table


def _version(text: str) -> tuple[int, ...]:
    found = FIRMWARE.fullmatch(text)
    if found is None:
        raise ValueError(f"'{text}' is no firmware such as S-V1.6-3")
    return tuple(map(int, found.groups()))
