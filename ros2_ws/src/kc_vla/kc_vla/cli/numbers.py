"""Numbers on a command line, for `type=` of an argument."""

from __future__ import annotations

import argparse


def positive(text: str) -> int:
    """A whole number from 1; argparse tells what is wrong with another."""
    return _at_least(1, text)


def not_negative(text: str) -> int:
    """A whole number from 0, likewise."""
    return _at_least(0, text)


def _at_least(least: int, text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if value < least:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from {least}")
    return value
