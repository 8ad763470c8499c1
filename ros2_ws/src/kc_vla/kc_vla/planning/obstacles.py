"""What is in the way of a skill, as a body reports it: the planner clears it and does the skill again."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Clearing(Enum):
    """How something is cleared that is in the way."""

    CLOSE = "close"
    MOVE = "move"


@dataclass(frozen=True)
class Obstacle:
    """What is in the way of a skill.

    Attributes:
        object_id: of the thing or the furniture.
        clearing: what to do with it first.
    """

    object_id: str
    clearing: Clearing
