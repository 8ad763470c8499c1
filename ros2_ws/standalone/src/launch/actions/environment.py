"""Actions on the environment that substitutions read and processes inherit, and its scopes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .._evaluation import evaluate_text
from ..action import Action
from ..condition import Condition
from ..some_substitutions_type import SomeSubstitutionsType

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class SetEnvironmentVariable(Action):
    """Sets a variable."""

    def __init__(
        self, name: SomeSubstitutionsType, value: SomeSubstitutionsType, *, condition: Condition | None = None
    ) -> None:
        super().__init__(condition=condition)
        self._name, self._value = name, value

    def execute(self, context: LaunchContext) -> None:
        """Set the variable."""
        context.environment[evaluate_text(context, self._name)] = evaluate_text(context, self._value)


class AppendEnvironmentVariable(Action):
    """Adds to a variable that is a list, at its end or at its beginning."""

    def __init__(
        self,
        name: SomeSubstitutionsType,
        value: SomeSubstitutionsType,
        prepend: bool = False,
        separator: SomeSubstitutionsType = os.pathsep,
        *,
        condition: Condition | None = None,
    ) -> None:
        super().__init__(condition=condition)
        self._name, self._value = name, value
        self._prepend, self._separator = prepend, separator

    def execute(self, context: LaunchContext) -> None:
        """Add the value; it becomes the whole variable if there was none."""
        name = evaluate_text(context, self._name)
        parts = [context.environment[name]] if name in context.environment else []
        parts.insert(0 if self._prepend else len(parts), evaluate_text(context, self._value))
        context.environment[name] = evaluate_text(context, self._separator).join(parts)


class UnsetEnvironmentVariable(Action):
    """Removes a variable; one that is not there is fine."""

    def __init__(self, name: SomeSubstitutionsType, *, condition: Condition | None = None) -> None:
        super().__init__(condition=condition)
        self._name = name

    def execute(self, context: LaunchContext) -> None:
        """Remove the variable."""
        context.environment.pop(evaluate_text(context, self._name), None)
