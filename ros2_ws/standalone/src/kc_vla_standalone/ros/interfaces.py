"""Message, service and action classes by their name, and values of their fields from YAML."""

from __future__ import annotations

import array
import importlib
from collections.abc import Mapping
from typing import Any

import yaml

from ..errors import UsageError

_KINDS = {"msg": "topic types are", "srv": "service types are", "action": "action types are"}


def interface_class(name: str, kind: str) -> Any:
    """Return the class of `package/kind/Type` (or `package/Type`); UsageError if it is not installed."""
    parts = name.split("/")
    if len(parts) == 2:
        parts = [parts[0], kind, parts[1]]
    if len(parts) != 3 or parts[1] != kind or not all(parts):
        raise UsageError(f"'{name}' is no type name; {_KINDS[kind]} written like 'package/{kind}/Name'")
    try:
        return getattr(importlib.import_module(f"{parts[0]}.{kind}"), parts[2])
    except (ImportError, AttributeError) as error:
        raise UsageError(f"unknown type '{name}': it is not installed here, or misspelt") from error


def message_from_yaml(message_class: Any, text: str, now: Any = None) -> Any:
    """Return a message with the fields of a YAML dictionary; UsageError names the field that does not fit.

    `now` is the time message that stands for 'now' in a time field and for 'auto' in a header.
    """
    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise UsageError(f"the values are not valid YAML: {' '.join(str(error).split())}") from error
    message = message_class(check_fields=True)
    if values is None:
        return message
    if not isinstance(values, Mapping):
        raise UsageError(f"the values have to be a dictionary such as '{{data: 1}}', got '{text}'")
    set_fields(message, values, now)
    return message


def set_fields(message: Any, values: Mapping[str, Any], now: Any = None, path: str = "") -> None:
    """Set the fields of a message from a dictionary; UsageError names the field that does not fit."""
    types = message.get_fields_and_field_types()
    for name, value in values.items():
        field = f"{path}{name}"
        if name not in types:
            raise UsageError(f"the type has no field '{field}' (it has: {', '.join(types)})")
        try:
            setattr(message, name, _field_value(getattr(message, name), types[name], value, now, field))
        except (AssertionError, TypeError, ValueError, OverflowError) as error:
            raise UsageError(f"field '{field}' is a {types[name]}, which '{value}' is not: {error}") from error


def _field_value(current: Any, type_name: str, value: Any, now: Any, field: str) -> Any:
    if hasattr(current, "get_fields_and_field_types"):
        return _nested(type(current), type_name, value, now, field)
    element = _element_type(type_name)
    if element is None:
        return _scalar(type(current), value)
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        raise TypeError("a list is wanted")
    if "/" in element:
        item_class = interface_class(element, "msg")
        return [_nested(item_class, element, item, now, f"{field}[{i}]") for i, item in enumerate(value)]
    if isinstance(current, array.array):
        return array.array(current.typecode, value)
    if element == "octet":
        return [item if isinstance(item, bytes) else bytes([item]) for item in value]
    if element in ("float", "double"):
        return [float(item) for item in value]
    return list(value)


def _nested(message_class: Any, type_name: str, value: Any, now: Any, field: str) -> Any:
    if now is not None and value == "now" and type_name == "builtin_interfaces/Time":
        return now
    # Generated classes check the types of their fields only when asked to.
    message = message_class(check_fields=True)
    if now is not None and value == "auto" and type_name == "std_msgs/Header":
        message.stamp = now
        return message
    if not isinstance(value, Mapping):
        raise TypeError("a dictionary is wanted")
    set_fields(message, value, now, f"{field}.")
    return message


def _element_type(type_name: str) -> str | None:
    """Return the type of the elements of an array or sequence type, None for a scalar."""
    if type_name.startswith("sequence<"):
        return type_name.removeprefix("sequence<").removesuffix(">").split(",")[0]
    if type_name.endswith("]"):
        return type_name[: type_name.rindex("[")]
    return None


def _scalar(kind: type, value: Any) -> Any:
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind is bytes and isinstance(value, int):
        return bytes([value])
    if kind is str and not isinstance(value, str):
        # As upstream: what YAML takes for a number or a truth value is text in a string field.
        return str(value)
    return value
