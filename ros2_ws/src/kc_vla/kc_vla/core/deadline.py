"""An end of this process that nothing can hold up."""

from __future__ import annotations

import ctypes
import os
import time

_NOTIFY_THREAD = 2  # SIGEV_THREAD: the system calls a function, in a thread of its own


class _SigEvent(ctypes.Structure):
    """`struct sigevent` of glibc; 64 bytes."""

    _fields_ = (
        ("value", ctypes.c_void_p),
        ("signo", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("function", ctypes.c_void_p),
        ("attributes", ctypes.c_void_p),
        ("rest", ctypes.c_byte * 32),
    )


class _TimerSpec(ctypes.Structure):
    """`struct itimerspec`: seconds and nanoseconds between two calls, and until the first."""

    _fields_ = tuple((name, ctypes.c_long) for name in ("period_s", "period_ns", "first_s", "first_ns"))


def exit_after(seconds: float, exit_code: int) -> None:
    """End the process with this code in so many seconds, at once and without another word.

    A thread of Python's could not: a library that hangs may hold the interpreter's lock. So a timer of the system calls
    `_exit` of the C library itself.

    Raises:
        OSError: the system gives no timer.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    end = ctypes.cast(libc._exit, ctypes.c_void_p)
    event = _SigEvent(value=exit_code, notify=_NOTIFY_THREAD, function=end)
    whole, part = divmod(seconds, 1.0)
    when = _TimerSpec(first_s=int(whole), first_ns=int(part * 1e9))
    timer = ctypes.c_void_p()
    made = libc.timer_create(ctypes.c_int(time.CLOCK_MONOTONIC), ctypes.byref(event), ctypes.byref(timer))
    if made != 0 or libc.timer_settime(timer, 0, ctypes.byref(when), None) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
