"""What a skill is made of: what the arm reports, what a skill has it do next, and why a skill failed.

A skill is a generator. It yields one `Step` after the other, and goes on when that step is done; `SkillRun` plays the
steps to the arm. A skill that fails raises a `SkillError`, and the arm holds where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.errors import StackError
from kc_vla.planning.obstacles import Obstacle

Vector = NDArray[np.float64]
Candidate = TypeVar("Candidate")
Planned = TypeVar("Planned")
STOPPED = "the emergency stop was set: the arm holds"
STILL_STOPPED = "the emergency stop is set: release it first"
"""Why a skill, and the instruction that it is for, is over, or does not begin."""
MOST_TRIED = 24
"""Candidates for which a plan is made, until one has a plan."""


class SkillError(StackError):
    """A skill that failed, or that cannot be done; the text says in one line why."""


class ObstructedError(SkillError):
    """Something is in the way that can be cleared."""

    def __init__(self, what: str, obstacle: Obstacle) -> None:
        """Say what is wrong, and what to do.

        Args:
            what: is wrong, in one line.
            obstacle: that is to be cleared.
        """
        super().__init__(f"{what}: {obstacle.clearing.value} it first")
        self.obstacle = obstacle


class BlockedStartError(SkillError):
    """The arm is in something where it stands, by what was perceived: no free way begins there."""


class MissedGraspError(SkillError):
    """The fingers closed on nothing, or the thing slipped out of them: another grasp may hold it."""


def first_possible(
    candidates: Iterable[Candidate], plan: Callable[[Candidate], Planned], failure: SkillError
) -> tuple[Candidate, Planned]:
    """Return the first candidate that a plan can be made for, with that plan.

    Args:
        candidates: the best first; `MOST_TRIED` of them are tried, as a plan takes a second.
        plan: makes the plan for one of them, or raises a `SkillError`.
        failure: what is raised where there is no candidate.

    Raises:
        SkillError: there is no candidate, or none has a plan; then it is that of the last one.
    """
    for each in islice(candidates, MOST_TRIED):
        try:
            return each, plan(each)
        except SkillError as error:
            failure = error
    raise failure


@dataclass(frozen=True, eq=False)
class ArmReading:
    """The arm at a control step.

    Attributes:
        step: index of the control step.
        joints: angles (N,), rad.
        width: between the fingers, m.
        effort: of the gripper, in the unit of its driver; None where it reports none.
        stamp_s: when it was measured, on the clock of the detections, s; negative infinity where that is not known.
    """

    step: int
    joints: Vector
    width: float
    effort: float | None = None
    stamp_s: float = float("-inf")


@dataclass(frozen=True, eq=False)
class ArmPath:
    """Set-points for the arm, one for each control step.

    Attributes:
        stage: of the skill: "approach", "grasp", "pull".
        joints: angles (T, N), rad.
        widths: between the fingers (T,), m.
        slack: the skill fails where a joint is further than this from its set-point, rad.
        carries: it ends at once where what is in the hand falls out.
        to_stop: it ends where the arm does not get any further: it moves something as far as that goes.
    """

    stage: str
    joints: Vector
    widths: Vector
    slack: float = 0.35
    carries: bool = False
    to_stop: bool = False


@dataclass(frozen=True, eq=False)
class HoldStage:
    """A stage in which the arm stays where it was sent last.

    Attributes:
        stage: of the skill: "look", "grasp".
        steps: that it takes at most.
        until: whether it may end now; None: it takes all its steps.
        width: between the fingers meanwhile, m; None: as before.
    """

    stage: str
    steps: int
    until: Callable[[], bool] | None = None
    width: float | None = None


@dataclass(frozen=True, eq=False)
class PolicyStage:
    """A stage in which a policy moves the arm, with an instruction of its own.

    Attributes:
        stage: of the skill: "policy".
        instruction: of the policy, natural language.
        steps: that it takes at most.
        until: whether it may end now.
    """

    stage: str
    instruction: str
    steps: int
    until: Callable[[], bool]


Step = ArmPath | HoldStage | PolicyStage
Skill = Generator[Step, None, str]
"""Yields steps and returns a remark, mostly empty; see the module."""
