"""Numbers on a command line, for `type=` of an argument."""

from __future__ import annotations

import argparse
import math

_MOST_PORT = 65535


def positive(text: str) -> int:
    """Return a whole number from 1; argparse reports what is wrong with another."""
    return _at_least(1, text)


def not_negative(text: str) -> int:
    """Return a whole number from 0, likewise."""
    return _at_least(0, text)


def port(text: str) -> int:
    """Return the number of a TCP port, 0 for any free one; argparse reports what is wrong with another."""
    value = not_negative(text)
    if value > _MOST_PORT:
        raise argparse.ArgumentTypeError(f"there is no port {value}: {_MOST_PORT} is the last")
    return value


def share(text: str) -> float:
    """Return a number from 0 to 1; argparse reports what is wrong with another."""
    value = _float(text)
    if not 0.0 <= value <= 1.0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a share from 0 to 1")
    return value


def seconds(text: str) -> float:
    """Return a time from 0 s; argparse reports what is wrong with another."""
    value = _float(text)
    if not 0.0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds from 0")
    return value


def moment(text: str) -> float:
    """Return a time above 0 s; argparse reports what is wrong with another."""
    value = seconds(text)
    if value == 0.0:
        raise argparse.ArgumentTypeError("0 s is no time")
    return value


def _float(text: str) -> float:
    """Return the number in a text; `nan`, which is no number, for a text without one."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def _at_least(least: int, text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if value < least:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from {least}")
    return value
