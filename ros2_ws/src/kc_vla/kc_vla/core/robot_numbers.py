"""Numbers of a robot file, in their units: what is no number, or can only be in another unit, is refused in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.deprecation import say_once

Vector = NDArray[np.float64]
_LINK = 4
_TURN = 2 * math.pi
_FAR = 1.0
"""rad by which a home pose may be outside of limits that a person has narrowed; further out it is refused."""
_HARDLY = math.radians(1.0)
"""rad by which a home pose may be outside without a word: an arm can be parked at the limit instead."""
_QUICKEST = 1000.0
"""Hz of control steps."""
_FASTEST = 30.0
"""rad/s."""
_WIDEST = 1.0
"""m of a gripper's opening."""
_HARDEST, _ROUGHEST = 500.0, 50_000.0
"""rad/s2, rad/s3."""
_FARTHEST = 10.0
"""m of a bound of the workspace."""
_MOST_TURNS = 10
"""A joint turns no further from its zero than so many turns."""
LONGEST = 5.0
"""m of a link."""
_LARGEST = 10**15
"""A whole number beyond it is none that can be meant, and may be none that a float can be."""
_DIGITS = 2e-3
"""rad to which a right angle is rounded in a file."""
ANGLES = {"rad": 1.0, "degrees": math.pi / 180.0}


def text_of(value: Any, name: str) -> str:
    """Return a name, also one that YAML takes for a number; raise ValueError for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"{name} is {value!r}: a name is wanted, in quotes where YAML takes it for something else")
    if not (text := str(value)).strip() or not text.isprintable():
        raise ValueError(f"{name} is {text!r}: a name is wanted, without line ends and control characters")
    return text


def number(value: Any, name: str) -> float:
    """Return a finite number; raise ValueError for anything else, also true and "0.5"."""
    if isinstance(value, str):
        raise ValueError(f"{name} is the text {value!r}: write a number, such as 0.5 or 1.0e-3, without quotes")
    if type(value) is int and abs(value) > _LARGEST:
        raise ValueError(f"{name} is too large a number")
    if type(value) not in (int, float) or not math.isfinite(value):
        raise ValueError(f"{name} is {value!r}: a finite number is wanted")
    return float(value)


def row(content: Mapping[str, Any], name: str, count: int) -> Vector:
    """Return a list of finite numbers (N,); raise ValueError for anything else."""
    values = content[name]
    if not isinstance(values, list | tuple) or len(values) != count:
        raise ValueError(f"{name} must be {count} finite numbers, one for each joint")
    return np.array([number(value, f"{name} of joint {k}") for k, value in enumerate(values, 1)])


def positive(value: Any, name: str, most: float = math.inf, advice: str = "") -> float:
    """Return a finite number above 0; raise ValueError for anything else.

    So it does for a number above `most`, which the `advice` explains.
    """
    if (found := number(value, name)) <= 0.0:
        raise ValueError(f"{name} must be a number above 0")
    if found > most:
        raise ValueError(f"{name} is {found:g}, which is too much{advice}")
    return found


def speed_of(value: Any, name: str = "speed") -> float:
    """Return a velocity limit, rad/s; raise ValueError for anything else."""
    return positive(value, name, _FASTEST, ": it is in rad/s: did you give degrees per second?")


def acceleration_of(value: Any, name: str) -> float:
    """Return an acceleration limit, rad/s2; raise ValueError for anything else."""
    return positive(value, name, _HARDEST, ": it is in rad/s2: did you give degrees?")


def jerk_of(value: Any, name: str) -> float:
    """Return a jerk limit, rad/s3; raise ValueError for anything else."""
    return positive(value, name, _ROUGHEST, ": it is in rad/s3: did you give degrees?")


def rate_of(value: Any) -> float:
    """Return the control rate, Hz; raise ValueError for anything else."""
    return positive(value, "control_rate", _QUICKEST, ": it is in Hz")


def width_of(value: Any, name: str) -> float:
    """Return a gripper's width, m; raise ValueError for anything else."""
    return positive(value, f"{name} of the gripper", _WIDEST, ": it is in m: did you give mm?")


def box_side(value: Any, name: str) -> tuple[float, float]:
    """Return lower and upper bound of a workspace, m; raise ValueError for anything else."""
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise ValueError(f"{name} must be [lower, upper], m")
    low, high = (number(each, name) for each in value)
    if low >= high:
        raise ValueError(f"{name} is empty: {low:g} is not below {high:g}")
    if max(abs(low), abs(high)) > _FARTHEST:
        raise ValueError(f"{name} reaches {max(abs(low), abs(high)):g} m: it is in m: did you give mm?")
    return low, high


