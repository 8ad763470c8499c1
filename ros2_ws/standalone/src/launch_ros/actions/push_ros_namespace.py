"""Puts the nodes that follow in the same scope into a namespace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from launch._evaluation import evaluate_text
from launch.action import Action
from launch.condition import Condition
from launch.some_substitutions_type import SomeSubstitutionsType

from .._names import absolute, check_namespace, joined_namespace

if TYPE_CHECKING:
    from launch.launch_context import LaunchContext


class PushRosNamespace(Action):
    """Adds a relative namespace to the current one; an absolute one replaces it."""

    def __init__(self, namespace: SomeSubstitutionsType, *, condition: Condition | None = None) -> None:
        super().__init__(condition=condition)
        self._namespace = namespace

    def execute(self, context: LaunchContext) -> None:
        """Set the namespace of the scope; ValueError if it is not a valid one."""
        base = context.launch_configurations.get("ros_namespace")
        namespace = absolute(joined_namespace(base, evaluate_text(context, self._namespace)))
        if namespace is not None:
            context.launch_configurations["ros_namespace"] = check_namespace(namespace)
