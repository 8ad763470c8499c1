"""Launch descriptions from Python launch files."""

from __future__ import annotations

import importlib.util
import os

from .invalid_launch_file_error import InvalidLaunchFileError
from .launch_description import LaunchDescription
from .launch_description_source import LaunchDescriptionSource
from .some_substitutions_type import SomeSubstitutionsType

__all__ = [
    "AnyLaunchDescriptionSource",
    "InvalidLaunchFileError",
    "PythonLaunchDescriptionSource",
    "get_launch_description_from_python_launch_file",
]


def get_launch_description_from_python_launch_file(python_launch_file_path: str) -> LaunchDescription:
    """Run a Python launch file and return the description that it generates.

    Raises FileNotFoundError if there is no such file, InvalidLaunchFileError if it has no
    `generate_launch_description` or returns something else; errors of its own code pass through.
    """
    if not os.path.isfile(python_launch_file_path):
        raise FileNotFoundError(f"launch file '{python_launch_file_path}' does not exist")
    spec = importlib.util.spec_from_file_location("python_launch_file", python_launch_file_path)
    if spec is None or spec.loader is None:
        raise InvalidLaunchFileError(
            f"'{python_launch_file_path}' is no Python launch file (its name has to end in .py); "
            "the stand-in does not read XML and YAML launch files"
        )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    generate = getattr(module, "generate_launch_description", None)
    if generate is None:
        raise InvalidLaunchFileError(
            f"launch file '{python_launch_file_path}' does not define generate_launch_description()"
        )
    description = generate()
    if not isinstance(description, LaunchDescription):
        raise InvalidLaunchFileError(
            f"generate_launch_description() of '{python_launch_file_path}' has to return a "
            f"LaunchDescription, got {type(description).__name__}"
        )
    return description


class PythonLaunchDescriptionSource(LaunchDescriptionSource):
    """A Python launch file at a path that may hold substitutions."""

    def __init__(self, launch_file_path: SomeSubstitutionsType) -> None:
        super().__init__(None, launch_file_path, "interpreted python launch file")

    def _get_launch_description(self, location: str) -> LaunchDescription:
        return get_launch_description_from_python_launch_file(location)


class AnyLaunchDescriptionSource(PythonLaunchDescriptionSource):
    """A launch file of any kind that the stand-in reads, which is Python."""
