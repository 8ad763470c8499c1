"""Sets a parameter of the nodes that follow in the same scope."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from launch.action import Action
from launch.condition import Condition
from launch.some_substitutions_type import SomeSubstitutionsType

from .._global_settings import add_global_parameter
from .._parameters import evaluate_parameter_dict

if TYPE_CHECKING:
    from launch.launch_context import LaunchContext


class SetParameter(Action):
    """Sets one parameter; the parameters of a node itself come later and win."""

    def __init__(self, name: SomeSubstitutionsType, value: Any, *, condition: Condition | None = None) -> None:
        super().__init__(condition=condition)
        self._name, self._value = name, value

    def execute(self, context: LaunchContext) -> None:
        """Evaluate the parameter and add it to the scope."""
        for name, value in evaluate_parameter_dict(context, {self._name: self._value}).items():
            add_global_parameter(context, (name, value))
