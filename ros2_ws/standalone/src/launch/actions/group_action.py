"""A group of actions, with a scope of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from .._evaluation import evaluate_text
from ..action import Action
from ..condition import Condition
from ..launch_description_entity import LaunchDescriptionEntity
from ..some_substitutions_type import SomeSubstitutionsType
from ._scopes import BeginScope, EndScope
from .launch_configuration import SetLaunchConfiguration

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class GroupAction(Action):
    """Executes its actions in order.

    With `scoped`, changes to launch configurations and environment end with the group. Without `forwarding`
    a scoped group begins with neither. `launch_configurations` are set in the group either way.
    """

    def __init__(
        self,
        actions: Iterable[LaunchDescriptionEntity],
        *,
        scoped: bool = True,
        forwarding: bool = True,
        launch_configurations: Mapping[SomeSubstitutionsType, SomeSubstitutionsType] | None = None,
        condition: Condition | None = None,
    ) -> None:
        super().__init__(condition=condition)
        self._actions = list(actions)
        self._scoped = scoped
        self._forwarding = forwarding
        self._launch_configurations = dict(launch_configurations or {})

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return the actions of the group."""
        return self._actions

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        """Yield the actions between the ends of their scope."""
        configurations = self._launch_configurations
        if self._scoped and not self._forwarding:
            # Evaluated before the scope begins: inside of it there is nothing left to evaluate with.
            configurations = {
                evaluate_text(context, name): evaluate_text(context, value) for name, value in configurations.items()
            }
        setters = [SetLaunchConfiguration(name, value) for name, value in configurations.items()]
        if not self._scoped:
            return [*setters, *self._actions]
        return [BeginScope(forwarding=self._forwarding), *setters, *self._actions, EndScope()]
