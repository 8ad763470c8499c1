"""What came of a sequence of instructions in a kitchen, as results keep it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class InstructionOutcome:
    """What came of one instruction.

    Attributes:
        text: as it was given.
        kind: "simple", "composite" or "complex".
        things: how many it had to move.
        hidden: what it is about was in a closed drawer, if all before was done.
        again: the robot had put it away before, likewise.
        done: the simulator says that the goals hold.
        believed: the robot says that it did it.
        reason: why it did not, as the robot reports it.
        seconds: of the robot's time.
        calls: skills that were tried.
        searched: drawers and doors that the robot opened, or tried to, to look for something.
        opened: all that it opened, or tried to.
        explored: places that it looked at or into for something.
    """

    text: str
    kind: str
    things: int
    hidden: bool
    again: bool
    done: bool
    believed: bool
    reason: str
    seconds: float
    calls: int
    searched: int
    opened: int
    explored: int

    def in_time(self, seconds: float) -> bool:
        """Return whether it was done with so much time for each thing that it had to move, s."""
        return self.done and self.seconds <= seconds * self.things


@dataclass(frozen=True)
class SequenceOutcome:
    """What came of the instructions of one kitchen.

    Attributes:
        seed: of the kitchen.
        memory: that the robot had.
        instructions: one after the other.
        wall_s: that the kitchen took to play.
    """

    seed: int
    memory: str
    instructions: tuple[InstructionOutcome, ...]
    wall_s: float = 0.0

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> SequenceOutcome:
        """Return the outcome that a line of the results keeps."""
        told = tuple(InstructionOutcome(**each) for each in row["instructions"])
        return cls(row["seed"], row["memory"], told, row["wall_s"])
