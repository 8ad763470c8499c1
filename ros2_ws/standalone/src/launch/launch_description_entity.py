"""Base of everything that can stand in a launch description."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .launch_context import LaunchContext


class LaunchDescriptionEntity:
    """Visited once by the launch; may yield more entities and a future that ends when it is done."""

    def visit(self, context: LaunchContext) -> Sequence[LaunchDescriptionEntity] | None:
        """Execute the entity and return further entities to visit, in order."""
        raise NotImplementedError

    def get_asyncio_future(self) -> asyncio.Future[None] | None:
        """Return a future that the launch has to wait for, or None."""
        return None

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return the entities known without executing this one (for `--show-args` and `--print`)."""
        return []

    def describe(self) -> str:
        """Return one line for `--print`."""
        return type(self).__name__
