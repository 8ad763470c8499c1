"""Handler of the event that a process has written something."""

from __future__ import annotations

from collections.abc import Callable

from ..action import Action
from ..events.process import ProcessStderr
from .on_process_event_base import OnProcessEventBase, ProcessCallback


class OnProcessIO(OnProcessEventBase):
    """Calls `on_stderr` with each line that `target_action` writes to its standard error."""

    def __init__(
        self,
        *,
        target_action: Action | Callable[[Action], bool] | None = None,
        on_stderr: ProcessCallback,
    ) -> None:
        super().__init__(event_class=ProcessStderr, reaction=on_stderr, target_action=target_action)
