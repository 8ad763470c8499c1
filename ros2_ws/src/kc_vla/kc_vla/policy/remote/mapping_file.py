"""Mapping files: YAML beside the robot files (`robots/servers/`), or a user's own, as docs/policy_servers.md tells.

```yaml
speaks: openpi                  # or groot
robots: [panda_sim]             # robots that it is for; left out: any
rate: 20                        # actions per second of the server; left out: the robot's control rate
instruction: prompt             # key of the text; groot: left out, as the server calls it
text: "{instruction}"           # what is sent there
history: 6                      # groot: moments that are sent; left out: those of the server
pictures:
  observation/image: {view: third_person, size: 224, turn: 180, channels: first}
state:
  observation/state:
    - {part: position, unit: mm}
    - {part: rotation, form: rpy, unit: deg}
    - {part: gripper, open: [0.04, -0.04], closed: [0, 0]}
actions:
  actions:
    - {part: position, how: step, axes: tool, unit: 0.05}
    - {part: rotation, how: step, form: axis_angle, unit: 0.5}
    - {part: gripper, open: -1, closed: 1, snap: true}
```
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from kc_vla.core.robot import Robot
from kc_vla.core.share import share
from kc_vla.core.untrusted import parsed_yaml, read_text
from kc_vla.policy.remote.array_columns import HOWS, KINDS, ArrayColumns
from kc_vla.policy.remote.image_format import TURNS, ImageFormat
from kc_vla.policy.remote.mapping import Key, MappingError, PolicyMapping
from kc_vla.policy.remote.rotations import FORMS, IN_RADIANS

FOLDER = "robots/servers"
_WIRES = ("openpi", "groot")
_KEYS = {"speaks", "robots", "rate", "instruction", "text", "history", "pictures", "state", "actions"}
_LENGTHS = {"m": 1.0, "cm": 0.01, "mm": 0.001}
_ANGLES = {"rad": 1.0, "deg": math.pi / 180}
_MOST_SIZE, _MOST_HISTORY, _MOST_COLUMNS, _SPACE = 4096, 64, 256, 3
_OF_PART = {
    "position": {"how", "axes", "unit", "origin"},
    "rotation": {"how", "axes", "unit", "form"},
    "joints": {"how", "unit"},
    "gripper": {"open", "closed", "snap"},
    "constant": {"values"},
}
T = TypeVar("T")


def load_mapping(name: str, robot: Robot, speaks: str, usual: str = "") -> PolicyMapping:
    """Return the mapping called so that comes with the stack, or of a YAML file of that path, for a robot and a wire.

    Args:
        name: empty: the first for this robot whose name ends with -`usual`.
        robot: the robot.
        speaks: openpi or groot.
        usual: empty: as `speaks`.

    Raises:
        MappingError: there is none, it is not understood, or it is for another robot or another wire.
    """
    known = shipped_mappings()
    name = name or _usual(known, robot, usual or speaks)
    own = name.endswith((".yaml", ".yml"))
    if not own and name not in known:
        raise MappingError(f"no mapping '{name}': there are {', '.join(known)}, or name a YAML file of your own")
    path = Path(name).expanduser() if own else known[name]
    try:
        found = _mapping(parsed_yaml(read_text(path)), path.stem, robot)
    except FileNotFoundError:
        raise MappingError(f"the mapping {path} is not there") from None
    except OSError as error:
        raise MappingError(f"the mapping {path} cannot be read: {error}") from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise MappingError(f"the mapping {path} is not understood: {error}") from error
    if found.speaks != speaks:
        raise MappingError(f"the mapping {path} is for servers that speak {found.speaks}, not {speaks}")
    return found


def shipped_mappings() -> dict[str, Path]:
    """Return the files that come with the stack, by name."""
    return {file.stem: file for file in sorted(share(FOLDER).glob("*.yaml"))}


def _usual(known: Mapping[str, Path], robot: Robot, ending: str) -> str:
    for name, path in known.items():
        if name.endswith(f"-{ending}") and robot.name in parsed_yaml(read_text(path))["robots"]:
            return name
    raise MappingError(
        f"no mapping of a '{robot.name}' for {ending} comes with the stack: there are {', '.join(known)}, or name a "
        "YAML file of your own"
    )


def _mapping(content: Any, name: str, robot: Robot) -> PolicyMapping:
    _only(_map(content, "it"), _KEYS, "it")
    robots = content.get("robots", [robot.name])
    if robot.name not in _list(robots, "robots"):
        raise ValueError(f"it is for {', '.join(map(str, robots))}: this robot is a '{robot.name}'")
    speaks = _one_of(content.get("speaks"), _WIRES, "speaks")
    pictures = dict(
        _flat(_map(content.get("pictures", {}), "pictures"), lambda entry: isinstance(entry, str) or "view" in entry)
    )
    state = dict(_flat(_map(content.get("state", {}), "state"), lambda entry: isinstance(entry, list)))
    actions = dict(_flat(_map(content["actions"], "actions"), lambda entry: isinstance(entry, list)))
    text = _text(content.get("text", "{instruction}"), "text")
    instruction = _text(content.get("instruction", ""), "instruction")
    if speaks == "openpi" and not instruction:
        raise ValueError("instruction is missing: the key of the text, mostly prompt")
    if "{instruction}" not in text:
        raise ValueError("text must have {instruction} in it")
    found = PolicyMapping(
        name=name,
        robot=robot,
        speaks=speaks,
        pictures={key: _look(entry, key, robot) for key, entry in pictures.items()},
        state={key: _parts(entry, key, robot) for key, entry in state.items()},
        actions={key: _parts(entry, key, robot) for key, entry in actions.items()},
        instruction=instruction,
        text=text,
        rate=_number(content.get("rate", robot.control_rate), "rate", above=0.0),
        history=_whole(content.get("history", 0), "history", 0, _MOST_HISTORY),
    )
    _check(found)
    return found


def _check(found: PolicyMapping) -> None:
    """Raise ValueError where the actions are not an arm's, or the state is something else than a place."""
    if any(part.how != "absolute" for parts in found.state.values() for part in parts):
        raise ValueError("a state has no how: it is where the robot is")
    if any(part.snap for parts in found.state.values() for part in parts):
        raise ValueError("a state has no snap: it is where the gripper is")
    kinds = [part.kind for parts in found.actions.values() for part in parts if part.kind != "constant"]
    if doubled := {kind for kind in kinds if kinds.count(kind) > 1}:
        raise ValueError(f"the actions have {', '.join(sorted(doubled))} more than once")
    if ("joints" in kinds) == ("position" in kinds):
        raise ValueError("the actions must have either joints or position")
    if "joints" in kinds and "rotation" in kinds:
        raise ValueError("the actions have joints and a rotation")
    if not found.pictures and not found.state:
        raise ValueError("the server gets no input: name images or the state")
    if found.speaks == "groot" and any(
        len(key) > 1 for each in (found.pictures, found.state, found.actions) for key in each
    ):
        raise ValueError("GR00T's names are one below the other: no maps within maps")


