"""Base of substitutions: text that is only known while launching."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .launch_context import LaunchContext


class Substitution:
    """Something that becomes a string in a launch context."""

    def perform(self, context: LaunchContext) -> str:
        """Return the text in this context."""
        raise NotImplementedError

    def describe(self) -> str:
        """Return a short text for `--show-args` and `--print`."""
        return f"{type(self).__name__}()"
