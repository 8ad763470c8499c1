"""Helpers around substitutions that actions of `launch` and `launch_ros` share."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .some_substitutions_type import SomeSubstitutionsType
from .substitution import Substitution
from .substitutions.text_substitution import TextSubstitution

if TYPE_CHECKING:
    from .launch_context import LaunchContext
    from .launch_description_entity import LaunchDescriptionEntity


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
    """Return the joined text of normalised substitutions."""
    return "".join(sub.perform(context) for sub in subs)


def evaluate_text(context: LaunchContext, value: SomeSubstitutionsType) -> str:
    """Return the text of anything that can be normalised to substitutions."""
    return perform_substitutions(context, normalize_to_list_of_substitutions(value))


def visit_all_entities_and_collect_futures(
    entity: LaunchDescriptionEntity, context: LaunchContext
) -> list[tuple[LaunchDescriptionEntity, asyncio.Future[None]]]:
    """Visit `entity` and, depth first, everything that it yields; return the futures to wait for."""
    pairs: list[tuple[LaunchDescriptionEntity, asyncio.Future[None]]] = []
    sub_entities = entity.visit(context)
    future = entity.get_asyncio_future()
    if future is not None:
        pairs.append((entity, future))
    for sub_entity in sub_entities or ():
        pairs += visit_all_entities_and_collect_futures(sub_entity, context)
    return pairs
