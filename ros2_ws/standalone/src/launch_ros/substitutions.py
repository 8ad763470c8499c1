"""Substitutions for packages in the ament index."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ament_index_python.packages import (
    PackageNotFoundError,
    get_package_prefix,
    get_package_share_directory,
)
from launch._evaluation import evaluate_text
from launch.some_substitutions_type import SomeSubstitutionsType
from launch.substitution import Substitution
from launch.substitutions import SubstitutionFailure
from launch.utilities import normalize_to_list_of_substitutions

if TYPE_CHECKING:
    from launch.launch_context import LaunchContext

__all__ = ["ExecutableInPackage", "FindPackage", "FindPackagePrefix", "FindPackageShare"]


class FindPackage(Substitution):
    """Looks a package up; the subclasses say what of it is wanted."""

    def __init__(self, package: SomeSubstitutionsType) -> None:
        self._package = normalize_to_list_of_substitutions(package)

    @property
    def package(self) -> list[Substitution]:
        """Return the package's name as substitutions."""
        return self._package

    def perform(self, context: LaunchContext) -> str:
        """Return the folder; SubstitutionFailure if the package is not installed."""
        name = evaluate_text(context, self._package)
        try:
            return self.find(name)
        except (PackageNotFoundError, ValueError, LookupError, OSError) as error:
            searched = os.environ.get("AMENT_PREFIX_PATH", "")
            raise SubstitutionFailure(f"package '{name}' not found, searched '{searched}'") from error

    def find(self, package_name: str) -> str:
        """Return what is wanted of the package."""
        raise NotImplementedError

    def describe(self) -> str:
        """Return the call as written."""
        return f"{type(self).__name__}({' + '.join(part.describe() for part in self._package)})"


class FindPackagePrefix(FindPackage):
    """The prefix that a package is installed in."""

    def find(self, package_name: str) -> str:
        """Return the prefix."""
        return str(get_package_prefix(package_name))


class FindPackageShare(FindPackage):
    """The share folder of a package."""

    def find(self, package_name: str) -> str:
        """Return the folder."""
        return str(get_package_share_directory(package_name))


class ExecutableInPackage(FindPackagePrefix):
    """The path of an executable in `lib/<package>`."""

    def __init__(self, executable: SomeSubstitutionsType, package: SomeSubstitutionsType) -> None:
        super().__init__(package)
        self._executable = normalize_to_list_of_substitutions(executable)

    @property
    def executable(self) -> list[Substitution]:
        """Return the executable's name as substitutions."""
        return self._executable

    def perform(self, context: LaunchContext) -> str:
        """Return the path; SubstitutionFailure names the folder that it was looked for in."""
        name = evaluate_text(context, self._executable)
        folder = Path(super().perform(context)) / "lib" / evaluate_text(context, self._package)
        path = folder / name
        if not (path.is_file() and os.access(path, os.X_OK)):
            raise SubstitutionFailure(f"executable '{name}' not found on the libexec directory '{folder}'")
        return str(path)
