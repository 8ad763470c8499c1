"""What a session with an arm says, to whom it says it, and what it names as a way out."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto

from kc_vla.core import topics

RESUME, RELEASE, RESET = topics.RESUME, topics.RELEASE_E_STOP, topics.RESET
"""What a person calls."""


class Gravity(Enum):
    """How grave it is what is said."""

    NEWS = auto()
    WARNING = auto()
    PROBLEM = auto()


class Failure(Enum):
    """Why there is nothing more to do."""

    CANNOT_START = auto()
    """There is no arm, or it is not fit to move: another try would not help."""
    LOST = auto()
    """Its own process has ended; another one may find the arm."""


Say = Callable[[Gravity, str], None]
