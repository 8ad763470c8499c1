"""The state of a running launch: configurations, environment, locals, event handlers and event queue."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Callable, Iterable, MutableMapping
from types import SimpleNamespace
from typing import Any

from ._processes.keeper import Keeper
from .event import Event
from .event_handler import EventHandler
from .substitution import Substitution


class LaunchContext:
    """What substitutions are performed in and actions are executed in."""

    def __init__(self, *, argv: Iterable[str] | None = None, noninteractive: bool = False) -> None:
        self.argv = list(argv or ())
        self.noninteractive = noninteractive
        self.launch_configurations: dict[str, Any] = {}
        self._configuration_stack: list[dict[str, Any]] = []
        self._environment_stack: list[dict[str, str]] = []
        self._environment_at_start = dict(os.environ)
        self._globals: dict[str, Any] = {}
        self._locals_stack: list[dict[str, Any]] = [{}]
        self._event_handlers: deque[EventHandler] = deque()
        self._event_queue: deque[Event] = deque()
        self._event_arrived: asyncio.Event | None = None
        self._keeper: Keeper | None = None
        self._launch_tag = ""
        self._completion_futures: list[asyncio.Future[None]] = []
        self._asyncio_loop: asyncio.AbstractEventLoop | None = None
        self._is_shutdown = False
        self._end_callbacks: list[Callable[[], None]] = []

    # --- run state

    @property
    def is_shutdown(self) -> bool:
        """Return whether the launch has begun to shut down."""
        return self._is_shutdown

    @property
    def asyncio_loop(self) -> asyncio.AbstractEventLoop:
        """Return the loop of the running launch; RuntimeError outside a run."""
        if self._asyncio_loop is None:
            raise RuntimeError("the launch is not running")
        return self._asyncio_loop

    def add_completion_future(self, future: asyncio.Future[None]) -> None:
        """Make the launch wait for `future` before it ends."""
        self._completion_futures.append(future)

    def _at_end(self, callback: Callable[[], None]) -> None:
        """Call `callback` when every process of the launch has ended."""
        self._end_callbacks.append(callback)

    # --- launch configurations and environment

    @property
    def environment(self) -> MutableMapping[str, str]:
        """Return the environment that substitutions read and processes inherit: the launcher's own, as upstream."""
        return os.environ

    def _push_launch_configurations(self) -> None:
        self._configuration_stack.append(self.launch_configurations.copy())

    def _pop_launch_configurations(self) -> None:
        self._replace_configurations(self._configuration_stack.pop())

    def _replace_configurations(self, configurations: dict[str, Any]) -> None:
        # In place: launch files keep references to this dictionary.
        self.launch_configurations.clear()
        self.launch_configurations.update(configurations)

    def _push_environment(self) -> None:
        self._environment_stack.append(dict(os.environ))

    def _pop_environment(self) -> None:
        self._replace_environment(self._environment_stack.pop())

    def _reset_environment(self) -> None:
        self._replace_environment(self._environment_at_start)

    @staticmethod
    def _replace_environment(environment: dict[str, str]) -> None:
        for name in os.environ.keys() - environment.keys():
            del os.environ[name]
        os.environ.update(environment)

    # --- locals

    @property
    def locals(self) -> SimpleNamespace:
        """Return values of the current scope as attributes (the event being handled, the launch file's folder)."""
        return SimpleNamespace(**self.get_locals_as_dict())

    def get_locals_as_dict(self) -> dict[str, Any]:
        """Return globals and the current locals merged, locals first."""
        return {**self._globals, **self._locals_stack[-1]}

    def extend_globals(self, extension: dict[str, Any]) -> None:
        """Add values that every scope sees."""
        self._globals.update(extension)

    def extend_locals(self, extension: dict[str, Any]) -> None:
        """Add values to the current scope."""
        self._locals_stack[-1].update(extension)

    def _remove_local(self, name: str) -> None:
        self._locals_stack[-1].pop(name, None)

    def _push_locals(self) -> None:
        self._locals_stack.append(dict(self._locals_stack[-1]))

    def _pop_locals(self) -> None:
        if len(self._locals_stack) == 1:
            raise RuntimeError("the outermost scope of locals cannot be popped")
        self._locals_stack.pop()

    # --- events

    def register_event_handler(self, event_handler: EventHandler, append: bool = False) -> None:
        """Register a handler; the last registered is asked first unless `append` is set."""
        if append:
            self._event_handlers.append(event_handler)
        else:
            self._event_handlers.appendleft(event_handler)

    def unregister_event_handler(self, event_handler: EventHandler) -> None:
        """Remove a handler; ValueError if it is not registered."""
        self._event_handlers.remove(event_handler)

    def emit_event_sync(self, event: Event) -> None:
        """Queue an event, from any thread; it is handled by the running loop."""
        self._event_queue.append(event)
        if self._event_arrived is not None and self._asyncio_loop is not None:
            self._asyncio_loop.call_soon_threadsafe(self._event_arrived.set)

    async def emit_event(self, event: Event) -> None:
        """Queue an event from a coroutine."""
        self.emit_event_sync(event)

    def perform_substitution(self, sub: Substitution) -> str:
        """Return the text of one substitution in this context."""
        return sub.perform(self)
