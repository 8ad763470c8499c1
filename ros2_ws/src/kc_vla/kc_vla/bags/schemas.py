"""Message definitions for bags: the .msg text of a type with all that it depends on, and its type hash.

Both are found in the share folders of AMENT_PREFIX_PATH, where every interface package installs them, so that
a bag carries its own description and is read anywhere. Where ROS 2 is not installed, the definitions that come with
this package serve: those of the topics that an imported episode has. They have no hashes.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kc_vla.bags.errors import BagWriteError

SHIPPED = Path(__file__).parent / "interfaces"
"""The prefix that comes with this package: the .msg files of ROS 2 Jazzy and of kc_vla_msgs, as they are."""

_SEPARATOR = "=" * 80
_TYPE = re.compile(r"[A-Za-z]\w*/[a-z]+/[A-Za-z]\w*", re.ASCII)
_PRIMITIVE = re.compile(r"bool|byte|char|float(32|64)|u?int(8|16|32|64)|w?string")
_FIELD = re.compile(r"^\s*([A-Za-z]\w*(?:/\w+){0,2})(?:<=\d+)?(?:\[[^\]]*\])?\s+[A-Za-z]\w*")


@dataclass(frozen=True)
class Schema:
    """Description of one message type.

    Attributes:
        type: full name, e.g. "kc_vla_msgs/msg/ArmCommand".
        text: its definition followed by those of all types it uses.
        type_hash: "RIHS01_..." as the generators wrote it; empty where they wrote none.
        encoding: of the text, in MCAP's words: "ros2msg", or in third-party bags "ros2idl"; "" without a text.
    """

    type: str
    text: str
    type_hash: str
    encoding: str = "ros2msg"


def same_definition(one: Schema, other: Schema) -> bool:
    """Return whether two schemas of a type have the same fields, by hashes or texts; also where one has neither."""
    if one.type_hash and other.type_hash:
        return one.type_hash == other.type_hash
    return not (one.text and other.text) or _bare(one.text) == _bare(other.text)


def prefixes_from_environment() -> list[Path]:
    """Return the folders of AMENT_PREFIX_PATH in order, and last what comes with this package."""
    return [*(Path(p) for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p), SHIPPED]


def collect_schema(message_type: str, prefixes: Sequence[Path] | None = None) -> Schema:
    """Return the schema of `message_type`, e.g. "sensor_msgs/msg/Image".

    Args:
        message_type: full name of the type.
        prefixes: install prefixes to look in; by default those of AMENT_PREFIX_PATH, then `SHIPPED`.

    Raises:
        BagWriteError: the type, or one that it uses, is not installed in any prefix.
    """
    prefixes = prefixes_from_environment() if prefixes is None else prefixes
    texts: dict[str, str] = {}
    waiting = [message_type]
    while waiting:
        name = waiting.pop(0)
        if name not in texts:
            texts[name] = _find(name, "msg", prefixes).read_text(encoding="utf-8")
            waiting += _used_types(name, texts[name])
    parts = [texts.pop(message_type).strip()]
    for name, text in texts.items():
        package, _, short = name.split("/")
        parts.append(f"{_SEPARATOR}\nMSG: {package}/{short}\n{text.strip()}")
    return Schema(message_type, "\n".join(parts) + "\n", _type_hash(message_type, prefixes))


def installed_schema(message_type: str) -> Schema | None:
    """Return the schema of `message_type` as it is installed here; None where it, or a type that it uses, is not."""
    try:
        return collect_schema(message_type)
    except BagWriteError:
        return None


def _bare(text: str) -> list[str]:
    """Return the lines of a definition without comments and spacing."""
    lines = (re.sub(r"\s+", " ", line.split("#", 1)[0]).strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("===")]


def _used_types(owner: str, text: str) -> list[str]:
    """Return the full names of the message types of the fields in `text`, the definition of `owner`."""
    used = []
    for line in text.splitlines():
        field = _FIELD.match(line.split("#", 1)[0])
        if field is None or _PRIMITIVE.fullmatch(field[1]):
            continue
        parts = field[1].split("/")
        package = parts[0] if len(parts) > 1 else owner.split("/")[0]
        used.append(f"{package}/msg/{parts[-1]}")
    return used


def _find(message_type: str, suffix: str, prefixes: Sequence[Path]) -> Path:
    parts = message_type.split("/")
    if not _TYPE.fullmatch(message_type):  # a bag may say anything; what it says becomes a path
        raise BagWriteError(f"'{message_type}' is no message type: write package/msg/Name")
    for prefix in prefixes:
        path = prefix / "share" / parts[0] / parts[1] / f"{parts[2]}.{suffix}"
        if path.is_file():
            return path
    raise BagWriteError(
        f"no definition of {message_type} in AMENT_PREFIX_PATH: install {parts[0]} and source its environment"
    )


def _type_hash(message_type: str, prefixes: Sequence[Path]) -> str:
    try:
        description = json.loads(_find(message_type, "json", prefixes).read_text(encoding="utf-8"))
    except BagWriteError:
        return ""  # older generators write no description; players then match by name alone
    for entry in description["type_hashes"]:
        if entry["type_name"] == message_type:
            return str(entry["hash_string"])
    return ""
