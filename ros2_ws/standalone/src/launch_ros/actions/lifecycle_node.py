"""A node with a managed lifecycle."""

from __future__ import annotations

from typing import Any

from launch.some_substitutions_type import SomeSubstitutionsType

from .node import Node


class LifecycleNode(Node):
    """A Node that has to have a name and a namespace.

    The stand-in runs it as any other node; it does not follow or request transitions.
    """

    def __init__(self, *, name: SomeSubstitutionsType, namespace: SomeSubstitutionsType, **kwargs: Any) -> None:
        super().__init__(name=name, namespace=namespace, **kwargs)
