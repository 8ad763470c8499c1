"""An object in a process of its own, for what must keep time: calls through a socket, and a stream of what it shows.

A loop that shares its interpreter with the middleware waits whenever that holds the interpreter's lock, and the
middleware may hold it for a third of a second while it waits for a process that is not even its own. The other way
round nobody waits for this process either: it may hang, and the node must still hear an emergency stop.
"""

from __future__ import annotations

import pickle
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from kc_vla.arm.progress import Patience

_SHOWN = 1 << 15
"""Bytes of what is shown that may wait to be looked at; what comes after is lost."""
_LARGEST = 1 << 16
_FAREWELL_S = 5.0
_POLL_S = 0.1
_HANGS_S = 20.0
"""A process that starts and does nothing for so long hangs."""
_PASSED_ON = (RuntimeError, ValueError, OSError)
"""Errors of a call that are raised where it was made; others end the process."""


class RemoteError(RuntimeError):
    """The other process has gone or does not answer."""


class Answer:
    """What a call will have returned.

    Attributes:
        came_at: steady time at which it was there, s; infinite before.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._made_at = time.monotonic()
        self.came_at = float("inf")
        self._outcome: tuple[Exception | None, Any] | None = None

    @property
    def done(self) -> bool:
        """Return whether it is there."""
        return self._outcome is not None

    def overdue(self, patience: float) -> RemoteError | None:
        """Return a line for the user if no answer has come within `patience` s, otherwise an empty text."""
        if self.done or time.monotonic() - self._made_at < patience:
            return None
        return RemoteError(
            f"its own process has not answered '{self._name}' for {patience:g} s: where the machine is busy, try again"
        )

    def result(self) -> Any:
        """Return what was returned.

        Raises:
            RuntimeError, ValueError, OSError: as the method raised it.
        """
        assert self._outcome is not None
        error, value = self._outcome
        if error is not None:
            raise error
        return value

    def settle(self, error: Exception | None, value: Any) -> None:
        """Take in the answer."""
        self.came_at, self._outcome = time.monotonic(), (error, value)


class Remote:
    """The end of the one who starts the process, makes calls and looks at what is shown. Thread-safe but for `look`."""

    def __init__(self, main: Callable[[], None]) -> None:
        """Start `main`, a module's function, which makes a `Calls` of the arguments of its process."""
        self._lock = threading.Lock()
        self._number = 0
        self._waiting: dict[int, Answer] = {}
        pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(2)]
        theirs = [pair[1].fileno() for pair in pairs]
        begin = f"from {main.__module__} import {main.__name__} as main; main()"
        self._process = subprocess.Popen([sys.executable, "-c", begin, *map(str, theirs)], pass_fds=theirs)
        for ours, other in pairs:
            other.close()
            ours.setblocking(False)
        self._line, self._shown = (pair[0] for pair in pairs)

    @property
    def pid(self) -> int:
        """Return the id of the process."""
        return self._process.pid

    @property
    def ended(self) -> bool:
        """Return whether the process has ended."""
        return self._process.poll() is not None

    def ask(self, name: str, *arguments: object) -> Answer:
        """Have the other do its method `name`; the answer comes with one of the next calls of `hear`.

        Raises:
            RemoteError: it has gone, or takes in nothing more.
        """
        with self._lock:
            self._number += 1
            answer = Answer(name)
            self._send(self._number, name, arguments)
            self._waiting[self._number] = answer
            return answer

    def tell(self, name: str, *arguments: object) -> None:
        """Have the other do `name` with its next round; what comes of it is not asked for.

        Raises:
            RemoteError: it has gone, or takes in nothing more.
        """
        with self._lock:
            self._send(0, name, arguments)

    def hear(self) -> None:
        """Take in the answers that have come.

        Raises:
            RemoteError: the other has gone.
        """
        with self._lock:
            while (packet := _received(self._line)) is not None:
                number, error, value = pickle.loads(packet)
                answer = self._waiting.pop(number, None)
                if answer is not None:
                    answer.settle(error, value)

    def call(self, name: str, *arguments: object, patience: float = 10.0) -> Any:
        """Call the other's method `name`, and return its result within `patience` s.

        Do not call it from a thread on which others wait.

        Raises:
            RemoteError: it does not answer.
            RuntimeError, ValueError, OSError: as the method raised it.
        """
        answer = self.ask(name, *arguments)
        while not answer.done:
            if late := answer.overdue(patience):
                raise late
            select.select([self._line], [], [], _POLL_S)
            self.hear()
        return answer.result()

    def start(self, what: str, say: Callable[[str], None], name: str, *arguments: object) -> Any:
        """Call the other's first method `name`, and return its result as long as the process makes progress.

        Args:
            what: is waited for, for who reads what `say` says of it now and then.
            say: takes that.
            name: of the method.
            arguments: of it.

        Raises:
            RemoteError: it hangs, or has ended.
            RuntimeError, ValueError, OSError: as the method raised it.
        """
        patience = Patience(self.pid, what, _HANGS_S)
        answer = self.ask(name, *arguments)
        while not answer.done:
            if hangs := patience.exhausted:
                raise RemoteError(hangs)
            if news := patience.news:
                say(news)
            select.select([self._line], [], [], _POLL_S)
            self.hear()
        return answer.result()

    def look(self) -> list[Any]:
        """Return what was shown since the last look, the oldest first.

        Raises:
            RemoteError: the other has gone.
        """
        shown: list[Any] = []
        while (packet := _received(self._shown)) is not None:
            shown.append(pickle.loads(packet))
        return shown

    def hang_up(self) -> None:
        """Close the connection, upon which the other process ends by itself; `ended` says when."""
        self._line.close()
        self._shown.close()

    def close(self) -> None:
        """Close the connection, and wait a while for the other's end."""
        self.hang_up()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_FAREWELL_S)

    def _send(self, number: int, name: str, arguments: tuple[object, ...]) -> None:
        try:
            self._line.send(pickle.dumps((number, name, arguments)))
        except BlockingIOError as full:
            raise RemoteError("its own process hangs and takes in nothing more") from full
        except OSError as gone:
            raise RemoteError("its own process has ended") from gone


