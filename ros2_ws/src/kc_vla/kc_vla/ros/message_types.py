"""Message types by their names: those of a bag, and those that a user has recorded beside the stack's."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

from rclpy.exceptions import InvalidTopicNameException
from rclpy.validate_full_topic_name import validate_full_topic_name

_NAME = re.compile(r"([a-z][a-z0-9_]*)/(?:msg/)?([A-Z]\w*)", re.ASCII)


class UnknownTypeError(ValueError):
    """Nothing here knows a message type; the text says what to do."""


def message_class(name: str) -> Any:
    """Return the class of a type, e.g. sensor_msgs/msg/Image.

    Raises:
        UnknownTypeError: nothing here knows it.
    """
    try:
        if not (parts := _NAME.fullmatch(name)):
            raise ValueError
        found = getattr(import_module(f"{parts[1]}.msg"), parts[2])
        found.get_fields_and_field_types()
        return found
    except (ImportError, AttributeError, ValueError):
        raise UnknownTypeError(f"message type {name} is not known here: build its package") from None


def type_name(kind: type) -> str:
    """Return the name of a message class, e.g. sensor_msgs/msg/Image."""
    return f"{kind.__module__.split('.')[0]}/msg/{kind.__name__}"


def named_topics(text: str) -> dict[str, Any]:
    """Return topics and their classes from a text such as "tick std_msgs/msg/Empty".

    A comma and a space separate several.

    Raises:
        ValueError: it is not of this form, or a type is not known here.
    """
    topics: dict[str, Any] = {}
    for row in filter(None, map(str.strip, text.split(","))):
        words = row.split()
        try:
            topic, kind = words
            validate_full_topic_name("/" + topic.removeprefix("/"))
        except (ValueError, InvalidTopicNameException):
            raise ValueError(f"'{row}' is no topic and its type, such as 'tick std_msgs/msg/Empty'") from None
        topics[topic] = message_class(kind)
    return topics
