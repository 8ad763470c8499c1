"""A launch description: what `generate_launch_description` of a launch file returns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .action import Action
from .launch_description_entity import LaunchDescriptionEntity

if TYPE_CHECKING:
    from .actions import DeclareLaunchArgument
    from .launch_context import LaunchContext


class LaunchDescription(LaunchDescriptionEntity):
    """An ordered list of entities."""

    def __init__(
        self,
        initial_entities: Iterable[LaunchDescriptionEntity] | None = None,
        *,
        deprecated_reason: str | None = None,
    ) -> None:
        self._entities = list(initial_entities or ())
        self.deprecated_reason = deprecated_reason
        for entity in self._entities:
            if not isinstance(entity, LaunchDescriptionEntity):
                raise TypeError(f"a launch description holds actions and descriptions, not {entity!r}")

    @property
    def entities(self) -> list[LaunchDescriptionEntity]:
        """Return the entities, in the order in which they are visited."""
        return self._entities

    def add_entity(self, entity: LaunchDescriptionEntity) -> None:
        """Append an entity."""
        self._entities.append(entity)

    def add_action(self, action: Action) -> None:
        """Append an action."""
        self.add_entity(action)

    def visit(self, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        """Yield the entities."""
        return self._entities

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return the entities."""
        return self._entities

    def get_launch_arguments(self, conditional_inclusion: bool = False) -> list[DeclareLaunchArgument]:
        """Return the declared arguments of this description and of all that it includes, each name once.

        Arguments below a condition are marked with `_conditionally_included`.
        """
        found: dict[str, DeclareLaunchArgument] = {}
        _collect_arguments(self, conditional_inclusion, frozenset(), found)
        return list(found.values())


def _collect_arguments(
    entity: LaunchDescriptionEntity,
    conditional: bool,
    given: frozenset[str],
    found: dict[str, DeclareLaunchArgument],
) -> None:
    """Walk depth first; arguments that an include already gives are not asked of the user."""
    from .actions import DeclareLaunchArgument, IncludeLaunchDescription

    if isinstance(entity, Action) and entity.condition is not None:
        conditional = True
    if isinstance(entity, DeclareLaunchArgument) and entity.name not in given and entity.name not in found:
        entity._conditionally_included = conditional
        found[entity.name] = entity
    if isinstance(entity, IncludeLaunchDescription):
        given = given | {name for name, _ in entity.launch_arguments if isinstance(name, str)}
    for sub_entity in entity.get_sub_entities():
        _collect_arguments(sub_entity, conditional, given, found)
