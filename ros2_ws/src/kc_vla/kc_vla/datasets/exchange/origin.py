"""Whose keyframes go into a data set."""

from __future__ import annotations

from enum import StrEnum


class Origin(StrEnum):
    """Those of a person's confirmed annotation, those that the selector committed, or the simulator's own."""

    CONFIRMED = "confirmed"
    COMMITTED = "committed"
    ORACLE = "oracle"
