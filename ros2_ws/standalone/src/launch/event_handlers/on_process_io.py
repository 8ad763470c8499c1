"""Handler of the event that a process has written something."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..action import Action
from ..events.process import ProcessStderr
from .on_process_event_base import OnProcessEventBase

if TYPE_CHECKING:
    from ..some_entities_type import SomeEntitiesType


class OnProcessIO(OnProcessEventBase):
    """Calls `on_stderr` with what `target_action` writes to its standard error, and with nothing else: no context."""

    def __init__(
        self,
        *,
        target_action: Action | Callable[[Action], bool] | None = None,
        on_stderr: Callable[[ProcessStderr], SomeEntitiesType | None],
    ) -> None:
        super().__init__(
            event_class=ProcessStderr, reaction=lambda event, context: on_stderr(event), target_action=target_action
        )
