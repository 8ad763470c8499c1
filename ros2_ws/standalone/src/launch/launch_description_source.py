"""Where a launch description comes from: a file, or a description made in place."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .launch_description import LaunchDescription
from .some_substitutions_type import SomeSubstitutionsType
from .substitutions import SubstitutionFailure
from .utilities import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from .launch_context import LaunchContext


class LaunchDescriptionSource:
    """Loads its description once, when it is first needed."""

    def __init__(
        self,
        launch_description: LaunchDescription | None = None,
        location: SomeSubstitutionsType = "",
        method: str = "unspecified mechanism",
    ) -> None:
        self._launch_description = launch_description
        self._loaded: dict[str, LaunchDescription] = {}
        self._location = normalize_to_list_of_substitutions(location)
        self._expanded_location: str | None = None
        self._method = method

    @property
    def location(self) -> str:
        """Return the path of the launch file, or its description while it is not known."""
        if self._expanded_location is not None:
            return self._expanded_location
        return " + ".join(part.describe() for part in self._location)

    @property
    def method(self) -> str:
        """Return how the description is loaded."""
        return self._method

    def try_get_launch_description_without_context(self) -> LaunchDescription | None:
        """Return the description if its location does not depend on launch arguments, else None."""
        from .launch_context import LaunchContext

        if self._launch_description is not None:
            return self._launch_description
        try:
            location = perform_substitutions(LaunchContext(), self._location)
            return self._load(location)
        except (SubstitutionFailure, FileNotFoundError):
            return None

    def get_launch_description(self, context: LaunchContext) -> LaunchDescription:
        """Return the description; FileNotFoundError or InvalidLaunchFileError say what is wrong."""
        if self._expanded_location is None:
            self._expanded_location = perform_substitutions(context, self._location)
        if self._launch_description is None:
            self._launch_description = self._load(self._expanded_location)
        return self._launch_description

    def _load(self, location: str) -> LaunchDescription:
        """Load a description once, although both `--show-args` and the launch ask for it."""
        if location not in self._loaded:
            self._loaded[location] = self._get_launch_description(location)
        return self._loaded[location]

    def _get_launch_description(self, location: str) -> LaunchDescription:
        raise ValueError(f"no way to load a launch description from '{os.path.abspath(location)}'")
