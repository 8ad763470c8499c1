"""Actions on launch configurations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._evaluation import evaluate_text
from ..action import Action
from ..condition import Condition
from ..some_substitutions_type import SomeSubstitutionsType

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class SetLaunchConfiguration(Action):
    """Sets a launch configuration."""

    def __init__(
        self, name: SomeSubstitutionsType, value: SomeSubstitutionsType, *, condition: Condition | None = None
    ) -> None:
        super().__init__(condition=condition)
        self._name, self._value = name, value

    def execute(self, context: LaunchContext) -> None:
        """Set the configuration."""
        context.launch_configurations[evaluate_text(context, self._name)] = evaluate_text(context, self._value)


class UnsetLaunchConfiguration(Action):
    """Removes a launch configuration; one that is not set is fine."""

    def __init__(self, name: SomeSubstitutionsType, *, condition: Condition | None = None) -> None:
        super().__init__(condition=condition)
        self._name = name

    def execute(self, context: LaunchContext) -> None:
        """Remove the configuration."""
        context.launch_configurations.pop(evaluate_text(context, self._name), None)
