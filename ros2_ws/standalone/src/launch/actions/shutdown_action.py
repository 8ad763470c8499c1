"""Shuts the launch down."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import logging
from ..condition import Condition
from ..events import Shutdown as ShutdownEvent
from ..events.process import ProcessExited
from .emit_event import EmitEvent

if TYPE_CHECKING:
    from ..launch_context import LaunchContext


class Shutdown(EmitEvent):
    """Ends the launch; as `on_exit=Shutdown()` it makes a process a required one."""

    def __init__(self, *, reason: str = "reason not given", condition: Condition | None = None) -> None:
        super().__init__(event=ShutdownEvent(reason=reason), condition=condition)

    def execute(self, context: LaunchContext) -> None:
        """Queue the shutdown; say which required process caused it."""
        event = context.get_locals_as_dict().get("event")
        # After the shutdown has begun every process ends: then none of them is its cause.
        if isinstance(event, ProcessExited) and not context.is_shutdown:
            logging.get_logger("launch").info(
                f"process[{event.process_name}] was required: shutting down launched system"
            )
        super().execute(context)
