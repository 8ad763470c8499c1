"""Base of actions: entities that do something and may be conditional."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .condition import Condition
from .launch_description_entity import LaunchDescriptionEntity

if TYPE_CHECKING:
    from .launch_context import LaunchContext


class Action(LaunchDescriptionEntity):
    """An entity with an optional condition; subclasses implement `execute`."""

    def __init__(self, *, condition: Condition | None = None) -> None:
        if condition is not None and not isinstance(condition, Condition):
            raise TypeError(f"condition of {type(self).__name__} has to be a Condition, got {condition!r}")
        self._condition = condition

    @property
    def condition(self) -> Condition | None:
        """Return the condition under which the action is executed, or None."""
        return self._condition

    def visit(self, context: LaunchContext) -> Sequence[LaunchDescriptionEntity] | None:
        """Execute the action if its condition holds."""
        if self._condition is None or self._condition.evaluate(context):
            return self.execute(context)
        return None

    def execute(self, context: LaunchContext) -> Sequence[LaunchDescriptionEntity] | None:
        """Do the work and return further entities to visit, in order."""
        return None

    def describe(self) -> str:
        """Return one line for `--print`."""
        suffix = f" if {self._condition.describe()}" if self._condition is not None else ""
        return f"{type(self).__name__}{self._details()}{suffix}"

    def _details(self) -> str:
        return ""
