"""Base of event handlers: a matcher and what to execute when it matches."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

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
        """The entities that the handler executes when they are known beforehand."""
        return self._entities

    def matches(self, event: Event) -> bool:
        """Tell whether this handler wants `event`."""
        return self._matcher(event)

    def handle(self, event: Event, context: LaunchContext) -> SomeEntitiesType | None:
        """Put the event into the locals and return the entities to execute."""
        context.extend_locals({"event": event})
        if self.handle_once:
            context.unregister_event_handler(self)
        return self._entities


def as_entities(entities: SomeEntitiesType | None) -> list[LaunchDescriptionEntity]:
    """Normalise one entity, many or none to a list; TypeError names what is not an entity."""
    if entities is None:
        return []
    if isinstance(entities, LaunchDescriptionEntity):
        return [entities]
    listed = list(entities) if isinstance(entities, Iterable) else [entities]
    for entity in listed:
        if not isinstance(entity, LaunchDescriptionEntity):
            raise TypeError(f"expected a launch action or description, got {entity!r}")
    return listed
