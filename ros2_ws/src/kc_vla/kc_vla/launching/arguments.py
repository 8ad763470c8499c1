"""Launch arguments that are checked where they are declared, which is before any process of the launch starts.

ROS 2's own launch leaves the processes running that an error in a launch description finds started. So each launch file
declares its arguments first, and each of them has a kind that refuses what the graph cannot use.
"""

from __future__ import annotations

from typing import Any

from launch import LaunchContext
from launch.actions import DeclareLaunchArgument

from kc_vla.core.errors import StackError
from kc_vla.launching.kinds import Kind, ServerUrl


class ArgumentError(RuntimeError):
    """A launch argument with a value that the graph cannot use; the text names both."""


class Argument(DeclareLaunchArgument):
    """A launch argument with a kind; given or not, its value is checked as soon as it is declared."""

    def __init__(self, name: str, kind: Kind, *, default_value: Any = None, description: str) -> None:
        super().__init__(name, default_value=default_value, description=description, choices=kind.choices)
        self.kind = kind

    def execute(self, context: LaunchContext) -> None:
        """Set the launch configuration.

        Raises:
            ArgumentError: the value cannot be used.
            RuntimeError: it is none of the choices, or there is none.
        """
        given = context.launch_configurations
        if self.name in given:
            given[self.name] = read(self.name, self.kind, given[self.name])
        super().execute(context)
        given[self.name] = read(self.name, self.kind, given[self.name])


def read(name: str, kind: Kind, value: str) -> str:
    """Return what a launch argument of that name and kind is set to.

    Raises:
        ArgumentError: the value cannot be used.
    """
    try:
        return kind.read(value)
    except (OSError, StackError, ValueError) as error:
        shown = "" if isinstance(kind, ServerUrl) else value  # an address may hold a password
        raise ArgumentError(f"{name}:={shown}: {error}") from error


def chosen(context: LaunchContext, name: str) -> str:
    """Return the value of a launch argument that is declared."""
    return str(context.launch_configurations[name])


def is_on(context: LaunchContext, name: str) -> bool:
    """Return whether a launch argument that is a `Switch` is on."""
    return chosen(context, name) == "true"
