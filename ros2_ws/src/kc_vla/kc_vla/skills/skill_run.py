"""Plays the steps of one skill to the arm, control step by control step, and sees that the arm follows."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from kc_vla.planning.obstacles import Obstacle
from kc_vla.skills.context import SkillContext
from kc_vla.skills.interface import (
    ArmPath,
    ArmReading,
    HoldStage,
    ObstructedError,
    PolicyStage,
    Skill,
    SkillError,
    Step,
    Vector,
)

_MOST_STEPS_AT_ONCE = 50
"""Steps of a skill that may follow one another without any time: a skill that yields for ever is a mistake."""
LONGEST_GAP = 40
"""Set-points are asked for so many control steps ahead at most; where nobody asks for longer, a path waits."""
_LATE_STEPS = 8
"""The arm reached a set-point of up to so many control steps ago: it follows with a delay."""
_STOP_S, _STOP_RAD, _STOP_SHARE = 0.3, 0.02, 0.25
"""What is pulled is at its stop where set-points went on by the second in the first, and the arm by no more than the
third of that."""


@dataclass(frozen=True)
class SkillOutcome:
    """How a skill ended.

    Attributes:
        done: it succeeded, as was seen.
        reason: why it failed, in one line; empty where it did not.
        remark: what a person may want to know of a success, mostly empty.
        obstacle: what made it fail and can be cleared; None for nothing.
    """

    done: bool
    reason: str = ""
    remark: str = ""
    obstacle: Obstacle | None = None

    @classmethod
    def of(cls, failure: SkillError) -> SkillOutcome:
        """Return the outcome of a skill that failed."""
        return cls(False, str(failure), obstacle=failure.obstacle if isinstance(failure, ObstructedError) else None)


class SkillRun:
    """One skill that is being done.

    Attributes:
        context: of the skill; `context.arm` is the newest reading.
        outcome: how it ended; None while it is being done.
        stage: of the skill at present.
    """

    def __init__(self, skill: Skill, context: SkillContext, most_steps: int) -> None:
        """Begin a skill; nothing moves before `advance`.

        Args:
            skill: what it does.
            context: of it.
            most_steps: control steps after which it fails.
        """
        self._skill, self.context = skill, context
        self._step: Step | None = None
        self._began = self._first = self._seen = context.arm.step
        self._most_steps = most_steps
        self._width: float | None = None
        self._fresh = False
        self._measured: deque[tuple[int, Vector]] = deque()
        self.outcome: SkillOutcome | None = None
        self.stage = ""

    @property
    def step(self) -> Step | None:
        """Return what the arm does at present; None before the first step and after the last."""
        return self._step

    @property
    def policy(self) -> PolicyStage | None:
        """Return the present stage where a policy moves the arm."""
        return self._step if isinstance(self._step, PolicyStage) else None

    @property
    def moves(self) -> bool:
        """Return whether the arm is led along a path at present: nobody waits for what is seen then."""
        return self.outcome is None and isinstance(self._step, ArmPath)

    def advance(self, reading: ArmReading) -> None:
        """Go on to where the skill is at a reading of the arm; later ones only."""
        self.context.take(reading)
        self._fresh = False
        if self.outcome is not None:
            return
        gap = reading.step - self._seen
        if gap > LONGEST_GAP and self._step is not None:  # nobody asked: the arm stood still meanwhile
            self._began += gap - LONGEST_GAP
        self._seen = reading.step
        if reading.step - self._first > self._most_steps:
            self.fail(f"it took more than {self._most_steps / self.context.rate:g} s")
            return
        try:
            self._follow(reading)
            for _ in range(_MOST_STEPS_AT_ONCE):
                if self._step is not None and not self._is_over(reading):
                    return
                self._note_sent(reading)
                self._step = next(self._skill)
                self.stage, self._began, self._fresh = self._step.stage, reading.step, True
                self._measured.clear()
            raise SkillError(f"the skill makes no progress in its stage '{self.stage}'")
        except StopIteration as end:
            self._end(SkillOutcome(True, remark=str(end.value or "")))
        except SkillError as failure:
            self._end(SkillOutcome.of(failure))

    def start_at(self, reading: ArmReading) -> None:
        """Let a step that `advance` has just begun begin at a later reading: the arm went on while it was planned."""
        if self._fresh and reading.step > self.context.arm.step:
            self.context.arm = reading
            self._began = self._seen = reading.step

    def fail(self, reason: str) -> None:
        """End the skill from outside; the arm holds where it is."""
        if self.outcome is None:
            held_at = self.set_points(1)[0][0]
            self._skill.close()
            self._end(SkillOutcome(False, reason))
            self.context.sent = held_at  # it follows there: a set-point behind it would lead it back

    def set_points(self, horizon: int) -> tuple[Vector, Vector]:
        """Return set-points from the newest reading on: joints (horizon, N), rad, and widths (horizon,), m.

        Row 0 is for the control step of the newest reading. After the end of a path they stay at its end, and after
        the end of the skill where the arm is.
        """
        context, step = self.context, self._step
        if isinstance(step, ArmPath):
            rows = np.clip(context.arm.step - self._began + np.arange(horizon), 0, len(step.joints) - 1)
            return step.joints[rows], step.widths[rows]
        joints = np.tile(context.posture, (horizon, 1))
        width = self._width_now()
        if isinstance(step, HoldStage) and step.width is not None:
            width = step.width
        return joints, np.full(horizon, width)

    def _end(self, outcome: SkillOutcome) -> None:
        self.outcome = outcome
        if not outcome.done:
            self.context.sent = self.context.arm.joints.copy()  # hold where the arm is, and lead it no further
            self._width = self.context.arm.width if self.context.held is None else self._width
        self._step = None

    def _width_now(self) -> float:
        context = self.context
        return context.kept_width if self._width is None or context.keeps_grip else self._width

    def _is_over(self, reading: ArmReading) -> bool:
        step, passed = self._step, reading.step - self._began
        if isinstance(step, ArmPath):
            fell = step.carries and self.context.held is None
            return fell or passed >= len(step.joints) or (step.to_stop and self._is_stopped(step, passed))
        assert step is not None
        return passed >= step.steps or (step.until is not None and passed > 0 and step.until())

    def _is_stopped(self, step: ArmPath, passed: int) -> bool:
        """Return whether the arm stays behind set-points that go on."""
        least = self.context.steps(_STOP_S)
        self._measured.append((passed, self.context.arm.joints))
        while len(self._measured) > 1 and passed - self._measured[1][0] >= least:
            self._measured.popleft()
        before, joints = self._measured[0]
        if passed - before < least or before < least:  # it is about to speed up
            return False
        sent = float(np.abs(step.joints[passed] - step.joints[before]).max())
        came = float(np.abs(self.context.arm.joints - joints).max())
        return sent > _STOP_RAD and came < _STOP_SHARE * sent

    def _note_sent(self, reading: ArmReading) -> None:
        """Remember what was sent last: the next path begins there, or where the arm is that pulled to a stop."""
        step = self._step
        if isinstance(step, ArmPath) and step.to_stop:
            self.context.sent, self._width = reading.joints.copy(), float(step.widths[-1])
        elif isinstance(step, ArmPath):
            self.context.sent, self._width = step.joints[-1], float(step.widths[-1])
        elif isinstance(step, HoldStage) and step.width is not None:
            self._width = step.width
        elif isinstance(step, PolicyStage):
            self.context.sent, self._width = self.context.arm.joints.copy(), None

    def _follow(self, reading: ArmReading) -> None:
        """See that the arm is where one of the last set-points was.

        Raises:
            SkillError: it is not.
        """
        step = self._step
        if not isinstance(step, ArmPath):
            return
        row = min(reading.step - self._began, len(step.joints) - 1)
        recent = step.joints[max(0, row - _LATE_STEPS) : row + 1]
        behind = float(np.min(np.max(np.abs(recent - reading.joints), axis=1)))
        if behind > step.slack:
            raise SkillError(
                f"the arm does not follow in the stage '{step.stage}': a joint is {behind:.2f} rad behind; is "
                "something in its way?"
            )
