"""Declares an argument that the user of a launch file may give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..action import Action
from ..condition import Condition
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ..utilities import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class DeclareLaunchArgument(Action):
    """Sets a launch configuration to its default unless it is given, and checks it against the choices."""

    def __init__(
        self,
        name: str,
        *,
        default_value: SomeSubstitutionsType | None = None,
        description: str | None = None,
        choices: list[str] | None = None,
        condition: Condition | None = None,
    ) -> None:
        super().__init__(condition=condition)
        if choices is not None and not choices:
            raise RuntimeError(f"choices of launch argument '{name}' are empty; leave them out for any value")
        if choices is not None and isinstance(default_value, str) and default_value not in choices:
            raise RuntimeError(
                f'Provided default_value "{default_value}" of launch argument "{name}" is not in provided '
                f'choices "{choices}".'
            )
        self._name = name
        self._default_value = None if default_value is None else normalize_to_list_of_substitutions(default_value)
        self._description = _with_choices(description, choices)
        self._choices = choices
        self._conditionally_included = False

    @property
    def name(self) -> str:
        """Return the argument's name."""
        return self._name

    @property
    def default_value(self) -> list[Substitution] | None:
        """Return the default as substitutions; None makes the argument required."""
        return self._default_value

    @property
    def description(self) -> str:
        """Return what the argument means, with its choices."""
        return self._description

    @property
    def choices(self) -> list[str] | None:
        """Return the values that are allowed, or None for any."""
        return self._choices

    def execute(self, context: LaunchContext) -> None:
        """Set the configuration; RuntimeError if the argument is missing or not one of the choices."""
        if self._name not in context.launch_configurations:
            if self._default_value is None:
                raise RuntimeError(
                    f'Required launch argument "{self._name}" (description: "{self._description}") was not provided'
                )
            context.launch_configurations[self._name] = perform_substitutions(context, self._default_value)
        value = context.launch_configurations[self._name]
        if self._choices is not None and value not in self._choices:
            raise RuntimeError(
                f'Argument "{self._name}" provided value "{value}" is not valid. Valid options are: {self._choices}'
            )

    def _details(self) -> str:
        return f"('{self._name}')"


def _with_choices(description: str | None, choices: list[str] | None) -> str:
    if choices is None:
        return description or "no description given"
    if description is None:
        return f"One of: {choices}"
    return f"{description.rstrip('.')}. Valid choices are: {choices}"
