"""Executes actions after a time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

from .._evaluation import evaluate_text
from ..action import Action
from ..condition import Condition
from ..event_handler import EventHandler
from ..event_handlers import OnShutdown
from ..events import TimerEvent
from ..launch_description_entity import LaunchDescriptionEntity
from ..some_substitutions_type import SomeSubstitutionsType

if TYPE_CHECKING:
    from ..event import Event
    from ..launch_context import LaunchContext


class TimerAction(Action):
    """Executes its actions `period` seconds after it was executed itself; a shutdown cancels it."""

    def __init__(
        self,
        *,
        period: float | SomeSubstitutionsType,
        actions: Iterable[LaunchDescriptionEntity],
        cancel_on_shutdown: bool = True,
        condition: Condition | None = None,
    ) -> None:
        super().__init__(condition=condition)
        self._period = str(period) if isinstance(period, int | float) else period
        self._actions = list(actions)
        self._cancel_on_shutdown = cancel_on_shutdown
        self._over: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def actions(self) -> list[LaunchDescriptionEntity]:
        """Return the actions to execute."""
        return self._actions

    def get_sub_entities(self) -> list[LaunchDescriptionEntity]:
        """Return the actions."""
        return self._actions

    def get_asyncio_future(self) -> asyncio.Future[None] | None:
        """Return a future that ends with the period or with `cancel`."""
        return self._over

    def execute(self, context: LaunchContext) -> None:
        """Begin the period; ValueError if it is no number of seconds."""
        if context.is_shutdown and self._cancel_on_shutdown:
            return
        period_s = float(evaluate_text(context, self._period))
        self._over = context.asyncio_loop.create_future()
        context.register_event_handler(EventHandler(matcher=self._is_own, entities=self._actions, handle_once=True))
        if self._cancel_on_shutdown:
            context.register_event_handler(OnShutdown(on_shutdown=lambda event, context: self.cancel()))
        self._timer = context.asyncio_loop.call_later(period_s, self._end, context)

    def cancel(self) -> None:
        """End the timer without executing its actions; does nothing if it is over."""
        if self._timer is not None:
            self._timer.cancel()
        if self._over is not None and not self._over.done():
            self._over.set_result(None)

    def _end(self, context: LaunchContext) -> None:
        # The event first: the launch must not find itself idle between the two.
        context.emit_event_sync(TimerEvent(timer_action=self))
        if self._over is not None and not self._over.done():
            self._over.set_result(None)

    def _is_own(self, event: Event) -> bool:
        return isinstance(event, TimerEvent) and event.timer_action is self
