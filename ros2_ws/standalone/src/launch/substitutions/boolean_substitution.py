"""And, or and not of truth values, as 'true' or 'false'."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from .substitution_failure import SubstitutionFailure

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class NotSubstitution(Substitution):
    """The contrary of one truth value."""

    def __init__(self, value: SomeSubstitutionsType) -> None:
        self._value = value

    def perform(self, context: LaunchContext) -> str:
        """Return 'true' or 'false'; SubstitutionFailure if the operand is no truth value."""
        return _text(not _truth(context, self._value))


class AndSubstitution(Substitution):
    """True if both operands are."""

    def __init__(self, left: SomeSubstitutionsType, right: SomeSubstitutionsType) -> None:
        self._left, self._right = left, right

    def perform(self, context: LaunchContext) -> str:
        """Return 'true' or 'false'; SubstitutionFailure if an operand is no truth value."""
        left, right = _truth(context, self._left), _truth(context, self._right)
        return _text(left and right)


class OrSubstitution(Substitution):
    """True if an operand is."""

    def __init__(self, left: SomeSubstitutionsType, right: SomeSubstitutionsType) -> None:
        self._left, self._right = left, right

    def perform(self, context: LaunchContext) -> str:
        """Return 'true' or 'false'; SubstitutionFailure if an operand is no truth value."""
        left, right = _truth(context, self._left), _truth(context, self._right)
        return _text(left or right)


def _truth(context: LaunchContext, value: SomeSubstitutionsType) -> bool:
    from ..conditions import InvalidConditionExpressionError, evaluate_condition_expression
    from ..utilities import normalize_to_list_of_substitutions

    try:
        return evaluate_condition_expression(context, normalize_to_list_of_substitutions(value))
    except InvalidConditionExpressionError as error:
        raise SubstitutionFailure(str(error)) from error


def _text(truth: bool) -> str:
    return "true" if truth else "false"
