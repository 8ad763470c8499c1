"""A value of the launch's locals, such as a field of the event being handled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..substitution import Substitution
from .substitution_failure import SubstitutionFailure

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class LocalSubstitution(Substitution):
    """Evaluates `expression`, a name with optional attributes and indices, on the locals."""

    def __init__(self, expression: str, *, description: str | None = None) -> None:
        self._expression = expression
        self._description = description

    @property
    def expression(self) -> str:
        """Return the expression."""
        return self._expression

    def perform(self, context: LaunchContext) -> str:
        """Return the text of the value; SubstitutionFailure if there is none."""
        try:
            return str(eval(self._expression, {}, context.get_locals_as_dict()))
        except Exception as error:
            raise SubstitutionFailure(
                f"local '{self._expression}' cannot be evaluated: {type(error).__name__}: {error}"
            ) from error

    def describe(self) -> str:
        """Return the description, else the call as written."""
        return f"Local('{self._description or self._expression}')"
