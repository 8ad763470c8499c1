"""Evaluating what launch files give where text or substitutions are wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .some_substitutions_type import SomeSubstitutionsType
from .utilities import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from .launch_context import LaunchContext


def evaluate_text(context: LaunchContext, value: SomeSubstitutionsType) -> str:
    """Return the text of anything that can be normalized to substitutions."""
    return perform_substitutions(context, normalize_to_list_of_substitutions(value))
