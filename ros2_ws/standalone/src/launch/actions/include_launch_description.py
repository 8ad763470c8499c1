"""Includes another launch description."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from .._evaluation import evaluate_text
from ..action import Action
from ..condition import Condition
from ..launch_description import LaunchDescription
from ..launch_description_entity import LaunchDescriptionEntity
from ..launch_description_source import LaunchDescriptionSource
from ..launch_description_sources import AnyLaunchDescriptionSource
from ..some_substitutions_type import SomeSubstitutionsType
from .launch_configuration import SetLaunchConfiguration

if TYPE_CHECKING:
    from ..launch_context import LaunchContext

LaunchArguments = Iterable[tuple[SomeSubstitutionsType, SomeSubstitutionsType]]
_LOCALS = ("current_launch_file_path", "current_launch_file_directory")


class IncludeLaunchDescription(Action):
    """Executes another description with launch arguments; as upstream, without a scope of its own."""

    def __init__(
        self,
        launch_description_source: LaunchDescriptionSource | SomeSubstitutionsType,
        *,
        launch_arguments: LaunchArguments | None = None,
        condition: Condition | None = None,
    ) -> None:
        super().__init__(condition=condition)
        if not isinstance(launch_description_source, LaunchDescriptionSource):
            launch_description_source = AnyLaunchDescriptionSource(launch_description_source)
        self._source = launch_description_source
        self._launch_arguments = list(launch_arguments or ())

    @property
    def launch_description_source(self) -> LaunchDescriptionSource:
        """Return where the description comes from."""
        return self._source

    @property
    def launch_arguments(self) -> list[tuple[SomeSubstitutionsType, SomeSubstitutionsType]]:
        """Return the arguments given to the description, as pairs of name and value."""
        return self._launch_arguments

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return the description if it is known without running the launch."""
        description = self._source.try_get_launch_description_without_context()
        return [] if description is None else [description]

    def execute(self, context: LaunchContext) -> list[LaunchDescriptionEntity]:
        """Yield the arguments, then the description; RuntimeError names a required argument that is missing."""
        description = self._source.get_launch_description(context)
        outer = {name: context.get_locals_as_dict().get(name) for name in _LOCALS}
        path = os.path.abspath(self._source.location)
        context.extend_locals(dict(zip(_LOCALS, (path, os.path.dirname(path)), strict=True)))
        setters = [SetLaunchConfiguration(name, value) for name, value in self._launch_arguments]
        self._check_required(context, description)
        return [*setters, description, _RestoreLocation(outer)]

    def _check_required(self, context: LaunchContext, description: LaunchDescription) -> None:
        given = {evaluate_text(context, name) for name, _ in self._launch_arguments}
        given |= context.launch_configurations.keys()
        for argument in description.get_launch_arguments():
            if argument._conditionally_included or argument.default_value is not None:
                continue
            if argument.name not in given:
                raise RuntimeError(
                    f"launch file '{self._source.location}' needs the argument '{argument.name}' "
                    f"({argument.description}); give {argument.name}:=<value>"
                )

    def _details(self) -> str:
        return f"({self._source.location})"


class _RestoreLocation(LaunchDescriptionEntity):
    """Makes the including launch file the current one again."""

    def __init__(self, outer: dict[str, object]) -> None:
        self._outer = outer

    def visit(self, context: LaunchContext) -> None:
        for name, value in self._outer.items():
            if value is None:
                context._remove_local(name)
            else:
                context.extend_locals({name: value})
