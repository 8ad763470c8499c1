"""The path and the folder of the launch file being executed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..substitution import Substitution
from .substitution_failure import SubstitutionFailure

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class ThisLaunchFile(Substitution):
    """The absolute path of the current launch file."""

    _LOCAL = "current_launch_file_path"

    def perform(self, context: LaunchContext) -> str:
        """Return the path; SubstitutionFailure outside of a launch file."""
        value = context.get_locals_as_dict().get(self._LOCAL)
        if value is None:
            raise SubstitutionFailure(f"{type(self).__name__} used outside of a launch file")
        return str(value)


class ThisLaunchFileDir(ThisLaunchFile):
    """The absolute folder of the current launch file."""

    _LOCAL = "current_launch_file_directory"
