"""What is reported about an instruction that is carried out: each step in words, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

BEGIN, PLAN, RECALL, EXPLORE, SKILL = "begin", "plan", "recall", "explore", "skill"
REPAIR, MEMORY, ANSWER, END = "repair", "memory", "answer", "end"
RESULT = "result"
"""Kind of the message that follows the last step of an instruction, with what came of it."""


@dataclass(frozen=True)
class ExecutionStep:
    """Something that happened.

    Attributes:
        kind: one of the words above, from `BEGIN` to `END`.
        text: in words that a person can follow, in one line; of `MEMORY`, what is remembered, a line a thing.
        now_s: when, s, by the clock of the robot.
    """

    kind: str
    text: str
    now_s: float

    def __str__(self) -> str:
        return f"{self.now_s:8.1f} s  {self.kind:8} {self.text}"


Tell = Callable[[ExecutionStep], None]


@dataclass(frozen=True)
class MemoryLookup:
    """A reference for which a memory was asked.

    Attributes:
        reference: as the plan has it.
        found: ids of the things that were recalled, the likeliest first, at most ten.
        taken: id of the thing that was found in the end; empty where none was.
        explored: how many places were explored for it.
    """

    reference: str
    found: tuple[str, ...]
    taken: str
    explored: int


@dataclass(frozen=True)
class InstructionResult:
    """What came of an instruction.

    Attributes:
        instruction: as it was said.
        success: all that was planned is done, as far as the robot can tell.
        reason: why not, in one line; empty where it succeeded.
        by: which planner made the last plan; empty where none could.
        seconds: that it took.
        walked_m: on the way.
        explorations: places that were looked at, and containers that were looked into, to find something.
        calls: skills that were tried.
        replans: plans beyond the first.
        tokens: that a language model was given and gave.
        recalls: each reference for which the memory was asked.
        in_hand: id of what the robot holds at the end; empty for nothing.
        then: the instruction that was given instead; empty without.
        notes: what went otherwise than it was set to, in words.
        answer: to a question; empty for what is no question, and where the robot does not know.
    """

    instruction: str
    success: bool
    reason: str
    by: str
    seconds: float
    walked_m: float
    explorations: int
    calls: int
    replans: int
    tokens: int = 0
    recalls: Sequence[MemoryLookup] = ()
    in_hand: str = ""
    then: str = ""
    notes: Sequence[str] = ()
    answer: str = ""
