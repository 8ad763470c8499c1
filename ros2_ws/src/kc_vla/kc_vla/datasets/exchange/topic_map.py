"""Which topics of another stack's bags are which of ours: a YAML file, `ours: theirs`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kc_vla.core.topics import image_topic, view_on
from kc_vla.core.untrusted import parsed_yaml, read_text
from kc_vla.core.views import DEFAULT_VIEWS, in_usual_order
from kc_vla.datasets.exchange.bag_output import COMPRESSED, IMAGE, JOINTS, POSE
from kc_vla.datasets.exchange.errors import ExchangeError

OURS: Mapping[str, tuple[str, ...]] = {
    "joint_states": (JOINTS,),
    "tool_pose": (POSE,),
    "arm/command": (JOINTS,),
}
"""The topics that can be filled beside those of the views, and the message types of theirs that can fill them."""
_PICTURES = (IMAGE, COMPRESSED)
_JOINT_NAMES = "joint_names"

JointNames = Mapping[str, str] | Sequence[str]
"""Our names of joints by theirs, or the names of all joints where their messages have none."""


class TopicMap(dict[str, str]):
    """Their topic by ours; those of the views come first, the one whose images are the frames before the others.

    Attributes:
        joint_names: how joints are called, where their messages do not say, or say otherwise than ours.
    """

    joint_names: JointNames = ()


def kinds_for(ours: str) -> tuple[str, ...]:
    """Return the types of messages that can fill a topic of ours."""
    return OURS.get(ours, _PICTURES)


def views_of(topics: Iterable[str]) -> tuple[str, ...]:
    """Return the views that are filled where these topics of ours are, the one whose images are the frames first."""
    return in_usual_order(view for topic in topics if (view := view_on(topic)))


def read_topic_map(path: Path) -> TopicMap:
    """Read which topics of theirs are which of ours, and how joints are called.

    Raises:
        ExchangeError: the file cannot be read or is not as it should be.
    """
    try:
        return parse_topic_map(read_text(path), str(path))
    except (OSError, ValueError) as error:
        raise ExchangeError(f"{path} cannot be read: {error}") from error


def parse_topic_map(text: str, told: str) -> TopicMap:
    """Return their topic by ours, as `read_topic_map`, out of a YAML text that an error calls `told`.

    Raises:
        ExchangeError: it is not as it should be.
    """
    try:
        content: Any = parsed_yaml(text)
    except ValueError as error:
        raise ExchangeError(f"{told} {error}") from error
    if not isinstance(content, dict):
        raise ExchangeError(
            f"{told}: a line 'ours: theirs' for each topic is wanted, such as third_person/image_raw: /camera"
        )
    found: dict[str, str] = {}
    called = _joint_names(content.pop(_JOINT_NAMES, []), told)
    for ours, theirs in content.items():
        if ours not in OURS and ours != image_topic(view_on(str(ours))):
            raise ExchangeError(f"{told}: '{ours}' is none of our topics: <view>/image_raw, {', '.join(OURS)}")
        if not isinstance(theirs, str) or not theirs.startswith("/") or any(c.isspace() for c in theirs):
            raise ExchangeError(f"{told}: {ours} needs the full name of a topic, as /camera/image_raw, not {theirs!r}")
        if theirs in found.values():
            raise ExchangeError(f"{told}: {theirs} stands for two of our topics")
        found[ours] = theirs
    if not (views := views_of(found)):
        missing = f"{image_topic(DEFAULT_VIEWS[0])}, or that of another view"
        raise ExchangeError(f"{told}: {missing}, is missing: without it there are no frames")
    pictures = {topic: found[topic] for topic in map(image_topic, views)}
    topics = TopicMap(pictures | found)
    topics.joint_names = called
    return topics


def _joint_names(content: Any, told: str) -> JointNames:
    """Return what a file says of the names of joints."""
    names = list(content.values()) if isinstance(content, dict) else content
    texts = [*names, *content] if isinstance(names, list) else [None]
    if not all(isinstance(name, str) and name for name in texts) or len(set(names)) < len(names):
        raise ExchangeError(
            f"{told}: {_JOINT_NAMES} needs a list of different names, as [joint1, joint2], or ours by theirs, as "
            "{joint7: gripper}"
        )
    return dict(content) if isinstance(content, dict) else tuple(names)
