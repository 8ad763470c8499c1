"""Calls a Python function while launching."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ..action import Action
from ..condition import Condition
from ..launch_description_entity import LaunchDescriptionEntity

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class OpaqueFunction(Action):
    """Calls `function(context, *args, **kwargs)`; the entities that it returns, in a list, are executed next."""

    def __init__(
        self,
        *,
        function: Callable[..., Iterable[LaunchDescriptionEntity] | None],
        args: Iterable[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
        condition: Condition | None = None,
    ) -> None:
        super().__init__(condition=condition)
        if not callable(function):
            raise TypeError(f"OpaqueFunction takes a function, got {function!r}")
        self._function = function
        self._args = list(args or ())
        self._kwargs = dict(kwargs or {})

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        """Call the function; TypeError if it returns neither None nor entities, in a list also if it is only one."""
        entities = self._function(context, *self._args, **self._kwargs)
        listed = [] if entities is None else list(entities)
        for entity in listed:
            if not isinstance(entity, LaunchDescriptionEntity):
                raise TypeError(f"expected a launch action or description, got {entity!r}")
        return listed

    def _details(self) -> str:
        return f"({getattr(self._function, '__name__', self._function)!r})"
