"""Actions that register and unregister event handlers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..action import Action
from ..condition import Condition
from ..event_handler import EventHandler
from ..launch_description_entity import LaunchDescriptionEntity

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class RegisterEventHandler(Action):
    """Registers an event handler."""

    def __init__(self, event_handler: EventHandler, *, condition: Condition | None = None) -> None:
        super().__init__(condition=condition)
        self._event_handler = event_handler

    @property
    def event_handler(self) -> EventHandler:
        """Return the handler."""
        return self._event_handler

    def execute(self, context: LaunchContext) -> None:
        """Register the handler."""
        context.register_event_handler(self._event_handler)

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return what the handler executes, as far as it is known beforehand."""
        return self._event_handler.entities


class UnregisterEventHandler(Action):
    """Unregisters an event handler."""

    def __init__(self, event_handler: EventHandler, *, condition: Condition | None = None) -> None:
        super().__init__(condition=condition)
        self._event_handler = event_handler

    @property
    def event_handler(self) -> EventHandler:
        """Return the handler."""
        return self._event_handler

    def execute(self, context: LaunchContext) -> None:
        """Unregister the handler; ValueError if it is not registered."""
        context.unregister_event_handler(self._event_handler)
