"""GR00T's form of arrays in MessagePack: the bytes of a `.npy` file; and of what it says of a modality."""

from __future__ import annotations

import io
import json
import math
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.untrusted import parsed_json
from kc_vla.policy.remote import wire
from kc_vla.policy.remote.wire import WireError

_ARRAY, _NPY, _MODALITY, _JSON = "__ndarray_class__", "as_npy", "__ModalityConfig_class__", "as_json"
_MOST_NAMES = 1000
_LENGTH = struct.Struct("<H")
_HEAD = re.compile(  # version 1.0: larger headers than 64 kB have none but those of structured arrays
    rb"\x93NUMPY\x01\x00(?P<length>..)"
    rb"(?P<text>\{'descr': '(?P<kind>[|<][a-z][0-9])', 'fortran_order': (?P<fortran>True|False), "
    rb"'shape': \((?P<shape>(?:[0-9]{1,12},? ?){0,32})\), \} *\n)",
    re.DOTALL,
)


@dataclass(frozen=True)
class Modality:
    """What a server says of its images, its state, its actions or its texts.

    Attributes:
        keys: their names, with or without what they begin with ("video.").
        deltas: of which moments, in control steps from now; of actions, one for each that it gives.
        nested: said as a map, as since N1.6, and not as a text of JSON, as in N1.5.
    """

    keys: tuple[str, ...]
    deltas: tuple[int, ...]
    nested: bool
    plain = True
    """It may stand in what a frame holds."""


def encode(values: Any) -> bytes:
    """Return plain values, arrays of numbers and `Modality`, as a message.

    Raises:
        WireError: it cannot be one.
    """
    return wire.pack(values, _plain)


def decode(message: bytes) -> Any:
    """Return the inverse of `encode`; arrays are read-only.

    Raises:
        WireError: it is no such message.
    """
    if message.startswith((b"PK\x03\x04", b"\x80\x02")):
        raise WireError(
            "the frame is packed by torch.save, a pickle, which could run anything here: have the server speak "
            "MessagePack, as GR00T does since September 2025"
        )
    if message == b"ERROR":  # all that the oldest servers say
        return {"error": "ERROR"}
    return wire.unpack(message, _of_map)


def _plain(value: Any) -> dict[str, Any]:
    if isinstance(value, np.ndarray):
        wire.checked_dtype(value.dtype.str)
        written = io.BytesIO()
        np.save(written, value, allow_pickle=False)
        return {_ARRAY: True, _NPY: written.getvalue()}
    if isinstance(value, np.generic):
        return _plain(np.asarray(value))
    if isinstance(value, Modality):
        said = {"delta_indices": list(value.deltas), "modality_keys": list(value.keys)}
        return {_MODALITY: True, _JSON: said if value.nested else json.dumps(said)}
    raise TypeError(f"a {type(value).__name__} is no plain value")


def _of_map(values: dict[Any, Any]) -> Any:
    if _ARRAY in values:
        return _array(values.get(_NPY))
    if _MODALITY in values:
        return _modality(values.get(_JSON))
    if any(not isinstance(key, str) for key in values):
        raise WireError("the frame has a map whose keys are not all texts")
    return values


def _array(data: object) -> NDArray[Any]:
    """Return the array that `np.save` has written.

    `np.load` would make objects of what a header asks for, and believe its shape.
    """
    head = _HEAD.match(data) if isinstance(data, bytes) else None
    if head is None or head.end() - head.start("text") != _LENGTH.unpack(head["length"])[0]:
        raise WireError("the frame has an array that is no .npy file of numbers")
    assert isinstance(data, bytes)
    kind = wire.checked_dtype(head["kind"].decode("ascii"))
    sizes = wire.checked_shape([int(size) for size in head["shape"].split(b",") if size.strip()])
    rest = data[head.end() :]
    if math.prod(sizes) * kind.itemsize != len(rest):
        raise WireError(f"the frame has an array {kind.name} of shape {list(sizes)} with {len(rest)} bytes")
    return np.frombuffer(rest, kind).reshape(sizes, order="F" if head["fortran"] == b"True" else "C")


def _modality(said: object) -> Modality:
    nested = not isinstance(said, str)
    try:
        content = parsed_json(said) if isinstance(said, str) else said
    except ValueError as error:
        raise WireError("the frame has a modality that is no JSON") from error
    if not isinstance(content, Mapping):
        raise WireError("the frame has a modality without a map")
    keys, deltas = content.get("modality_keys"), content.get("delta_indices")
    good = isinstance(keys, list) and isinstance(deltas, list) and len(keys) + len(deltas) <= _MOST_NAMES
    if not good or any(not isinstance(key, str) for key in keys) or any(type(step) is not int for step in deltas):  # type: ignore[union-attr]
        raise WireError("the frame has a modality without the lists modality_keys and delta_indices")
    return Modality(tuple(keys), tuple(deltas), nested)  # type: ignore[arg-type]