def _flat(content: Mapping[str, Any], is_entry: Callable[[Any], bool], above: Key = ()) -> list[tuple[Key, Any]]:
    """Return the entries of maps within maps, each with its names."""
    found = []
    for name, entry in content.items():
        key = (*above, _text(name, "a name"))
        if is_entry(entry):
            found.append((key, entry))
        else:
            found += _flat(_map(entry, "/".join(key)), is_entry, key)
    return found


def _look(entry: Any, key: Key, robot: Robot) -> ImageFormat:
    what = "/".join(key)
    if isinstance(entry, str):
        entry = {"view": entry}
    _only(entry, {"view", "size", "turn", "channels"}, what)
    view = _one_of(entry["view"], robot.views, f"view of {what}")
    size = entry.get("size")
    if size is not None:
        pair = size if isinstance(size, list) else [size, size]
        if len(pair) != 2:
            raise ValueError(f"size of {what} must be a number of pixels, or height and width")
        size = tuple(_whole(each, f"size of {what}", 1, _MOST_SIZE) for each in pair)
    turn = _one_of(entry.get("turn", 0), TURNS, f"turn of {what}")
    first = _one_of(entry.get("channels", "last"), ("first", "last"), f"channels of {what}") == "first"
    return ImageFormat(view, size, turn, first)


