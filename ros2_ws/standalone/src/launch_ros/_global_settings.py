"""Parameters and remappings for all nodes of a scope, kept in the launch configurations as upstream does.

The lists are replaced, never changed in place: the end of a scope restores the outer scope's list.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ._typed_values import ParameterValueType

if TYPE_CHECKING:
    from launch.launch_context import LaunchContext

GlobalParameter = tuple[str, ParameterValueType] | Path
Remap = tuple[str, str]

_PARAMETERS = "global_params"
_REMAPS = "ros_remaps"


def add_global_parameter(context: LaunchContext, parameter: GlobalParameter) -> None:
    """Add a parameter or a parameter file for the nodes that follow."""
    context.launch_configurations[_PARAMETERS] = [*global_parameters(context), parameter]


def global_parameters(context: LaunchContext) -> list[GlobalParameter]:
    """Return the parameters and files of the current scope, in the order in which they were set."""
    return list(context.launch_configurations.get(_PARAMETERS, ()))


def add_global_remap(context: LaunchContext, remap: Remap) -> None:
    """Add a remapping for the nodes that follow."""
    context.launch_configurations[_REMAPS] = [*global_remaps(context), remap]


def global_remaps(context: LaunchContext) -> list[Remap]:
    """Return the remappings of the current scope, in the order in which they were set."""
    return list(context.launch_configurations.get(_REMAPS, ()))
