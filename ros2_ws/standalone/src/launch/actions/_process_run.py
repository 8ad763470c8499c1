"""The life of a launched process: start, output, end, respawn, shutdown."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from logging import Logger
from typing import TYPE_CHECKING, Any

from .. import logging
from .._processes.child import ChildProcess, ProcessSpec
from .._processes.tags import process_tag
from ..event import Event
from ..event_handler import EventHandler
from ..event_handlers import OnShutdown
from ..events.process import (
    ProcessExited,
    ProcessStarted,
    ProcessStderr,
    ProcessTargetedEvent,
    ShutdownProcess,
    SignalProcess,
)

if TYPE_CHECKING:
    from ..launch_context import LaunchContext
    from .execute_process import ExecuteProcess


@dataclass(frozen=True)
class RunOptions:
    """The arguments of an ExecuteProcess action with all substitutions performed."""

    name: str
    cmd: tuple[str, ...]
    cwd: str | None
    env: dict[str, str]
    shell: bool
    emulate_tty: bool
    sigterm_timeout_s: float
    sigkill_timeout_s: float
    output: str | Mapping[str, Any]
    output_format: str
    log_cmd: bool
    respawn: bool
    respawn_delay_s: float
    respawn_max_retries: int


class _RequestHandler(EventHandler):
    """Hands the events that are addressed to processes to a run."""

    def __init__(self, on_request: Callable[[Event], None]) -> None:
        super().__init__(matcher=lambda event: isinstance(event, ProcessTargetedEvent))
        self._on_request = on_request

    def handle(self, event: Event, context: LaunchContext) -> None:
        self._on_request(event)


class ProcessRun:
    """Runs the process of one action, again and again if it is to respawn."""

    def __init__(self, action: ExecuteProcess, context: LaunchContext, options: RunOptions) -> None:
        """Prepare the run; ValueError for an unknown `output`."""
        self._action = action
        self._context = context
        self._options = options
        self._log = logging.get_logger(options.name)
        self._stdout_log, self._stderr_log = logging.get_output_loggers(options.name, options.output)
        self._child: ChildProcess | None = None
        self._stop_wanted = asyncio.Event()
        self.completed: asyncio.Future[None] = context.asyncio_loop.create_future()
        self.details: dict[str, Any] | None = None
        self.return_code: int | None = None

    @property
    def name(self) -> str:
        """Return the name of the process in the output."""
        return self._options.name

    def begin(self) -> None:
        """Start the process as soon as the loop runs, and listen to events for it."""
        self._handlers = (
            OnShutdown(on_shutdown=lambda event, context: self._stop_wanted.set()),
            _RequestHandler(self._on_request),
        )
        for handler in self._handlers:
            self._context.register_event_handler(handler)
        task = self._context.asyncio_loop.create_task(self._run())
        task.add_done_callback(self._complete)

    def _complete(self, task: asyncio.Task[None]) -> None:
        for handler in self._handlers:
            self._context.unregister_event_handler(handler)
        error = task.exception()
        if error is None:
            self.completed.set_result(None)
        else:
            self.completed.set_exception(error)

    # --- the run

    async def _run(self) -> None:
        respawns = 0
        while not self._stop_wanted.is_set():
            if not await self._run_once():
                return
            limit = self._options.respawn_max_retries
            if not self._options.respawn or (0 <= limit <= respawns):
                return
            respawns += 1
            await self._pause(self._options.respawn_delay_s)

    async def _run_once(self) -> bool:
        """Run the process until its end; return False if it could not be started."""
        options = self._options
        shown_cmd = " ".join(options.cmd)
        if options.log_cmd:
            self._log.info(f"process details: cmd='{shown_cmd}', cwd='{options.cwd}'")
        tag = process_tag(self._context._launch_tag, id(self))
        spec = ProcessSpec(options.cmd, options.cwd, options.env, options.shell, options.emulate_tty, tag)
        try:
            child = ChildProcess(
                self._context.asyncio_loop,
                spec,
                lambda line: self._write(self._stdout_log, line),
                lambda line: self._write(self._stderr_log, line),
                self._emit_stderr,
            )
        except OSError as error:
            self._log.error(f"process cannot be started: {error.strerror}: '{error.filename}' [cmd '{shown_cmd}']")
            self._emit_exit(None, 127)
            return False
        self._child = child
        keeper = self._context._keeper
        assert keeper is not None, "a running launch has a keeper"
        keeper.add_session(child.pid)
        self._log.info(f"process started with pid [{child.pid}]")
        self.details = self._event_arguments(child.pid)
        self._context.emit_event_sync(ProcessStarted(**self.details))
        stopper = self._context.asyncio_loop.create_task(self._stop_when_wanted(child))
        self.return_code = await child.wait()
        stopper.cancel()
        if self.return_code == 0:
            self._log.info(f"process has finished cleanly [pid {child.pid}]")
        else:
            self._log.error(f"process has died [pid {child.pid}, exit code {self.return_code}, cmd '{shown_cmd}'].")
        self._emit_exit(child.pid, self.return_code)
        await child.end_leftovers(self._leftover_steps())
        keeper.remove_session(child.pid)
        return True

    async def _pause(self, duration_s: float) -> None:
        """Wait before a respawn; a shutdown ends the wait."""
        stop = self._context.asyncio_loop.create_task(self._stop_wanted.wait())
        await asyncio.wait([stop], timeout=duration_s)
        stop.cancel()

    def _leftover_steps(self) -> tuple[tuple[signal.Signals, float], ...]:
        """Return how to end what the process left behind: gently in a shutdown, faster after a crash."""
        steps = (
            (signal.SIGINT, self._options.sigterm_timeout_s),
            (signal.SIGTERM, self._options.sigkill_timeout_s),
        )
        return steps if self._stop_wanted.is_set() else steps[1:]

    # --- shutdown

    async def _stop_when_wanted(self, child: ChildProcess) -> None:
        """Wait for a shutdown, then end the process with more and more force."""
        await self._stop_wanted.wait()
        self._signal(signal.SIGINT)
        for last, patience_s, following in (
            (signal.SIGINT, self._options.sigterm_timeout_s, signal.SIGTERM),
            (signal.SIGTERM, self._options.sigkill_timeout_s, signal.SIGKILL),
        ):
            if await child.ends_within(patience_s):
                return
            self._log.error(
                f"process[{self.name}] failed to terminate '{patience_s:g}' seconds after receiving "
                f"'{last.name}', escalating to '{following.name}'"
            )
            self._signal(following)

    def _signal(self, signal_number: signal.Signals) -> None:
        if self._child is not None and self._child.send_signal(signal_number):
            self._log.info(f"sending signal '{signal_number.name}' to process[{self.name}]")

    def _on_request(self, event: Event) -> None:
        """Do what a SignalProcess or ShutdownProcess event asks of this process."""
        if isinstance(event, SignalProcess) and event.process_matcher(self._action):
            self._signal(event.signal)
        if isinstance(event, ShutdownProcess) and event.process_matcher(self._action):
            self._stop_wanted.set()

    # --- events and output

    def _event_arguments(self, pid: int | None) -> dict[str, Any]:
        return {
            "action": self._action,
            "name": self.name,
            "cmd": list(self._options.cmd),
            "cwd": self._options.cwd,
            "env": self._options.env,
            "pid": pid,
        }

    def _emit_exit(self, pid: int | None, return_code: int) -> None:
        self._context.emit_event_sync(ProcessExited(returncode=return_code, **self._event_arguments(pid)))

    def _emit_stderr(self, text: bytes) -> None:
        pid = None if self._child is None else self._child.pid
        self._context.emit_event_sync(ProcessStderr(text=text, **self._event_arguments(pid)))

    def _write(self, log: Logger, line: str) -> None:
        log.info("%s", self._options.output_format.format(line=line, this=self._action))
