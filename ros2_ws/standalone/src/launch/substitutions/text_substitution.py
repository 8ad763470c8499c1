"""Literal text as a substitution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..substitution import Substitution

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class TextSubstitution(Substitution):
    """Text that stays as it is."""

    def __init__(self, *, text: str) -> None:
        if not isinstance(text, str):
            raise TypeError(f"TextSubstitution takes text, got {text!r}; write str(...) around it")
        self._text = text

    @property
    def text(self) -> str:
        """Return the text."""
        return self._text

    def perform(self, context: LaunchContext) -> str:
        """Return the text."""
        return self._text

    def describe(self) -> str:
        """Return the text in quotes."""
        return f"'{self._text}'"
