"""A robot as data: its joints, limits, gripper and links, read from one YAML file (`rigs/`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.errors import StackError
from kc_vla.core.share import share
from kc_vla.core.untrusted import parsed_yaml, read_text

Vector = NDArray[np.float64]
FIRMWARE = re.compile(r"S-V(\d+)\.(\d+)-(\d+)")
_KEYS = {"robot", "joints", "lowest", "highest", "speed", "rest", "gripper", "links"}
_OPTIONAL = {"older"}
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
    """An arm of N joints with a gripper.

    Attributes:
        name: of the robot.
        joints: their names.
        limits: of the joints.
        rest: how the arm lies by itself without power (N,), rad.
        gripper: name of its joint.
        opening: of the gripper when it is wide open, m.
        links: modified Denavit-Hartenberg table (Craig): a(i-1) m, alpha(i-1) rad, d m, offset of theta rad, (N, 4).
        older: links of arms whose firmware is older, and the first firmware that is not; None where all are alike.
    """

    name: str
    joints: tuple[str, ...]
    limits: JointLimits
    rest: Vector
    gripper: str
    opening: float
    links: Vector
    older: tuple[tuple[int, ...], Vector] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Columns of joint positions: the joints, rad, and the gripper's opening, m."""
        return (*self.joints, self.gripper)

    def links_of(self, firmware: str) -> Vector:
        """The links of an arm with that firmware, e.g. "S-V1.8-5"; as `links` (N, 4)."""
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
        return _rig(content)
    except (KeyError, TypeError, ValueError) as error:
        raise RigError(f"the rig {path} is not understood: {error}") from error


def _rig(content: Any) -> Rig:
    if not isinstance(content, Mapping):
        raise ValueError("it must be a mapping")
    if missing := _KEYS - content.keys():
        raise ValueError(f"{', '.join(sorted(missing))} is missing")
    if unknown := content.keys() - _KEYS - _OPTIONAL:
        raise ValueError(f"{', '.join(map(str, sorted(unknown, key=str)))} is not known")
    joints = tuple(map(str, content["joints"]))
    count = len(joints)
    limits = JointLimits(
        np.radians(_row(content, "lowest", count)),
        np.radians(_row(content, "highest", count)),
        np.full(count, _positive(content["speed"], "speed")),
    )
    if not (limits.lowest < limits.highest).all():
        raise ValueError("a joint's lowest angle is not below its highest")
    gripper = content["gripper"]
    older = content.get("older")
    return Rig(
        str(content["robot"]),
        joints,
        limits,
        _row(content, "rest", count),
        str(gripper["joint"]),
        _positive(gripper["opening"], "opening"),
        _links(content["links"], count),
        older and (_version(str(older["before"])), _links(older["links"], count)),
    )


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
