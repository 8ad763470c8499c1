"""Numbers on a command line, for `type=` of an argument."""

from __future__ import annotations

import argparse
import math

_MOST_PORT = 65535


def positive(text: str) -> int:
    """A whole number from 1; argparse tells what is wrong with another."""
    return _at_least(1, text)


def not_negative(text: str) -> int:
    """A whole number from 0, likewise."""
    return _at_least(0, text)


def port(text: str) -> int:
    """The number of a TCP port, 0 for any free one; argparse tells what is wrong with another."""
    value = not_negative(text)
    if value > _MOST_PORT:
        raise argparse.ArgumentTypeError(f"there is no port {value}: {_MOST_PORT} is the last")
    return value


def share(text: str) -> float:
    """A number from 0 to 1; argparse tells what is wrong with another."""
    value = _float(text)
    if not 0.0 <= value <= 1.0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a share from 0 to 1")
    return value


def seconds(text: str) -> float:
    """A time from 0 s; argparse tells what is wrong with another."""
    value = _float(text)
    if not 0.0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds from 0")
    return value


def moment(text: str) -> float:
    """A time above 0 s; argparse tells what is wrong with another."""
    value = seconds(text)
    if value == 0.0:
        raise argparse.ArgumentTypeError("0 s is no time")
    return value


def _float(text: str) -> float:
    """The number; none of all, `nan`, for what is none."""
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
