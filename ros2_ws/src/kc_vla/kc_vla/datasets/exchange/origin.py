"""Whose keyframes go into a data set."""

from __future__ import annotations

from enum import StrEnum


class Origin(StrEnum):
    """Those of a person's confirmed annotation, those that the selector committed, the simulator's own, or nobody's."""

    CONFIRMED = "confirmed"
    COMMITTED = "committed"
    ORACLE = "oracle"
    NONE = "none"
