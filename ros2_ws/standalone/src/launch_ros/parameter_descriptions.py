"""Descriptions of parameters and parameter files, for the `parameters` of nodes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from launch._evaluation import evaluate_text
from launch.conditions import evaluate_condition_expression
from launch.some_substitutions_type import SomeSubstitutionsType
from launch.substitution import Substitution
from launch.substitutions import SubstitutionFailure
from launch.utilities import normalize_to_list_of_substitutions

from ._substitutions_in_text import perform_substitutions_in_text
from ._temporary_files import write_temporary_parameters
from ._typed_values import ParameterValueType, coerced

if TYPE_CHECKING:
    from launch.launch_context import LaunchContext

__all__ = ["Parameter", "ParameterFile", "ParameterValue"]


class ParameterValue:
    """A value, with substitutions in it, that becomes `value_type` (None: what YAML sees in the text)."""

    def __init__(self, value: Any, *, value_type: Any | None = None) -> None:
        self._value = value
        self._value_type = value_type

    @property
    def value(self) -> Any:
        """Return the value as given."""
        return self._value

    @property
    def value_type(self) -> Any:
        """Return the type to become, or None."""
        return self._value_type

    def evaluate(self, context: LaunchContext, name: str = "") -> ParameterValueType:
        """Return the typed value; ValueError or TypeError if the text is not of the type."""
        if isinstance(self._value, bool | int | float):
            text = yaml.safe_dump(self._value).partition("\n")[0]
            return coerced(text, self._value_type, name)
        if isinstance(self._value, list | tuple) and not any(
            isinstance(item, Substitution | str | list | tuple) for item in self._value
        ):
            return coerced(yaml.safe_dump(list(self._value)), self._value_type, name)
        return coerced(evaluate_text(context, self._value), self._value_type, name)


class Parameter:
    """One parameter by name, given to a node on its command line."""

    def __init__(self, name: SomeSubstitutionsType, value: Any, *, value_type: Any | None = None) -> None:
        self._name = normalize_to_list_of_substitutions(name)
        self._value = ParameterValue(value, value_type=value_type)

    def evaluate(self, context: LaunchContext) -> tuple[str, ParameterValueType]:
        """Return name and typed value."""
        name = evaluate_text(context, self._name)
        return name, self._value.evaluate(context, name)


class ParameterFile:
    """A YAML file of parameters; with `allow_substs` it may hold `$(var x)` and other substitutions."""

    def __init__(
        self,
        param_file: os.PathLike[str] | SomeSubstitutionsType,
        *,
        allow_substs: bool | SomeSubstitutionsType = False,
    ) -> None:
        self._param_file = os.fspath(param_file) if isinstance(param_file, os.PathLike) else param_file
        self._allow_substs = allow_substs

    def evaluate(self, context: LaunchContext) -> Path:
        """Return the path of the file to pass to the node; SubstitutionFailure if it is no valid YAML."""
        path = Path(evaluate_text(context, self._param_file))
        allowed = self._allow_substs
        if not isinstance(allowed, bool):
            allowed = evaluate_condition_expression(context, normalize_to_list_of_substitutions(allowed))
        if not allowed:
            return path
        # Through the parser and back: comments may hold text that looks like a substitution.
        text = yaml.safe_dump(_parsed(path.read_text(encoding="utf-8"), path))
        performed = perform_substitutions_in_text(context, text)
        return write_temporary_parameters(context, _parsed(performed, path))


def _parsed(text: str, path: Path) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        problem = " ".join(str(error).split())
        raise SubstitutionFailure(f"parameter file '{path}' is not valid YAML: {problem}") from error
