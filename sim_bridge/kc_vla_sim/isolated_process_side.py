"""Answer `kc_vla_sim.isolated_process`: another Python runs this file, with numpy and nothing of the stack.

It says that it is ready, and then answers each message with what `answer` of the script returns, until its input ends.
"""

from __future__ import annotations

import io
import os
import runpy
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

LENGTH = 8


def read(pipe: IO[bytes], count: int) -> bytes:
    """Return so many bytes, or none where there is nothing more to come."""
    parts = b""
    while len(parts) < count:
        part = pipe.read(count - len(parts))
        if not part:
            return b""
        parts += part
    return parts


def send(pipe: IO[bytes], arrays: Mapping[str, Any]) -> None:
    """Send arrays by their names."""
    plain = {name: np.asarray(value) for name, value in arrays.items()}
    for name, value in plain.items():
        if value.dtype.hasobject:
            raise TypeError(f"'{name}' of what it returns is no array of numbers or text")
    written = io.BytesIO()
    np.savez(written, **plain)  # type: ignore[arg-type]  # its other argument is positional
    message = written.getvalue()
    pipe.write(len(message).to_bytes(LENGTH, "big") + message)
    pipe.flush()


def error_in_words(error: Exception) -> str:
    """Return an error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:500]


def main(script: str) -> int:
    """Run the script and answer; return the exit status."""
    asked = os.fdopen(os.dup(0), "rb")
    told = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the script and its libraries print is no answer
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.path[0] = str(Path(script).parent)
    sys.argv = [script]
    try:
        answer = runpy.run_path(script, run_name="kc_vla_apart").get("answer")
        if not callable(answer):
            raise NameError("it has no function 'answer'")
        send(told, {})
    except Exception as error:  # noqa: BLE001  # whatever it is, the one who asks is told
        send(told, {"_error": error_in_words(error)})
        return 1
    while length := int.from_bytes(read(asked, LENGTH), "big"):
        try:
            with np.load(io.BytesIO(read(asked, length)), allow_pickle=False) as given:
                arrays = {name: given[name] for name in given.files}
            found = answer(**arrays)
            if not isinstance(found, dict):
                raise TypeError(f"'answer' returns {type(found).__name__}, not a dictionary of arrays")
            send(told, found)
        except Exception as error:  # noqa: BLE001  # likewise
            send(told, {"_error": error_in_words(error)})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
