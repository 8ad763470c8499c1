"""Which topics of another stack's bags are which of ours: a YAML file, `ours: theirs`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kc_vla.core.untrusted import parsed_yaml, read_text
from kc_vla.datasets.exchange.bag_output import COMPRESSED, IMAGE, JOINTS, POSE
from kc_vla.datasets.exchange.errors import ExchangeError

OURS: Mapping[str, tuple[str, ...]] = {
    "third_person/image_raw": (IMAGE, COMPRESSED),
    "wrist/image_raw": (IMAGE, COMPRESSED),
    "joint_states": (JOINTS,),
    "tool_pose": (POSE,),
    "arm/command": (JOINTS,),
}
"""The topics that can be filled, and the message types of theirs that can fill them."""


def read_topic_map(path: Path) -> dict[str, str]:
    """Their topic by ours.

    Raises:
        ExchangeError: the file cannot be read or is not as it should be.
    """
    try:
        return parse_topic_map(read_text(path), str(path))
    except (OSError, ValueError) as error:
        raise ExchangeError(f"{path} cannot be read: {error}") from error


def parse_topic_map(text: str, told: str) -> dict[str, str]:
    """Their topic by ours, out of a YAML text that an error calls `told`.

    Raises:
        ExchangeError: it is not as it should be.
    """
    try:
        content: Any = parsed_yaml(text)
    except ValueError as error:
        raise ExchangeError(f"{told} {error}") from error
    if not isinstance(content, dict):
        raise ExchangeError(
            f"{told}: a line 'ours: theirs' for each topic is wanted, as third_person/image_raw: /camera"
        )
    found: dict[str, str] = {}
    for ours, theirs in content.items():
        if ours not in OURS:
            raise ExchangeError(f"{told}: '{ours}' is none of our topics: {', '.join(OURS)}")
        if not isinstance(theirs, str) or not theirs.startswith("/") or any(c.isspace() for c in theirs):
            raise ExchangeError(f"{told}: {ours} needs the full name of a topic, as /camera/image_raw, not {theirs!r}")
        if theirs in found.values():
            raise ExchangeError(f"{told}: {theirs} stands for two of our topics")
        found[ours] = theirs
    if "third_person/image_raw" not in found:
        raise ExchangeError(f"{told}: third_person/image_raw is missing: without it there are no frames")
    return found
