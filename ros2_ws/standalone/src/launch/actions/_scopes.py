"""Beginning and end of the scope of launch configurations and environment of a group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..launch_description_entity import LaunchDescriptionEntity

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class BeginScope(LaunchDescriptionEntity):
    """Saves configurations and environment; without forwarding, the scope then begins empty."""

    def __init__(self, *, forwarding: bool) -> None:
        self._forwarding = forwarding

    def visit(self, context: LaunchContext) -> None:
        """Begin the scope."""
        context._push_launch_configurations()
        context._push_environment()
        if not self._forwarding:
            context._replace_configurations({})
            context._reset_environment()


class EndScope(LaunchDescriptionEntity):
    """Restores configurations and environment."""

    def visit(self, context: LaunchContext) -> None:
        """End the scope."""
        context._pop_environment()
        context._pop_launch_configurations()
