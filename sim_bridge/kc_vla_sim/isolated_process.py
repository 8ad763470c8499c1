"""Runs what needs other packages, such as a motion planner, in a process and a Python of its own.

Arrays go there and back through pipes as .npz, never pickled. docs/your_own_task.md has an example.
"""

from __future__ import annotations

import io
import lzma
import os
import select
import struct
import subprocess
import sys
import time
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kc_vla.core.crashes import crash_in_words
from kc_vla_sim.errors import SimulationError

_SIDE = Path(__file__).with_name("isolated_process_side.py")
_LENGTH = 8
"""Bytes that tell how long a message is."""
_LONGEST = 2**28
"""A message is no longer, bytes."""
_ERROR = "_error"
"""What an error of the other side is called among the arrays that it answers with."""
_OURS = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "VIRTUAL_ENV")
"""Variables that would bring our packages into the other Python."""
_PATIENCE_S = 2.0
"""Until a process whose pipe has closed is known to have ended."""


class ApartError(SimulationError):
    """The process is not there, did not answer in time, or answered with an error."""


class Apart:
    """A script in a process of its own, whose function `answer` is called with arrays and returns arrays."""

    def __init__(
        self,
        script: str | Path,
        python: str | Path = sys.executable,
        deadline: float = 30.0,
        starting: float = 120.0,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start it; nothing is waited for until the first call.

        Args:
            script: a Python file with a function `answer`, which takes arrays by their names and returns a dictionary
                of arrays. What it prints goes to standard error.
            python: the interpreter that has the packages which it imports, and numpy.
            deadline: for each answer, s.
            starting: for its imports, s.
            environment: variables beside ours, of which those that name our packages are left out.

        Raises:
            ApartError: there is no such script, or the interpreter does not start.
        """
        self._script, self._deadline, self._starting = Path(script), deadline, starting
        self._begun = False
        if not self._script.is_file():
            raise ApartError(f"there is no script {self._script} to run apart")
        ours = {name: value for name, value in os.environ.items() if name not in _OURS}
        try:
            self._process = subprocess.Popen(
                [str(python), "-X", "faulthandler", str(_SIDE), str(self._script.resolve())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**ours, **(environment or {})},
                bufsize=0,
            )
        except OSError as error:
            raise ApartError(f"{python}, which is to run {self._script}, does not start: {error.strerror}") from error

    def __call__(self, **given: ArrayLike) -> dict[str, NDArray[Any]]:
        """Return what `answer` returns for the arrays `given`.

        Raises:
            ApartError: the script has failed, does not answer in time, or its process has ended; it is over then.
            TypeError: something given is no array of numbers or text.
        """
        if not self._begun:
            self._receive(self._starting)  # it says when its imports are done
            self._begun = True
        self._send(packed(given))
        return self._receive(self._deadline)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def __enter__(self) -> Self:
        """Return itself, to be closed at the end."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def __del__(self) -> None:
        """End a process that nobody has ended."""
        if hasattr(self, "_process") and self._process.returncode is None:
            self.close()

    def _send(self, message: bytes) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        ends = time.monotonic() + self._deadline
        left = memoryview(len(message).to_bytes(_LENGTH, "big") + message)
        os.set_blocking(pipe.fileno(), False)
        while left:
            self._await([], [pipe], ends, self._deadline)
            try:
                left = left[os.write(pipe.fileno(), left) :]
            except BlockingIOError:
                continue
            except OSError:
                raise self._over() from None

    def _receive(self, deadline: float) -> dict[str, NDArray[Any]]:
        ends = time.monotonic() + deadline
        length = int.from_bytes(self._read(_LENGTH, ends, deadline), "big")
        if length > _LONGEST:
            self.close()
            raise ApartError(f"{self._script} answers with {length} bytes: at most {_LONGEST} are taken")
        arrays = unpacked(self._read(length, ends, deadline), str(self._script))
        if _ERROR in arrays:
            raise ApartError(f"{self._script}: {arrays[_ERROR]!s}")
        return arrays

    def _read(self, count: int, ends: float, deadline: float) -> bytes:
        pipe = self._process.stdout
        assert pipe is not None
        read = bytearray()
        while len(read) < count:
            self._await([pipe], [], ends, deadline)
            if not (part := os.read(pipe.fileno(), min(count - len(read), 2**20))):
                raise self._over()
            read += part
        return bytes(read)

    def _await(self, reads: list[IO[bytes]], writes: list[IO[bytes]], ends: float, deadline: float) -> None:
        ready = select.select(reads, writes, [], max(0.0, ends - time.monotonic()))
        if not any(ready):
            self.close()
            raise ApartError(
                f"{self._script} has not answered for {deadline:g} s, and was ended: give it more deadline"
            )

    def _over(self) -> ApartError:
        """Return how the process ended."""
        try:
            code = self._process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.close()
            return ApartError(f"{self._script} has closed its output, and was ended: only its function may answer")
        how = crash_in_words(-code) if code < 0 else f"ended with exit status {code}: what it printed says why"
        return ApartError(f"the process of {self._script} {how}")


def packed(arrays: Mapping[str, ArrayLike]) -> bytes:
    """Return arrays as bytes of an .npz; TypeError where one holds objects, which would be pickled."""
    plain = {name: np.asarray(value) for name, value in arrays.items()}
    if objects := [name for name, value in plain.items() if value.dtype.hasobject]:
        raise TypeError(f"'{objects[0]}' is no array of numbers or text")
    written = io.BytesIO()
    np.savez(written, **plain)  # type: ignore[arg-type]  # its other argument is positional
    return written.getvalue()


def unpacked(message: bytes, told: str) -> dict[str, NDArray[Any]]:
    """Return the arrays in bytes of an .npz; ApartError, which begins with `told`, where they are something else."""
    try:
        with np.load(io.BytesIO(message), allow_pickle=False) as found:
            return {name: found[name] for name in found.files}
    except (ArithmeticError, EOFError, LookupError, MemoryError, OSError, RuntimeError, TypeError, ValueError) as error:
        raise ApartError(f"{told} answers with something that is no arrays: {error}") from error
    except (lzma.LZMAError, struct.error, zipfile.BadZipFile, zlib.error) as error:
        raise ApartError(f"{told} answers with something that is no arrays: {error}") from error
