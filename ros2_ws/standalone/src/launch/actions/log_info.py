"""Writes a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import logging
from .._evaluation import evaluate_text
from ..action import Action
from ..condition import Condition
from ..some_substitutions_type import SomeSubstitutionsType

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class LogInfo(Action):
    """Writes a message to screen and log with level INFO."""

    def __init__(self, *, msg: SomeSubstitutionsType, condition: Condition | None = None) -> None:
        super().__init__(condition=condition)
        self._msg = msg

    def execute(self, context: LaunchContext) -> None:
        """Write the message."""
        logging.get_logger("launch.user").info(evaluate_text(context, self._msg))
