"""openpi's form of arrays in MessagePack: a map with keys of bytes. What is taken is checked, theirs checks nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from kc_vla.policy.remote import wire
from kc_vla.policy.remote.wire import WireError

_ARRAY, _SCALAR, _DATA, _DTYPE, _SHAPE = b"__ndarray__", b"__npgeneric__", b"data", b"dtype", b"shape"


def encode(values: Any) -> bytes:
    """Return plain values, arrays of numbers (any order in memory) and NumPy's scalars, as a frame.

    Raises:
        WireError: it cannot be one.
    """
    return wire.pack(values, _plain)


def decode(frame: bytes) -> Any:
    """Return the inverse of `encode`; arrays are read-only.

    Raises:
        WireError: it is no such frame.
    """
    return wire.unpack(frame, _of_map)


def _plain(value: Any) -> dict[bytes, Any]:
    if isinstance(value, np.ndarray):
        kind = wire.checked_dtype(value.dtype.str)
        return {_ARRAY: True, _DATA: value.tobytes(), _DTYPE: kind.str, _SHAPE: list(value.shape)}
    if isinstance(value, np.generic):
        return {_SCALAR: True, _DATA: value.item(), _DTYPE: wire.checked_dtype(value.dtype.str).str}
    raise TypeError(f"a {type(value).__name__} is no plain value")


def _of_map(values: dict[Any, Any]) -> Any:
    if _ARRAY in values:
        return wire.array_of(values.get(_DTYPE), values.get(_SHAPE), values.get(_DATA))
    if _SCALAR in values:
        kind, data = wire.checked_dtype(values.get(_DTYPE)), values.get(_DATA)
        if not isinstance(data, bool | int | float):
            raise WireError(f"the frame has a number that is {type(data).__name__}")
        try:
            return kind.type(data)
        except (OverflowError, ValueError) as error:
            raise WireError(f"the frame has a number that is no {kind.name}") from error
    if any(not isinstance(key, str) for key in values):
        raise WireError("the frame has a map whose keys are not all texts")
    return values
