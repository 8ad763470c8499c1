"""The `parameters` of a node: dictionaries and files, evaluated in a launch context."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from launch._evaluation import evaluate_text
from launch.substitution import Substitution

from ._typed_values import ParameterValueType, typed_by_yaml, uniform
from .parameter_descriptions import Parameter, ParameterFile, ParameterValue

if TYPE_CHECKING:
    from launch.launch_context import LaunchContext

EvaluatedParameters = dict[str, ParameterValueType] | Path | tuple[str, ParameterValueType]


def evaluate_parameters(context: LaunchContext, parameters: Sequence[Any]) -> list[EvaluatedParameters]:
    """Return dictionaries with flat names, paths of files, and (name, value) pairs, in order.

    TypeError and ValueError name the parameter whose value is not allowed.
    """
    return [_evaluate_one(context, entry) for entry in parameters]


def check_parameters(parameters: Any) -> list[Any]:
    """Return the parameters of a node as a list; TypeError if they are not a list."""
    if isinstance(parameters, str | Mapping) or not isinstance(parameters, Sequence):
        raise TypeError(f"the parameters of a node are a list of files and dictionaries, got {parameters!r}")
    return list(parameters)


def _evaluate_one(context: LaunchContext, entry: Any) -> EvaluatedParameters:
    if isinstance(entry, Mapping):
        return evaluate_parameter_dict(context, entry)
    if isinstance(entry, ParameterFile):
        return entry.evaluate(context)
    if isinstance(entry, Parameter):
        return entry.evaluate(context)
    return Path(entry if isinstance(entry, os.PathLike) else evaluate_text(context, entry))


def evaluate_parameter_dict(
    context: LaunchContext, parameters: Mapping[Any, Any], prefix: str = ""
) -> dict[str, ParameterValueType]:
    """Return the values by name; nested dictionaries become names with dots."""
    result: dict[str, ParameterValueType] = {}
    for key, value in parameters.items():
        name = prefix + evaluate_text(context, key)
        if isinstance(value, Mapping):
            result |= evaluate_parameter_dict(context, value, name + ".")
        else:
            result[name] = _evaluate_value(context, name, value)
    return result


def _evaluate_value(context: LaunchContext, name: str, value: Any) -> ParameterValueType:
    """Return a value evaluated as upstream.

    Plain values keep their type; what holds a substitution is text that YAML types.
    """
    if isinstance(value, ParameterValue):
        return value.evaluate(context, name)
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Substitution):
        return typed_by_yaml(evaluate_text(context, value), name)
    if not isinstance(value, Sequence):
        raise TypeError(f"parameter '{name}' has a value of type {type(value).__name__}, which ROS does not know")
    if any(isinstance(item, Substitution) for item in value):
        if all(isinstance(item, str | Substitution | list | tuple) for item in value):
            # Text and substitutions side by side make one text; an array of them has a list around each item.
            return typed_by_yaml(evaluate_text(context, value), name)
        raise TypeError(f"parameter '{name}' mixes substitutions with plain values: {value!r}")
    items: list[Any] = [
        typed_by_yaml(evaluate_text(context, item), name) if isinstance(item, list | tuple) else item for item in value
    ]
    if {type(item) for item in items} == {int, float}:
        items = [float(item) for item in items]
    return uniform(items, name)
