"""Writes a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import logging
from ..action import Action
from ..condition import Condition
from ..some_substitutions_type import SomeSubstitutionsType
from ..substitution import Substitution
from ..utilities import normalize_to_list_of_substitutions, perform_substitutions

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class LogInfo(Action):
    """Writes a message to screen and log with level INFO."""

    def __init__(self, *, msg: SomeSubstitutionsType, condition: Condition | None = None) -> None:
        super().__init__(condition=condition)
        self._msg = normalize_to_list_of_substitutions(msg)

    @property
    def msg(self) -> list[Substitution]:
        """Return the message as substitutions."""
        return self._msg

    def execute(self, context: LaunchContext) -> None:
        """Write the message."""
        logging.get_logger("launch.user").info(perform_substitutions(context, self._msg))
