"""Many episodes at a time: decoding and features leave Python free for other threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def on_all_cores(do: Callable[..., T], *arguments: Iterable[object]) -> Iterator[T]:
    """Yield what `map` does by a thread for each core, in order.

    Where one fails, or the caller leaves, no more are begun.
    """
    pool = ThreadPoolExecutor(os.cpu_count())
    try:
        yield from pool.map(do, *arguments)
    finally:
        pool.shutdown(cancel_futures=True)
