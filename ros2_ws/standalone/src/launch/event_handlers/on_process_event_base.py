"""What the handlers of process events share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._entities import as_entities
from ..action import Action
from ..event import Event
from ..event_handler import EventHandler
from ..events.process import RunningProcessEvent

if TYPE_CHECKING:
    from ..launch_context import LaunchContext
    from ..some_entities_type import SomeEntitiesType

# Any: handlers declare the very event class that they take.
ProcessCallback = Callable[[Any, "LaunchContext"], "SomeEntitiesType | None"]


class OnProcessEventBase(EventHandler):
    """Executes entities, or what a callback returns, on an event of one process or of every process.

    `target_action` is the process's action, a predicate over actions, or None for every process.
    """

    def __init__(
        self,
        *,
        event_class: type[RunningProcessEvent],
        reaction: SomeEntitiesType | ProcessCallback | None,
        target_action: Action | Callable[[Action], bool] | None = None,
        handle_once: bool = False,
    ) -> None:
        self._event_class = event_class
        self._target_action = target_action
        self._callback = reaction if callable(reaction) else None
        super().__init__(
            matcher=self._is_wanted,
            entities=None if callable(reaction) else reaction,
            handle_once=handle_once,
        )

    def _is_wanted(self, event: Event) -> bool:
        if not isinstance(event, self._event_class):
            return False
        if self._target_action is None:
            return True
        if isinstance(self._target_action, Action):
            return event.action is self._target_action
        return self._target_action(event.action)

    def handle(self, event: Event, context: LaunchContext) -> SomeEntitiesType | None:
        """Return the entities, or what the callback returns for the event."""
        entities = super().handle(event, context)
        if self._callback is None:
            return entities
        return as_entities(self._callback(event, context))