def check_range(lower: float, upper: float, name: str, described: tuple[float | None, float | None]) -> None:
    """Raise ValueError for limits of a joint, rad, that cannot be meant.

    Args:
        lower, upper: that count.
        name: of the joint, in words.
        described: those of the URDF, None for each that it does not have.
    """
    if lower >= upper:
        raise ValueError(f"{name}: lower {lower:g} is not below upper {upper:g}")
    if max(abs(lower), abs(upper)) <= _TURN:
        return
    low, high = described
    within = low is not None and high is not None and max(abs(low), abs(high)) <= _TURN
    if within or max(abs(lower), abs(upper)) > _MOST_TURNS * _TURN:
        ends = f"{math.radians(lower):.4f} to {math.radians(upper):.4f}"
        raise ValueError(f"{name}: {lower:g} to {upper:g} rad is too wide: did you give degrees? They are {ends} rad")


def check_home(home: float, lower: float, upper: float, name: str, meant: float | None) -> None:
    """Raise ValueError for a home pose of a joint that cannot be meant; report one that the arm cannot be parked at.

    Args:
        home: home angle of the joint, rad.
        lower, upper: limits of the joint, rad.
        name: name of the home angle, for messages.
        meant: the value in rad if it was given in degrees; None if it cannot be.
    """
    if lower - _FAR <= home <= upper + _FAR:
        if not lower - _HARDLY <= home <= upper + _HARDLY:
            limits = f"{lower:.4f} to {upper:.4f} rad"
            say_once(f"robot file: {name} is {home:.4f} rad, outside of {limits}: the arm cannot be parked there")
        return
    said, low, high = (math.degrees(value) for value in (home, lower, upper))
    why = f"{name} is {said:.0f} degrees, out of its limits {low:.0f} to {high:.0f}"
    if meant is not None and lower - _FAR <= meant <= upper + _FAR:
        why += f": it is in rad, did you mean {math.degrees(meant):g} degrees, which are {meant:.4f} rad?"
    raise ValueError(why)


def joint_angles(content: Mapping[str, Any], count: int) -> tuple[Vector, Vector, Vector]:
    """Lower and upper limits and home pose (N,), rad. Without `angles` limits are in degrees and `rest` is in rad.

    Raises:
        ValueError: a value is no number, can only be in another unit, or cannot be.
    """
    unit = content.get("angles")
    if unit is not None and unit not in tuple(ANGLES):
        raise ValueError(f"angles is {unit!r}: it must be {' or '.join(ANGLES)}, the unit of lowest, highest and rest")
    scale = ANGLES[unit or "degrees"]
    lowest, highest = row(content, "lowest", count) * scale, row(content, "highest", count) * scale
    if (wrong := np.flatnonzero(lowest >= highest)).size:
        raise ValueError(f"the lowest angle is not below the highest of joint {', '.join(map(str, wrong + 1))}")
    if (highest - lowest).max() <= _TURN * ANGLES["degrees"]:
        raise ValueError("lowest and highest leave no joint 7 degrees: did you give rad? Say 'angles: rad' then")
    if unit == "rad" and max(np.abs(lowest).max(), np.abs(highest).max()) > 10 * _TURN:
        raise ValueError("lowest or highest is more than ten turns: did you give degrees? Say 'angles: degrees' then")
    rest = row(content, "rest", count)
    home = rest * ANGLES[unit or "rad"]
    for k, (at, low, high) in enumerate(zip(home.tolist(), lowest.tolist(), highest.tolist(), strict=True)):
        check_home(at, low, high, f"rest of joint {k + 1}", None if unit else math.radians(rest[k]))
    return lowest, highest, home


def links_of(rows: Any, count: int) -> Vector:
    """Return the table of links (N, 4): m, rad, m, rad, out of a, alpha, d and offset in m and degrees.

    Raises:
        ValueError: it is none, or can only be in another unit.
    """
    wanted = f"links must be {count} rows of four finite numbers: a, alpha, d, offset"
    if not isinstance(rows, list | tuple) or len(rows) != count:
        raise ValueError(wanted)
    table = np.zeros((count, _LINK))
    for k, cells in enumerate(rows, 1):
        if not isinstance(cells, list | tuple) or len(cells) != _LINK:
            raise ValueError(wanted)
        table[k - 1] = [number(cell, f"links of joint {k}") for cell in cells]
    lengths, angles = table[:, [0, 2]], table[:, [1, 3]]
    if np.abs(lengths).max() > LONGEST:
        raise ValueError(f"links have a length of {np.abs(lengths).max():g} m: did you give mm?")
    for angle in angles.ravel().tolist():
        if angle and abs(angle) <= math.pi + _DIGITS and _is_right(angle):
            raise ValueError(
                f"links have an angle of {angle:g} degrees, which can only be rad: write {_degrees(angle)}"
            )
    table[:, [1, 3]] = np.radians(angles)
    return table


def _is_right(angle: float) -> bool:
    return abs(angle / (math.pi / 2) - round(angle / (math.pi / 2))) < _DIGITS and abs(angle) > 1.0


def _degrees(angle: float) -> str:
    return f"{round(angle / (math.pi / 2)) * 90:d}"
