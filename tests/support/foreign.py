"""Robots and cameras of others, as processes beside a test."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO

from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters

from tests.support.node_process import Peer

_HERE = Path(__file__).parent
_WAIT_S = 60.0


class ForeignRobotProcess:
    """See `tests.support.foreign_robot`; use it as a context manager."""

    def __init__(self, kind: str, log: Path) -> None:
        self._kind, self.log = kind, log

    def __enter__(self) -> ForeignRobotProcess:
        """Start it."""
        self._output: IO[bytes] = self.log.open("ab")
        self.process = _started("foreign_robot.py", self._output, self._kind)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it if it still runs."""
        self.end()
        self._output.close()

    def ask_for(self, fault: str, peer: Peer) -> None:
        """Let something go wrong, or nothing any more."""
        value = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=fault)
        request = SetParameters.Request(parameters=[Parameter(name="fault", value=value)])
        (done,) = peer.call(SetParameters, "/foreign_robot/set_parameters", request).results
        assert done.successful, done.reason

    def kill(self) -> None:
        """As when its machine goes."""
        self.process.kill()
        self.process.wait(_WAIT_S)

    def end(self) -> str:
        """End it; what it saw."""
        _end(self.process)
        return self.log.read_text()


@contextmanager
def foreign_cameras() -> Iterator[None]:
    """See `tests.support.foreign_cameras`."""
    process = _started("foreign_cameras.py", None)
    try:
        yield
    finally:
        _end(process)


def _started(program: str, output: IO[bytes] | None, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, str(_HERE / program), *arguments], stdout=output, stderr=output)


def _end(process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + _WAIT_S
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(5.0)
        except subprocess.TimeoutExpired:
            assert time.monotonic() < until, "it does not end"
