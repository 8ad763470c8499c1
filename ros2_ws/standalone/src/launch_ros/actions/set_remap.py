"""Sets a remapping of the nodes that follow in the same scope."""

from __future__ import annotations

from typing import TYPE_CHECKING

from launch._evaluation import evaluate_text
from launch.action import Action
from launch.condition import Condition
from launch.some_substitutions_type import SomeSubstitutionsType

from .._global_settings import add_global_remap

if TYPE_CHECKING:
    from launch.launch_context import LaunchContext


class SetRemap(Action):
    """Sets one remapping; the remappings of a node itself come after it."""

    def __init__(
        self, src: SomeSubstitutionsType, dst: SomeSubstitutionsType, *, condition: Condition | None = None
    ) -> None:
        super().__init__(condition=condition)
        self._src, self._dst = src, dst

    def execute(self, context: LaunchContext) -> None:
        """Add the remapping to the scope."""
        add_global_remap(context, (evaluate_text(context, self._src), evaluate_text(context, self._dst)))
