"""Base of conditions: a predicate over the launch context."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .launch_context import LaunchContext


class Condition:
    """Decides in a launch context whether an action is executed."""

    def __init__(self, *, predicate: Callable[[LaunchContext], bool]) -> None:
        self._predicate = predicate

    def evaluate(self, context: LaunchContext) -> bool:
        """Return the truth of the condition in this context."""
        return self._predicate(context)

    def describe(self) -> str:
        """Return a short text for `--print`."""
        return type(self).__name__
