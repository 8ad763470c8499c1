"""Base of event handlers: a matcher and what to execute when it matches."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ._entities import as_entities
from .event import Event
from .launch_description_entity import LaunchDescriptionEntity

if TYPE_CHECKING:
    from .launch_context import LaunchContext
    from .some_entities_type import SomeEntitiesType


class EventHandler:
    """Executes `entities` whenever `matcher(event)` is true."""

    def __init__(
        self,
        *,
        matcher: Callable[[Event], bool],
        entities: SomeEntitiesType | None = None,
        handle_once: bool = False,
    ) -> None:
        self._matcher = matcher
        self._entities = as_entities(entities)
        self.handle_once = handle_once

    @property
    def entities(self) -> list[LaunchDescriptionEntity]:
        """Return the entities that the handler executes when they are known beforehand."""
        return self._entities

    def matches(self, event: Event) -> bool:
        """Return whether this handler wants `event`."""
        return self._matcher(event)

    def handle(self, event: Event, context: LaunchContext) -> SomeEntitiesType | None:
        """Put the event into the locals and return the entities to execute."""
        context.extend_locals({"event": event})
        if self.handle_once:
            context.unregister_event_handler(self)
        return self._entities
