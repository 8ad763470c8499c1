"""The value of a launch argument or of any other launch configuration."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from .substitution_failure import SubstitutionFailure

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class LaunchConfiguration(Substitution):
    """Looks a configuration up by name; `default` serves when it is not set."""

    def __init__(self, variable_name: SomeSubstitutionsType, *, default: Any | None = None) -> None:
        from ..utilities import normalize_to_list_of_substitutions

        self._name = normalize_to_list_of_substitutions(variable_name)
        # As upstream, a default may be of any simple type: its text counts.
        if default is not None and not isinstance(default, str | Substitution | Iterable):
            default = str(default)
        self._default = None if default is None else normalize_to_list_of_substitutions(default)

    @property
    def variable_name(self) -> list[Substitution]:
        """Return the name, as substitutions."""
        return self._name

    def perform(self, context: LaunchContext) -> str:
        """Return the value, else the default; SubstitutionFailure when there is neither."""
        from ..utilities import perform_substitutions

        name = perform_substitutions(context, self._name)
        if name in context.launch_configurations:
            return str(context.launch_configurations[name])
        if self._default is None:
            raise SubstitutionFailure(f"launch configuration '{name}' does not exist")
        return perform_substitutions(context, self._default)

    def describe(self) -> str:
        """Return the call as written."""
        return f"LaunchConfig({' + '.join(part.describe() for part in self._name)})"
