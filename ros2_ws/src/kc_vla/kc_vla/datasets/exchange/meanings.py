"""The meaning of a data set's state and action: as the user says, as it names them, or by `modality.json`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.datasets.exchange.errors import ExchangeError
from kc_vla.datasets.lerobot.layout import ACTION, MODALITY, STATE, read_json
from kc_vla.datasets.lerobot.source import Source

Numbers = NDArray[np.float64]
PLACE = ("x", "y", "z")
QUATERNION, ROTATION_VECTOR, ANGLES = ("qx", "qy", "qz", "qw"), ("rx", "ry", "rz"), ("roll", "pitch", "yaw")
TURNS = (QUATERNION, ROTATION_VECTOR, ANGLES)
"""Names of a turn: a quaternion, a rotation vector (rad), or angles about the fixed axes x, y, z, one after the other
(rad)."""
_PARTS = {STATE.key: "state", ACTION.key: "action"}
_UNIT_WITHIN = 0.05


def said_names(text: str, option: str) -> tuple[str, ...]:
    """Return the names in a text like "x,y,z,qx,qy,qz,qw,gripper"; an error begins with `option`.

    Raises:
        ExchangeError: one is empty or there twice.
    """
    names = tuple(name.strip() for name in text.split(","))
    if not all(names) or len(set(names)) < len(names):
        raise ExchangeError(f"{option} {text}: each number needs a name of its own, with commas between")
    return names


def names_of(source: Source, key: str, width: int, said: Sequence[str]) -> tuple[tuple[str, ...] | None, str]:
    """Return the names of the `width` numbers of a column, and a remark where they do not come from the column.

    None where nothing says it: names that are as many as the numbers, or parts of `modality.json` that cover them.

    Args:
        source: the data set.
        key: of the column, that of the state or of the action.
        width: numbers in a row of it.
        said: names that the user has given, or none.

    Raises:
        ExchangeError: there are not as many of these as numbers.
    """
    part = _PARTS[key]
    if said:
        if len(said) != width:
            raise ExchangeError(f"{source.folder}: --{part} names {len(said)} numbers, its {part} has {width}")
        return tuple(said), ""
    names, doubt = distinct_names(source, key)
    if names is not None and len(names) == width and (width > 1 or names != (part,)):
        return names, ""
    found = _by_modality(source, key, part, width)
    if found is None:
        return None, doubt
    return found, f"{source.folder}: its {part} is taken as {','.join(found)}, by {MODALITY}: --{part} says otherwise"


def distinct_names(source: Source, key: str) -> tuple[tuple[str, ...] | None, str]:
    """Return what the numbers of a column are called, and a word where the same name or none is there for two.

    Such names are None: two joints of one name would be one.
    """
    names = source.names(key)
    if names is None or (all(name.strip() for name in names) and len(set(names)) == len(names)):
        return names, ""
    doubled = next((name for name in names if not name.strip() or names.count(name) > 1), "")
    given = f"--{_PARTS[key]} gives others" if key in _PARTS else "mend them in meta/info.json"
    return None, f"{source.folder}: {key} has the name '{doubled}' more than once: its names are not used; {given}"


def pose_of(values: Numbers, names: Sequence[str], told: str) -> tuple[Numbers, list[int]] | None:
    """Return the tool pose (T, 7) in numbers (T, D), and which columns are left; None without a pose.

    A pose is x, y, z (m) and a quaternion x, y, z, w.

    Raises:
        ExchangeError: a quaternion is none; the message begins with `told` and names the frame.
    """
    turn = next((turn for turn in TURNS if set(turn) <= set(names)), None)
    if turn is None or not set(PLACE) <= set(names):
        return None
    place, turned = (values[:, [names.index(name) for name in part]] for part in (PLACE, turn))
    if turn == QUATERNION:
        bad = np.flatnonzero(np.abs(np.linalg.norm(turned, axis=1) - 1) > _UNIT_WITHIN)
        if len(bad):
            length = np.linalg.norm(turned[bad[0]])
            raise ExchangeError(
                f"{told}, frame {bad[0]}: {', '.join(turn)} have length {length:.2f}, a quaternion has 1: "
                "say with --state what the numbers are"
            )
    else:
        turned = _quaternions(turned) if turn == ROTATION_VECTOR else _of_angles(turned)
    left = [k for k, name in enumerate(names) if name not in (*PLACE, *turn)]
    return np.column_stack([place, turned]), left


def _by_modality(source: Source, key: str, part: str, width: int) -> tuple[str, ...] | None:
    path = source.folder / MODALITY
    content = read_json(path) if path.exists() else {}
    parts: Any = content.get(part) if isinstance(content, dict) else None
    names: list[str | None] = [None] * width
    for name, row in parts.items() if isinstance(parts, dict) else ():
        begin, end = (row.get("start"), row.get("end")) if isinstance(row, dict) else (None, None)
        if type(begin) is not int or type(end) is not int or not 0 <= begin < end <= width:
            return None
        if row.get("original_key", key) == key:
            names[begin:end] = _part_names(str(name), end - begin, part)
    return None if None in names or len(set(names)) < width else tuple(str(name) for name in names)


def _part_names(name: str, count: int, part: str) -> list[str]:
    known = {
        ("position", 3): PLACE if part == "state" else ACTION.names[:3],
        ("rotation", 4): QUATERNION,
        ("rotation", 3): ROTATION_VECTOR,
    }
    if (name, count) in known:
        return list(known[name, count])
    return [name] if count == 1 else [f"{name}_{number}" for number in range(count)]


def _quaternions(vectors: Numbers) -> Numbers:
    """Return quaternions x y z w (T, 4) of rotation vectors (T, 3), rad."""
    angles = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.column_stack([vectors * 0.5 * np.sinc(angles / (2 * np.pi)), np.cos(angles / 2)])


def _of_angles(angles: Numbers) -> Numbers:
    """Return quaternions x y z w (T, 4) of turns about the fixed axes x, then y, then z, (T, 3), rad."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(angles / 2).T, np.sin(angles / 2).T
    return np.column_stack(
        [
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
            cr * cp * cy + sr * sp * sy,
        ]
    )
