"""Conditions of actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .condition import Condition
from .some_substitutions_type import SomeSubstitutionsType
from .substitution import Substitution
from .utilities import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from .launch_context import LaunchContext

__all__ = [
    "IfCondition",
    "InvalidConditionExpressionError",
    "LaunchConfigurationEquals",
    "LaunchConfigurationNotEquals",
    "UnlessCondition",
    "evaluate_condition_expression",
]

_TRUE = ("true", "1")
_FALSE = ("false", "0")


class InvalidConditionExpressionError(Exception):
    """A condition that is neither true nor false."""


def evaluate_condition_expression(context: LaunchContext, expression: Sequence[Substitution]) -> bool:
    """Return the truth of 'true', '1', 'false' or '0' in any case; anything else is an error."""
    text = perform_substitutions(context, expression).strip().lower()
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise InvalidConditionExpressionError(
        f"invalid condition expression, expected one of 'true', 'false', '1', '0' but got '{text}'"
    )


class IfCondition(Condition):
    """Holds when the expression is true."""

    def __init__(self, predicate_expression: SomeSubstitutionsType) -> None:
        self._expression = normalize_to_list_of_substitutions(predicate_expression)
        super().__init__(predicate=self._evaluate)

    def _evaluate(self, context: LaunchContext) -> bool:
        return evaluate_condition_expression(context, self._expression)

    def describe(self) -> str:
        """Return the condition as written."""
        return f"{type(self).__name__}({' + '.join(part.describe() for part in self._expression)})"


class UnlessCondition(IfCondition):
    """Holds when the expression is false."""

    def _evaluate(self, context: LaunchContext) -> bool:
        return not super()._evaluate(context)


class LaunchConfigurationEquals(Condition):
    """Holds when a launch configuration has a value; None stands for 'not set'."""

    def __init__(self, launch_configuration_name: str, expected_value: SomeSubstitutionsType | None) -> None:
        self._name = launch_configuration_name
        self._expected = None if expected_value is None else normalize_to_list_of_substitutions(expected_value)
        super().__init__(predicate=self._evaluate)

    def _evaluate(self, context: LaunchContext) -> bool:
        expected = None if self._expected is None else perform_substitutions(context, self._expected)
        value: object = context.launch_configurations.get(self._name)
        return value == expected


class LaunchConfigurationNotEquals(LaunchConfigurationEquals):
    """Holds when a launch configuration does not have a value; None stands for 'not set'."""

    def _evaluate(self, context: LaunchContext) -> bool:
        return not super()._evaluate(context)
