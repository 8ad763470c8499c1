"""Who drives the arm."""

from __future__ import annotations

from enum import IntEnum


class Driver(IntEnum):
    """The policy, or a person who has taken over from it; the values are those of Driver.msg."""

    POLICY = 0
    PERSON = 1
