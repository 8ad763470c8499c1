"""Says once what a user is to know of a file, such as what to write in place of something of before."""

from __future__ import annotations

import os
import sys

_SAID = "KC_VLA_DEPRECATIONS_SAID"


def deprecated(line: str) -> None:
    """Write that something is deprecated to stderr, once in this process and those that it starts."""
    say_once(f"deprecated: {line}")


def say_once(line: str) -> None:
    """Write a line to stderr, once in this process and those that it starts."""
    said = os.environ.get(_SAID, "").split("\n")
    if line not in said:
        os.environ[_SAID] = "\n".join([*filter(None, said), line])
        print(line, file=sys.stderr)
