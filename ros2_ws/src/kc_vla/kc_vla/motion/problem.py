"""Why there is no motion, in one line."""

from __future__ import annotations

from enum import StrEnum

from kc_vla.core.errors import StackError


class MotionProblem(StrEnum):
    """What stands in the way of a motion."""

    REACH = "out of reach"
    LIMITS = "joint limits"
    COLLISION = "collision"
    WORKSPACE = "workspace"
    INPUT = "input"
    SEARCH = "no path found"


class MotionError(StackError):
    """A motion that cannot be planned; the text says why in one line.

    Attributes:
        problem: what stands in the way, for a caller that tries something else.
    """

    def __init__(self, problem: MotionProblem, text: str) -> None:
        """Args: `problem`: its kind; `text`: what is wrong and what to do, one line."""
        super().__init__(text)
        self.problem = problem
