"""Helpers around substitutions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .some_substitutions_type import SomeSubstitutionsType
from .substitution import Substitution
from .substitutions.text_substitution import TextSubstitution

if TYPE_CHECKING:
    from .launch_context import LaunchContext


def normalize_to_list_of_substitutions(subs: SomeSubstitutionsType) -> list[Substitution]:
    """Return `subs` as a list of substitutions; TypeError names what is neither text nor substitution."""
    if isinstance(subs, str):
        return [TextSubstitution(text=subs)]
    if isinstance(subs, Substitution):
        return [subs]
    if isinstance(subs, Iterable):
        return [part for sub in subs for part in normalize_to_list_of_substitutions(sub)]
    raise TypeError(f"expected text or a substitution, got {subs!r} of type {type(subs).__name__}")


def perform_substitutions(context: LaunchContext, subs: Sequence[Substitution]) -> str:
    """Return the joined text of normalized substitutions."""
    return "".join(sub.perform(context) for sub in subs)
