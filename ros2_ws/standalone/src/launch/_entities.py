"""Normalizing what launch files give as entities."""

from __future__ import annotations

from collections.abc import Iterable

from .launch_description_entity import LaunchDescriptionEntity
from .some_entities_type import SomeEntitiesType


def as_entities(entities: SomeEntitiesType | None) -> list[LaunchDescriptionEntity]:
    """Return one entity, many or none as a list; TypeError names what is not an entity. None items are left out."""
    if entities is None:
        return []
    if isinstance(entities, LaunchDescriptionEntity):
        return [entities]
    listed = list(entities) if isinstance(entities, Iterable) else [entities]
    for entity in listed:
        if entity is not None and not isinstance(entity, LaunchDescriptionEntity):
            raise TypeError(f"expected a launch action or description, got {entity!r}")
    return [entity for entity in listed if entity is not None]
