"""Handler of the event that the launch shuts down."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .._entities import as_entities
from ..event import Event
from ..event_handler import EventHandler
from ..events.shutdown import Shutdown

if TYPE_CHECKING:
    from ..launch_context import LaunchContext
    from ..some_entities_type import SomeEntitiesType


class OnShutdown(EventHandler):
    """Executes entities, or what a callback returns, when the launch begins to shut down."""

    def __init__(
        self,
        *,
        on_shutdown: SomeEntitiesType | Callable[[Shutdown, LaunchContext], SomeEntitiesType | None],
        handle_once: bool = False,
    ) -> None:
        self._callback = on_shutdown if callable(on_shutdown) else None
        super().__init__(
            matcher=lambda event: isinstance(event, Shutdown),
            entities=None if callable(on_shutdown) else on_shutdown,
            handle_once=handle_once,
        )

    def handle(self, event: Event, context: LaunchContext) -> SomeEntitiesType | None:
        """Return the entities, or what the callback returns for the event."""
        entities = super().handle(event, context)
        if self._callback is None or not isinstance(event, Shutdown):
            return entities
        return as_entities(self._callback(event, context))
