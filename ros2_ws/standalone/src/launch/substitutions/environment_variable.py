"""The value of an environment variable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from .substitution_failure import SubstitutionFailure

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class EnvironmentVariable(Substitution):
    """Looks a variable up in the launch environment; `default_value` serves when it is not set."""

    def __init__(self, name: SomeSubstitutionsType, *, default_value: SomeSubstitutionsType | None = None) -> None:
        from ..utilities import normalize_to_list_of_substitutions

        self._name = normalize_to_list_of_substitutions(name)
        self._default = None if default_value is None else normalize_to_list_of_substitutions(default_value)

    def perform(self, context: LaunchContext) -> str:
        """Return the value, else the default; SubstitutionFailure when there is neither."""
        from ..utilities import perform_substitutions

        name = perform_substitutions(context, self._name)
        if name in context.environment:
            return context.environment[name]
        if self._default is None:
            raise SubstitutionFailure(f"environment variable '{name}' does not exist")
        return perform_substitutions(context, self._default)

    def describe(self) -> str:
        """Return the call as written."""
        return f"EnvVar({' + '.join(part.describe() for part in self._name)})"
