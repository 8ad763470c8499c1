"""Messages on the socket of a program that drives: a JSON object, then the bytes of the arrays that it announces.

A message is the length of the JSON text (4 bytes, little endian), the text, and each array in C order. The text's entry
`arrays` has a row `[name, type, shape]` for each. Nothing that comes is unpickled, and nothing larger is taken than the
few images of a moment.
"""

from __future__ import annotations

import json
import math
import os
import socket
import struct
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.errors import StackError
from kc_vla.core.home import user_name
from kc_vla.core.untrusted import parsed_json

Arrays = Mapping[str, NDArray[Any]]
MOST_TEXT, MOST_BYTES = 1 << 16, 1 << 27
_TYPES: dict[str, np.dtype[Any]] = {"u1": np.dtype("u1"), "f8": np.dtype("<f8")}
_MOST_ARRAYS = 64
_LENGTH = struct.Struct("<I")


class ExternalWireError(StackError):
    """The other end is gone, does not answer, or says what cannot be understood; the text says which."""


def usual_socket() -> str:
    """Return where the launch files listen, and a program looks: of this user and ROS domain."""
    return f"{tempfile.gettempdir()}/kc_vla_driver-{user_name()}-{os.environ.get('ROS_DOMAIN_ID', '0')}"


def send(end: socket.socket, said: Mapping[str, Any], arrays: Arrays | None = None) -> None:
    """Send a message; its arrays are of uint8 or float64.

    Raises:
        ExternalWireError: the other end is gone, or takes nothing.
    """
    parts = {name: np.asarray(values) for name, values in (arrays or {}).items()}
    rows = [[name, values.dtype.str[1:], list(values.shape)] for name, values in parts.items()]
    text = json.dumps({**said, "arrays": rows}).encode()
    try:
        end.sendall(_LENGTH.pack(len(text)) + text)
        for values in parts.values():
            end.sendall(values.tobytes())
    except OSError as error:
        raise ExternalWireError(f"the other end of the socket is gone: {error.strerror or error}") from error


def receive(end: socket.socket) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the next message: what was said, and its arrays.

    Raises:
        ExternalWireError: see the class; after it the socket is of no use any more.
    """
    (length,) = _LENGTH.unpack(_bytes(end, _LENGTH.size))
    if length > MOST_TEXT:
        raise ExternalWireError(f"a message announces a text of {length} bytes: this is another protocol")
    try:
        said = parsed_json(_bytes(end, length).decode())
        rows = [(str(name), _TYPES[kind], tuple(shape)) for name, kind, shape in said.pop("arrays")]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ExternalWireError(f"a message that is not understood: {error!r}") from None
    if len(rows) > _MOST_ARRAYS or not all(type(n) is int and n >= 0 for *_, shape in rows for n in shape):
        raise ExternalWireError("a message with arrays that cannot be")
    sizes = [kind.itemsize * math.prod(shape) for _, kind, shape in rows]
    if sum(sizes) > MOST_BYTES:
        raise ExternalWireError(f"a message announces {sum(sizes)} bytes: the most is {MOST_BYTES}")
    return said, {
        name: np.frombuffer(_bytes(end, size), kind).reshape(shape)
        for (name, kind, shape), size in zip(rows, sizes, strict=True)
    }


def _bytes(end: socket.socket, size: int) -> bytes:
    data = bytearray(size)
    view, have = memoryview(data), 0
    try:
        while have < size:
            got = end.recv_into(view[have:])
            if not got:
                raise ExternalWireError("the other end of the socket has closed it")
            have += got
    except OSError as error:
        raise ExternalWireError(f"nothing comes from the other end of the socket: {error.strerror or error}") from error
    return bytes(data)
