"""Path components joined with the separator of the system."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class PathJoinSubstitution(Substitution):
    """Joins components; each is text, a substitution, or a sequence of both that makes one component."""

    def __init__(self, substitutions: Iterable[SomeSubstitutionsType]) -> None:
        from ..utilities import normalize_to_list_of_substitutions

        self._components = [normalize_to_list_of_substitutions(part) for part in substitutions]

    @property
    def substitutions(self) -> list[list[Substitution]]:
        """Return the components, each as substitutions."""
        return self._components

    def perform(self, context: LaunchContext) -> str:
        """Return the joined path."""
        from ..utilities import perform_substitutions

        return os.path.join(*(perform_substitutions(context, part) for part in self._components))

    def describe(self) -> str:
        """Return the call as written."""
        parts = (" + ".join(sub.describe() for sub in part) for part in self._components)
        return f"PathJoin({', '.join(parts)})"
