"""What may come over a wire: bounded MessagePack of plain values, and arrays of numbers alone. Never pickle."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgpack
import numpy as np
from numpy.typing import NDArray

from kc_vla.core.errors import StackError
from kc_vla.policy.remote.packed import walk

MOST_BYTES = 64 << 20
"""Bytes of the largest frame, either way: 30 timesteps of two cameras at 640x480 have 55 MB."""
DTYPES = ("|b1", "|u1", "<u2", "<u4", "<u8", "|i1", "<i2", "<i4", "<i8", "<f2", "<f4", "<f8")
"""Array types that are accepted. Objects are pointers, and no other NumPy type is needed."""
_MOST_DEPTH, _MOST_VALUES, _MOST_DIMENSIONS, _MOST_TOLD, _MOST_TEXT = 16, 100_000, 8, 300, 4096


class WireError(StackError):
    """What came over the wire, or was to go there, is not as it should be; the text says in which way."""


def pack(values: Any, default: Callable[[Any], Any]) -> bytes:
    """Return plain values as MessagePack; `default` makes plain what is not.

    Raises:
        WireError: it cannot, or it is more than `MOST_BYTES`.
    """
    try:
        packed: bytes = msgpack.packb(values, default=default)
    except (TypeError, ValueError, OverflowError) as error:
        raise WireError(f"cannot be sent: {error}") from error
    return bounded(packed)


def bounded(frame: bytes) -> bytes:
    """Return the frame, if it may be; WireError where it is larger than `MOST_BYTES`."""
    if len(frame) > MOST_BYTES:
        raise WireError(f"the frame has {len(frame) / 1e6:.0f} MB: {MOST_BYTES / 1e6:.0f} MB is the most")
    return frame


def unpack(frame: bytes, of_map: Callable[[dict[Any, Any]], Any]) -> Any:
    """Return values out of MessagePack: None, bool, int, float, str, bytes, lists, and maps.

    `of_map` says what becomes of a map.

    Raises:
        WireError: it is none, is too large or nested too deeply, or has too many values.
    """
    left = _MOST_VALUES

    def count(values: Any) -> None:
        nonlocal left
        left -= len(values) + 1
        if left < 0:
            raise WireError(f"the frame has more than {_MOST_VALUES} values")

    def list_of(values: list[Any]) -> list[Any]:
        count(values)
        return values

    def map_of(values: dict[Any, Any]) -> Any:
        count(values)
        return of_map(values)

    _walked(frame)  # a list of millions would be made before it could be counted
    try:
        values = msgpack.unpackb(frame, object_hook=map_of, list_hook=list_of, ext_hook=_no_extension)
    except WireError:
        raise
    except (ValueError, TypeError, OverflowError, msgpack.UnpackException) as error:
        # a list can say that it has 2**32 values: msgpack sees from the frame's length that it has not
        raise WireError(f"the frame is no MessagePack: {line(str(error)) or type(error).__name__}") from error
    _check(values, _MOST_DEPTH)
    return values


def text_in(frame: bytes, key: str) -> str | None:
    """Return the text of an entry of the outermost map, without unpacking anything else; None where there is none.

    Raises:
        WireError: the frame breaks off, is too large or nested too deeply, or has too many values.
    """
    entries = _walked(frame)
    packed = entries.get(msgpack.packb(key), b"")
    if not 0 < len(packed) <= _MOST_TEXT or not _is_text(packed[0]):
        return None
    try:
        found: str = msgpack.unpackb(packed)
    except ValueError:  # no UTF-8
        return None
    return found


def _is_text(kind: int) -> bool:
    return 0xA0 <= kind <= 0xBF or kind in (0xD9, 0xDA)


def _walked(frame: bytes) -> dict[bytes, bytes]:
    return walk(bounded(frame), _MOST_VALUES, _MOST_DEPTH + 2, lambda wrong: WireError(f"the frame {wrong}"))


def array_of(dtype: object, shape: object, data: object) -> NDArray[Any]:
    """Return a read-only array, in C order, over the bytes of a frame.

    Raises:
        WireError: another dtype than `DTYPES`, or a shape that does not fit the data.
    """
    kind = checked_dtype(dtype)
    sizes = checked_shape(shape)
    if not isinstance(data, bytes) or math.prod(sizes) * kind.itemsize != len(data):
        have = f"{len(data)} bytes" if isinstance(data, bytes) else "no bytes"
        raise WireError(f"the frame has an array {kind.name} of shape {list(sizes)} with {have}")
    return np.frombuffer(data, kind).reshape(sizes)


def checked_dtype(dtype: object) -> np.dtype[Any]:
    """Return the dtype of that name; WireError where it is not one of `DTYPES`."""
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise WireError(f"the frame has an array of the type {line(repr(dtype))}: only numbers are taken")
    return np.dtype(dtype)


def checked_shape(shape: object) -> tuple[int, ...]:
    """Return the shape; WireError where it cannot be one."""
    good = isinstance(shape, Sequence) and not isinstance(shape, str | bytes) and len(shape) <= _MOST_DIMENSIONS
    if not good or any(type(size) is not int or not 0 <= size <= MOST_BYTES for size in shape):  # type: ignore[attr-defined]
        raise WireError(f"the frame has an array of the shape {line(repr(shape))}")
    return tuple(shape)  # type: ignore[arg-type]


_LARGEST = 1e6
"""Largest number in a command to a robot, in any unit; above it, squares and sums overflow."""


def numbers(values: Any, what: str, rank: int) -> NDArray[np.float64]:
    """Return `values` as an array of finite numbers with so many dimensions, none of them 0 long.

    Raises:
        WireError: they are not; `what` names them.
    """
    if not isinstance(values, np.ndarray):
        raise WireError(f"{what} is no array of numbers but {type(values).__name__}")
    if values.ndim != rank or values.size == 0:
        raise WireError(
            f"{what} has the shape {list(values.shape)}: it must have {rank} dimensions, none of them empty"
        )
    found = np.asarray(values, np.float64)
    if not np.isfinite(found).all():
        raise WireError(f"{what} has numbers that are not finite")
    if np.abs(found).max() > _LARGEST:
        raise WireError(f"{what} has numbers beyond {_LARGEST:g}: no robot can execute that")
    return found


def number_in(values: object, *path: str) -> float | None:
    """Return the finite number, 0 or above, at a path of nested maps; None where there is none."""
    for key in path:
        values = values.get(key) if isinstance(values, Mapping) else None
    good = isinstance(values, int | float) and not isinstance(values, bool) and math.isfinite(values) and values >= 0
    return float(values) if good else None  # type: ignore[arg-type]


def line(text: str) -> str:
    """Return a third-party text as one line of bounded length that can be printed."""
    words = " ".join(text.split())
    return "".join(letter for letter in words[:_MOST_TOLD] if letter.isprintable())


def _no_extension(code: int, data: bytes) -> Any:
    raise WireError(f"the frame has a value of an extension of MessagePack, number {code}")


def _check(values: Any, depth: int) -> None:
    if isinstance(values, np.ndarray | np.generic | str | bytes | bool | int | float) or values is None:
        return
    if depth == 0:
        raise WireError("the frame is nested too deeply")
    if isinstance(values, Mapping):
        for value in values.values():
            _check(value, depth - 1)
    elif isinstance(values, list):
        for value in values:
            _check(value, depth - 1)
    elif not getattr(values, "plain", False):
        raise WireError(f"the frame has a value of the type {type(values).__name__}")
