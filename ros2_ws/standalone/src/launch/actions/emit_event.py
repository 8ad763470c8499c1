"""Emits an event."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..action import Action
from ..condition import Condition
from ..event import Event

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class EmitEvent(Action):
    """Queues an event for the event handlers."""

    def __init__(self, *, event: Event, condition: Condition | None = None) -> None:
        super().__init__(condition=condition)
        if not isinstance(event, Event):
            raise RuntimeError(f"EmitEvent takes an event, got {event!r}")
        self._event = event

    @property
    def event(self) -> Event:
        """Return the event."""
        return self._event

    def execute(self, context: LaunchContext) -> None:
        """Queue the event."""
        context.emit_event_sync(self._event)

    def _details(self) -> str:
        return f"('{self._event.name}')"
