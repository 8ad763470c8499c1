"""The event loop of a launch: visits the descriptions, handles events, waits for processes, ends in order."""

from __future__ import annotations

import asyncio
import signal
import traceback
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from . import logging
from ._entities import as_entities
from ._processes import tags
from ._processes.keeper import Keeper
from .event import Event
from .events import Shutdown
from .events.process import SignalProcess
from .launch_context import LaunchContext
from .launch_description import LaunchDescription
from .launch_description_entity import LaunchDescriptionEntity

T = TypeVar("T")

_ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class LaunchService:
    """Runs launch descriptions until they are idle or have to shut down."""

    def __init__(self, *, argv: Iterable[str] | None = None, noninteractive: bool = False, debug: bool = False) -> None:
        self._context = LaunchContext(argv=argv, noninteractive=noninteractive)
        self._debug = debug
        self._included: list[LaunchDescription] = []
        self._futures: list[asyncio.Future[None]] = []
        self._shutting_down = False
        self._interruptions = 0
        self._return_code = 0

    @property
    def context(self) -> LaunchContext:
        """Return the context of this launch."""
        return self._context

    def include_launch_description(self, launch_description: LaunchDescription) -> None:
        """Visit a description when the launch runs."""
        self._included.append(launch_description)

    def emit_event(self, event: Event) -> None:
        """Queue an event."""
        self._context.emit_event_sync(event)

    def shutdown(self) -> None:
        """Begin to shut down."""
        self._begin_shutdown("LaunchService.shutdown() called", due_to_sigint=False)

    def run(self, *, shutdown_when_idle: bool = True) -> int:
        """Run until everything has ended; return 0, or 1 if an error or SIGTERM ended the launch."""
        return asyncio.run(self.run_async(shutdown_when_idle=shutdown_when_idle))

    async def run_async(self, *, shutdown_when_idle: bool = True) -> int:
        """Run in the current loop of the main thread; see `run`."""
        loop = asyncio.get_running_loop()
        self._logger = logging.get_logger("launch")
        self._context._asyncio_loop = loop
        self._context._event_arrived = asyncio.Event()
        self._context._launch_tag = tags.new_launch_tag()
        for number in _ENDING_SIGNALS:
            loop.add_signal_handler(number, self._on_signal, number)
        keeper = Keeper(self._context._launch_tag, tags.VARIABLE)
        self._context._keeper = keeper
        try:
            logging._begin_launch(debug=self._debug, on_reader_gone=self._on_reader_gone)
            self._logger = logging.get_logger("launch")
            for description in self._included:
                self._guarded(self._visit, description)
            await self._run_loop(shutdown_when_idle)
        finally:
            for number in _ENDING_SIGNALS:
                loop.remove_signal_handler(number)
            for callback in self._context._end_callbacks:
                callback()
            keeper.say_goodbye()
        return self._return_code

    async def _run_loop(self, shutdown_when_idle: bool) -> None:
        arrived = self._context._event_arrived
        assert arrived is not None
        while True:
            while self._context._event_queue:
                self._guarded(self._handle, self._context._event_queue.popleft())
            waiting = self._unfinished_futures()
            if not waiting:
                if self._context._event_queue:
                    continue
                if self._shutting_down:
                    return
                if shutdown_when_idle:
                    self._begin_shutdown("idle", due_to_sigint=False)
                    continue
            arrived.clear()
            if self._context._event_queue:
                continue
            arrival = asyncio.get_running_loop().create_task(arrived.wait())
            anything: list[asyncio.Future[Any]] = [arrival, *waiting]
            await asyncio.wait(anything, return_when=asyncio.FIRST_COMPLETED)
            arrival.cancel()

    def _unfinished_futures(self) -> list[asyncio.Future[None]]:
        """Return what the launch still waits for; an error in one that has ended ends the launch."""
        everything = self._futures + self._context._completion_futures
        self._futures = [future for future in everything if not future.done()]
        self._context._completion_futures = []
        for future in everything:
            if future.done():
                self._guarded(_raise_error_of, future)
        return self._futures

    # --- events

    def _handle(self, event: Event) -> None:
        if isinstance(event, Shutdown):
            self._shutting_down = True
            self._context._is_shutdown = True
        for handler in tuple(self._context._event_handlers):
            if handler not in self._context._event_handlers or not handler.matches(event):
                continue
            self._context._push_locals()
            try:
                for entity in as_entities(handler.handle(event, self._context)):
                    self._visit(entity)
            finally:
                self._context._pop_locals()

    def _visit(self, entity: LaunchDescriptionEntity) -> None:
        """Visit an entity and, depth first, everything that it yields; collect what to wait for.

        Collected one by one: when an entity fails, the processes begun before it are still waited for.
        """
        sub_entities = entity.visit(self._context)
        future = entity.get_asyncio_future()
        if future is not None:
            self._futures.append(future)
        for sub_entity in sub_entities or ():
            self._visit(sub_entity)

    def _guarded(self, function: Callable[[T], None], argument: T) -> None:
        """Call launch file code; an error in it is printed in one line and shuts the launch down."""
        try:
            function(argument)
        except Exception as error:  # noqa: BLE001  (any error of a launch file's own code has to end the launch)
            self._logger.debug(traceback.format_exc())
            if function == self._visit and self._futures:
                self._logger.warning(
                    f"{len(self._futures)} processes were started before this error; ROS 2's own launch leaves "
                    "them running: have the launch file check everything before its first process"
                )
            message = f"Caught exception in launch (see debug for traceback): {error}"
            self._logger.error(message)
            self._return_code = 1
            self._begin_shutdown(message, due_to_sigint=False)

    # --- shutdown

    def _begin_shutdown(self, reason: str, *, due_to_sigint: bool) -> None:
        if self._shutting_down:
            return
        self._shutting_down = True
        self._context._is_shutdown = True
        self._context.emit_event_sync(Shutdown(reason=reason, due_to_sigint=due_to_sigint))

    def _on_signal(self, number: signal.Signals) -> None:
        self._interruptions += 1
        name = signal.Signals(number).name
        who = "user interrupted with ctrl-c (SIGINT)" if number == signal.SIGINT else f"received {name}"
        if self._interruptions == 1:
            self._logger.warning(who)
            if number != signal.SIGINT:
                self._return_code = 1
            self._begin_shutdown(who, due_to_sigint=number == signal.SIGINT)
            return
        # Somebody is losing patience: each further signal is the next step of the escalation at once.
        step = signal.SIGTERM if self._interruptions == 2 else signal.SIGKILL
        self._logger.warning(f"{who} again, sending {step.name} to what is still running")
        self.emit_event(SignalProcess(signal_number=step, process_matcher=lambda action: True))

    def _on_reader_gone(self) -> None:
        """End in order because nobody reads the launch's output any more (`ros2 launch ... | head`)."""
        self._return_code = 1
        self._begin_shutdown("the reader of the output is gone", due_to_sigint=False)


def _raise_error_of(future: asyncio.Future[None]) -> None:
    future.result()
