"""Events of the processes that a launch runs."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..event import Event

if TYPE_CHECKING:
    from ..actions import ExecuteProcess


class RunningProcessEvent(Event):
    """Something about one process."""

    name = "launch.events.process.RunningProcessEvent"

    def __init__(
        self,
        *,
        action: ExecuteProcess,
        name: str,
        cmd: list[str],
        cwd: str | None,
        env: dict[str, str] | None,
        pid: int | None,
    ) -> None:
        self.action = action
        self.process_name = name
        self.cmd = cmd
        self.cwd = cwd
        self.env = env
        self.pid = pid


class ProcessStarted(RunningProcessEvent):
    """A process was started."""

    name = "launch.events.process.ProcessStarted"


class ProcessExited(RunningProcessEvent):
    """A process ended; `returncode` is negative for a signal, 127 (and `pid` None) if it could not start."""

    name = "launch.events.process.ProcessExited"

    def __init__(self, *, returncode: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.returncode = returncode


class ProcessStderr(RunningProcessEvent):
    """A process wrote `text` to its standard error: bytes as they were read, of lines that may be cut anywhere."""

    name = "launch.events.process.ProcessStderr"

    def __init__(self, *, text: bytes, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.text = text


class ProcessTargetedEvent(Event):
    """A request to the processes that `process_matcher` accepts."""

    name = "launch.events.process.ProcessTargetedEvent"

    def __init__(self, *, process_matcher: Callable[[ExecuteProcess], bool]) -> None:
        self.process_matcher = process_matcher


class ShutdownProcess(ProcessTargetedEvent):
    """Shut one process down with the usual escalation."""

    name = "launch.events.process.ShutdownProcess"


class SignalProcess(ProcessTargetedEvent):
    """Send a signal to a process."""

    name = "launch.events.process.SignalProcess"

    def __init__(self, *, signal_number: str | int, process_matcher: Callable[[ExecuteProcess], bool]) -> None:
        super().__init__(process_matcher=process_matcher)
        if isinstance(signal_number, str):
            self.signal = signal.Signals[signal_number]
        else:
            self.signal = signal.Signals(signal_number)
        self.signal_name = self.signal.name
