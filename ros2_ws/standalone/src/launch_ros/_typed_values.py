"""Types of parameter values: what a text becomes, and what is allowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args, get_origin

import yaml

ParameterScalar = bool | int | float | str
ParameterValueType = ParameterScalar | tuple[ParameterScalar, ...]

_SCALARS = (bool, int, float, str)


def typed_by_yaml(text: str, name: str) -> ParameterValueType:
    """Return the value that YAML sees in `text`; TypeError for what no ROS parameter can hold."""
    value = yaml.safe_load(text)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return uniform(value, name)
    if type(value) not in _SCALARS:
        raise TypeError(
            "Allowed value types are bytes, bool, int, float, str, Sequence[bool], Sequence[int], "
            f"Sequence[float], Sequence[str]. Got {type(value)} for parameter '{name}' from '{text}'. If the "
            "parameter is meant to be a string, wrap it in ParameterValue(value, value_type=str)"
        )
    result: ParameterScalar = value
    return result


def uniform(values: Sequence[Any], name: str) -> tuple[ParameterScalar, ...]:
    """Return the values of an array parameter; TypeError unless they are of one scalar type."""
    kinds = {type(value) for value in values}
    if len(kinds) != 1 or not kinds <= set(_SCALARS):
        raise TypeError(
            "Expected a non-empty sequence, with items of uniform type. Allowed sequence item types are bool, "
            f"int, float, str. Got {list(values)!r} for parameter '{name}'"
        )
    return tuple(values)


def coerced(text: str, value_type: Any, name: str) -> ParameterValueType:
    """Return `text` as `value_type`: a scalar type, `List[scalar]`, or None for what YAML sees in it."""
    if value_type is None:
        return typed_by_yaml(text, name)
    if get_origin(value_type) is list:
        (item_type,) = get_args(value_type)
        items = yaml.safe_load(text)
        if not isinstance(items, list):
            raise ValueError(f"parameter '{name}' has to be a list, got '{text}'")
        return tuple(_as_scalar(item, item_type, text, name) for item in items)
    if value_type is str:
        return text
    return _as_scalar(yaml.safe_load(text), value_type, text, name)


def _as_scalar(value: Any, wanted: type, text: str, name: str) -> ParameterScalar:
    if wanted is float and type(value) is int:
        return float(value)
    if wanted not in _SCALARS or type(value) is not wanted:
        raise ValueError(f"parameter '{name}' has to be {getattr(wanted, '__name__', wanted)}, got '{text}'")
    result: ParameterScalar = value
    return result
