"""Substitutions: text that is only known while launching."""

from .boolean_substitution import AndSubstitution, NotSubstitution, OrSubstitution
from .command import Command
from .environment_variable import EnvironmentVariable
from .equals_substitution import EqualsSubstitution, NotEqualsSubstitution
from .launch_configuration import LaunchConfiguration
from .local_substitution import LocalSubstitution
from .path_join_substitution import PathJoinSubstitution
from .python_expression import PythonExpression
from .substitution_failure import SubstitutionFailure
from .text_substitution import TextSubstitution
from .this_launch_file import ThisLaunchFile, ThisLaunchFileDir

__all__ = [
    "AndSubstitution",
    "Command",
    "EnvironmentVariable",
    "EqualsSubstitution",
    "LaunchConfiguration",
    "LocalSubstitution",
    "NotEqualsSubstitution",
    "NotSubstitution",
    "OrSubstitution",
    "PathJoinSubstitution",
    "PythonExpression",
    "SubstitutionFailure",
    "TextSubstitution",
    "ThisLaunchFile",
    "ThisLaunchFileDir",
]