class Calls:
    """The end of the process that was started: it lives until the other closes the connection, whatever signals come.

    Attributes:
        ended: the other has closed the connection.
    """

    def __init__(self, arguments: list[str]) -> None:
        """Take up the connection to the process that started this one.

        Args:
            arguments: of the process, as `Remote` gave them.
        """
        self._line, self._shown = (socket.socket(fileno=int(number)) for number in arguments)
        for end in (self._line, self._shown):
            end.setblocking(False)
        self._shown.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SHOWN)
        self.ended = False
        for number in (signal.SIGINT, signal.SIGTERM):  # a terminal's Ctrl-C comes here, too; the other decides
            signal.signal(number, signal.SIG_IGN)

    def answer_until(self, served: object, ready: Callable[[], bool]) -> None:
        """Answer calls with `answer` until `ready()` is true or the other side has closed the connection."""
        while not ready() and not self.ended:
            select.select([self._line], [], [], _POLL_S)
            self.answer(served)

    def answer(self, served: object) -> None:
        """Do what was asked by now; it is a method of `served`."""
        try:
            while (packet := _received(self._line)) is not None:
                number, name, arguments = pickle.loads(packet)
                error = result = None
                try:
                    result = getattr(served, name)(*arguments)
                except _PASSED_ON as raised:
                    error = raised
                if number:
                    with suppress(BlockingIOError):  # nobody listens; what asked has given up by now
                        self._line.send(pickle.dumps((number, error, result)))
        except (OSError, RemoteError):
            self.ended = True

    def show(self, value: object) -> None:
        """Show something, unless nobody has looked for a while."""
        with suppress(OSError):  # nobody looks, or nobody is there, which `answer` finds
            self._shown.send(pickle.dumps(value))


def _received(end: socket.socket) -> bytes | None:
    """Return the next packet; None where there is none now.

    Raises:
        RemoteError: the other end is gone.
    """
    try:
        packet = end.recv(_LARGEST)
    except BlockingIOError:
        return None
    except OSError as gone:
        raise RemoteError("its own process has ended") from gone
    if not packet:
        raise RemoteError("its own process has ended")
    return packet
