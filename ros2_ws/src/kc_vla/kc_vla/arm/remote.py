"""An object in a process of its own, for what must keep time: calls through a pipe, and a stream of what it shows.

A loop that shares its interpreter with the middleware waits whenever that holds the interpreter's lock, and the
middleware may hold it for a third of a second while it waits for a process that is not even its own.
"""

from __future__ import annotations

import pickle
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

_SHOWN = 1 << 15
"""Bytes of what is shown that may wait to be looked at; what comes after is lost."""
_LARGEST = 1 << 14
_FAREWELL_S = 5.0
_POLL_S = 0.1
_PASSED_ON = (RuntimeError, ValueError, OSError)
"""Errors of a call that are raised where it was made; others end the process."""


class RemoteError(RuntimeError):
    """The other process has gone or does not answer."""


class Remote:
    """The end of the one who starts the process, makes calls and looks at what is shown. Thread-safe but for `look`."""

    def __init__(self, main: Callable[[], None]) -> None:
        """Start `main`, a module's function, which makes a `Calls` of the arguments of its process."""
        self._lock = threading.Lock()
        self._number = 0
        pairs = socket.socketpair(), socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        theirs = [pair[1].fileno() for pair in pairs]
        begin = f"from {main.__module__} import {main.__name__} as main; main()"
        self._process = subprocess.Popen([sys.executable, "-c", begin, *map(str, theirs)], pass_fds=theirs)
        for pair in pairs:
            pair[1].close()
        self._line, self._shown = Connection(pairs[0][0].detach()), pairs[1][0]
        self._shown.setblocking(False)

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    def call(self, name: str, *arguments: object, patience: float = 10.0) -> Any:
        """What the other's method `name` returns, within `patience` s.

        Raises:
            RemoteError: it does not answer.
            RuntimeError, ValueError, OSError: as the method raised it.
        """
        with self._lock:
            self._number += 1
            self._send(self._number, name, arguments)
            try:
                while self._line.poll(patience):
                    number, error, result = self._line.recv()
                    if number == self._number:
                        break  # and not one that was given up
                else:
                    raise RemoteError(f"its own process has not answered '{name}' for {patience:g} s")
            except (EOFError, OSError) as gone:
                raise RemoteError("its own process has ended") from gone
        if error is not None:
            raise error
        return result

    def tell(self, name: str, *arguments: object) -> None:
        """Have the other do `name` with its next round; it is not waited for.

        Raises:
            RemoteError: it has gone.
        """
        with self._lock:
            self._send(0, name, arguments)

    def look(self) -> list[Any]:
        """What was shown since the last look, the oldest first.

        Raises:
            RemoteError: the other has gone.
        """
        shown: list[Any] = []
        while True:
            try:
                packet = self._shown.recv(_LARGEST)
            except BlockingIOError:
                return shown
            except OSError as gone:
                raise RemoteError("its own process has ended") from gone
            if not packet:
                raise RemoteError("its own process has ended")
            shown.append(pickle.loads(packet))

    def close(self) -> None:
        """Hang up, upon which the other ends by itself; wait for that."""
        self._line.close()
        self._shown.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_FAREWELL_S)

    def _send(self, number: int, name: str, arguments: tuple[object, ...]) -> None:
        try:
            self._line.send((number, name, arguments))
        except OSError as gone:
            raise RemoteError("its own process has ended") from gone


class Calls:
    """The end of the process that was started: it lives until the other hangs up, whatever signals come.

    Attributes:
        ended: the other has hung up.
    """

    def __init__(self, arguments: list[str]) -> None:
        """Args: `arguments` of the process, as `Remote` gave them."""
        line, shown = map(int, arguments)
        self._line, self._shown = Connection(line), socket.socket(fileno=shown)
        self._shown.setblocking(False)
        self._shown.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SHOWN)
        self.ended = False
        for number in (signal.SIGINT, signal.SIGTERM):  # a terminal's Ctrl-C comes here, too; the other decides
            signal.signal(number, signal.SIG_IGN)

    def answer_until(self, served: object, ready: Callable[[], bool]) -> None:
        """Do what is asked, as `answer`, until `ready()` or the other has hung up."""
        while not ready() and not self.ended:
            with suppress(OSError):
                self._line.poll(_POLL_S)
            self.answer(served)

    def answer(self, served: object) -> None:
        """Do what was asked by now; it is a method of `served`."""
        try:
            while not self.ended and self._line.poll():
                number, name, arguments = self._line.recv()
                error = result = None
                try:
                    result = getattr(served, name)(*arguments)
                except _PASSED_ON as raised:
                    error = raised
                if number:
                    self._line.send((number, error, result))
        except (EOFError, OSError):
            self.ended = True

    def show(self, value: object) -> None:
        """Show something, unless nobody has looked for a while."""
        with suppress(OSError):  # nobody looks, or nobody is there, which `answer` finds
            self._shown.send(pickle.dumps(value))