def _parts(entry: list[Any], key: Key, robot: Robot) -> tuple[ArrayColumns, ...]:
    what = "/".join(key)
    parts = tuple(_part(_map(each, f"a part of {what}"), what) for each in entry)
    if not 0 < sum(part.size(robot) for part in parts) <= _MOST_COLUMNS:
        raise ValueError(f"{what} must have 1 to {_MOST_COLUMNS} columns")
    return parts


def _part(entry: Mapping[str, Any], what: str) -> ArrayColumns:
    if "part" not in entry:
        raise ValueError(f"an entry of {what} has no part, as in {{part: joints}}: it has {_names(entry)}")
    kind = _one_of(entry["part"], KINDS, f"part of {what}")
    _only(entry, {"part"} | _OF_PART[kind], f"{kind} of {what}")
    where = f"of the {kind} of {what}"
    form = _one_of(entry.get("form", "axis_angle"), tuple(FORMS), f"form {where}")
    unit = entry.get("unit", 1.0)
    if isinstance(unit, str):
        units = _LENGTHS if kind == "position" else _ANGLES
        if unit not in units:
            raise ValueError(f"unit {where} is {unit[:60]!r}: it must be {', '.join(units)}, or a number")
        unit = units[unit]
    unit = _number(unit, f"unit {where}")
    if unit == 0.0:
        raise ValueError(f"unit {where} is 0")
    origin = _row(entry.get("origin", [0.0, 0.0, 0.0]), f"origin {where}")
    if len(origin) != _SPACE:
        raise ValueError(f"origin {where} must be three numbers, m")
    if kind == "rotation" and form not in IN_RADIANS and unit != 1.0:
        raise ValueError(f"the form {form} {where} has no unit")
    opened, closed = (
        _row(entry.get(name, default), f"{name} {where}") for name, default in (("open", 1), ("closed", 0))
    )
    if len(opened) != len(closed) or opened == closed:
        raise ValueError(f"open and closed {where} must be as many numbers, and not the same")
    return ArrayColumns(
        kind=kind,
        how=_one_of(entry.get("how", "absolute"), HOWS, f"how {where}"),
        in_tool=_one_of(entry.get("axes", "base"), ("base", "tool"), f"axes {where}") == "tool",
        unit=unit,
        origin=origin,
        form=form,
        opened=opened,
        closed=closed,
        snap=_one_of(entry.get("snap", False), (True, False), f"snap {where}"),
        constant=_row(entry.get("values", 0.0), f"values {where}"),
    )


def _one_of(value: Any, known: tuple[T, ...], what: str) -> T:
    for each in known:
        if type(value) is type(each) and value == each:
            return each
    raise ValueError(f"{what} is {str(value)[:60]!r}: it must be one of {', '.join(map(str, known))}")


def _only(content: Mapping[Any, Any], known: set[str], what: str) -> None:
    if unknown := {key: value for key, value in content.items() if key not in known}:
        raise ValueError(f"{what} has no key {_names(unknown)}: it may have {', '.join(sorted(known))}")


def _names(content: Mapping[Any, Any]) -> str:
    return ", ".join(repr(str(key)[:60]) for key in content)


def _map(value: Any, what: str) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{what} must be a mapping")
    return value


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{what} must be a list")
    return value


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{what} must be a text, not {str(value)[:60]!r}")
    return value


def _row(value: Any, what: str) -> tuple[float, ...]:
    return tuple(_number(each, what) for each in (value if isinstance(value, list) else [value]))


def _number(value: Any, what: str, above: float = -math.inf) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value <= above:
        least = "" if above == -math.inf else f" above {above:g}"
        raise ValueError(f"{what} is {str(value)[:60]!r}: it must be a number{least}")
    return float(value)


def _whole(value: Any, what: str, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"{what} is {str(value)[:60]!r}: it must be a whole number from {least} to {most}")
    return value
