"""Handler of the event that a process has ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..action import Action
from ..events.process import ProcessExited
from .on_process_event_base import OnProcessEventBase, ProcessCallback

if TYPE_CHECKING:
    from ..some_entities_type import SomeEntitiesType


class OnProcessExit(OnProcessEventBase):
    """Executes `on_exit` when `target_action` ends."""

    def __init__(
        self,
        *,
        target_action: Action | Callable[[Action], bool] | None = None,
        on_exit: SomeEntitiesType | ProcessCallback,
        handle_once: bool = False,
    ) -> None:
        super().__init__(
            event_class=ProcessExited,
            reaction=on_exit,
            target_action=target_action,
            handle_once=handle_once,
        )
