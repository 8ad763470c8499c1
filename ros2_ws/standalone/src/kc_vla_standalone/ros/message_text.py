"""Messages as text: YAML as `ros2 topic echo` prints it, and single fields of them."""

from __future__ import annotations

import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import yaml

from ..errors import UsageError


@dataclass(frozen=True)
class TextOptions:
    """What of a message to show: at most `truncate_length` elements or characters (None: all)."""

    truncate_length: int | None = None
    no_arrays: bool = False
    no_strings: bool = False
    flow_style: bool = False


def message_yaml(message: Any, options: TextOptions = TextOptions()) -> str:
    """Return a message, or the value of a field, as YAML without a newline at its end."""
    text = yaml.dump(
        plain(message, options),
        default_flow_style=options.flow_style,
        sort_keys=False,
        allow_unicode=True,
        width=float("inf"),
    )
    return text.removesuffix("\n").removesuffix("\n...")


def message_csv(message: Any, options: TextOptions = TextOptions()) -> str:
    """Return the values of a message, joined by commas."""
    return ",".join(str(value) for value in _leaves(plain(message, options)))


def plain(value: Any, options: TextOptions = TextOptions()) -> Any:
    """Return a message as dictionaries, lists and scalars, in the order of its fields."""
    if hasattr(value, "get_fields_and_field_types"):
        fields = value.get_fields_and_field_types()
        return {name: _plain_field(getattr(value, name), fields[name], options) for name in fields}
    return _plain_field(value, type(value).__name__, options)


def field_of(message: Any, expression: str) -> Any:
    """Return the part of a message that `a.b[2].c` names; UsageError if there is no such part."""
    value = message
    for name in expression.replace("[", ".[").split("."):
        try:
            value = value[int(name[1:-1])] if name.startswith("[") else getattr(value, name)
        except (AttributeError, IndexError, ValueError, TypeError) as error:
            raise UsageError(f"the message has no field '{expression}' ('{name}' is not there)") from error
    return value


def _plain_field(value: Any, type_name: str, options: TextOptions) -> Any:
    if hasattr(value, "get_fields_and_field_types"):
        return plain(value, options)
    if isinstance(value, str | bytes):
        return _plain_text(value, type_name, options)
    if isinstance(value, bool | int | float):
        return value
    if options.no_arrays:
        return f"<{type_name.split('<')[0]} type: {type_name}, length: {len(value)}>"
    limit = options.truncate_length
    cut = limit is not None and len(value) > limit
    items = [_plain_item(item, options) for item in (value[:limit] if cut else value)]
    return [*items, "..."] if cut else items


def _plain_item(item: Any, options: TextOptions) -> Any:
    if hasattr(item, "item"):  # a scalar of numpy, from an array of fixed size
        return item.item()
    return _plain_field(item, type(item).__name__, options)


def _plain_text(value: str | bytes, type_name: str, options: TextOptions) -> Any:
    if isinstance(value, bytes):
        return value[0] if len(value) == 1 else list(value)
    if options.no_strings:
        return f"<string length: <{len(value)}>>"
    limit = options.truncate_length
    return value if limit is None or len(value) <= limit else value[:limit] + "..."


def _leaves(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list | array.array):
        yield value
        return
    for item in value:
        yield from _leaves(item)
