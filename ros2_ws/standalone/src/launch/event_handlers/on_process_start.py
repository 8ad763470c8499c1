"""Handler of the event that a process was started."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..action import Action
from ..events.process import ProcessStarted
from .on_process_event_base import OnProcessEventBase, ProcessCallback

if TYPE_CHECKING:
    from ..some_entities_type import SomeEntitiesType


class OnProcessStart(OnProcessEventBase):
    """Executes `on_start` when `target_action` has started."""

    def __init__(
        self,
        *,
        target_action: Action | Callable[[Action], bool] | None = None,
        on_start: SomeEntitiesType | ProcessCallback,
        handle_once: bool = False,
    ) -> None:
        super().__init__(
            event_class=ProcessStarted,
            reaction=on_start,
            target_action=target_action,
            handle_once=handle_once,
        )
