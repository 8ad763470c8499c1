"""The motion of a skill, shown to a policy: followed by the tool as a policy moves it, and planned from where it is.

The arm is pushed off its way at random, and what is learned from each frame is how the tool goes back and on. While
the tool is off its way, the motion waits for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kc_vla.planning.skills import Call
from kc_vla.skills.interface import ArmPath, Skill, Step
from kc_vla.skills.skill_run import SkillOutcome, SkillRun
from kc_vla.skills.skill_table import begin_skill
from kc_vla.skills.station import SKILL_S
from kc_vla.skills.tool_path import PathMaker, ToolPose
from kc_vla_sim.experts.tool import Tool
from kc_vla_sim.kitchen.handling.kitchen_arm import KitchenArm, reading_of
from kc_vla_sim.robot import ROBOT

Actions = NDArray[np.float32]
FASTEST, _TURN = 0.02, 0.035
"""The tool moves and turns so far in a step of the motion, m and rad: faster ways are slowed down for a policy."""
_CATCHING_UP, _SETTLING = 0.03, 0.6
"""It goes back to its way so fast, m a step, and covers this share of the rest in a step."""
_OFF_M, _LONGEST_WAIT = 0.02, 12
"""The motion waits while the tool is so far off, m, for so many steps at most: something may be in its way."""
_ANY_SLACK = 10.0


@dataclass(frozen=True, eq=False)
class MotionStep:
    """Where the tool is to be in a step of the motion.

    Attributes:
        pose: of the tool, in the frame of the arm's base.
        gripper: 0 closed to 1 open.
        stage: of the skill.
        number: counts the steps of the skill, each of which is a way or a wait.
    """

    pose: ToolPose
    gripper: float
    stage: str
    number: int


class ShownMotion:
    """The motion of one skill in a kitchen, from where the arm is.

    Attributes:
        steps: of the motion until now.
        at: index of the present one.
    """

    def __init__(self, arm: KitchenArm, call: Call) -> None:
        """Begin a skill."""
        self._arm, context = arm, arm.station.context
        self._first = arm.frame.index
        context.sent = None
        context.take(reading_of(arm.frame))
        skill = _slowed(begin_skill(call, context), context.paths)
        self._run = arm.station.run = SkillRun(skill, context, context.steps(2 * SKILL_S))
        self.steps: list[MotionStep] = []
        self.at, self._waited, self._number = -1, 0, -1
        self._last: Step | None = None

    @property
    def outcome(self) -> SkillOutcome | None:
        """Return how the skill ended; None while it goes on."""
        return self._run.outcome

    def advance(self) -> None:
        """Go on to the next step of the motion, or wait for the tool."""
        tool = tool_of(self._arm)
        if self.steps and self._waited < _LONGEST_WAIT and _far(tool, self.steps[-1].pose):
            self._waited += 1
            return
        self._waited, self.at = 0, self.at + 1
        run = self._run
        run.advance(replace(reading_of(self._arm.frame), step=self._first + self.at))
        if run.outcome is not None:
            return
        if run.step is not self._last:
            self._last, self._number = run.step, self._number + 1
        joints, widths = run.set_points(1)
        pose = run.context.paths.tool_at(joints[0])
        self.steps.append(MotionStep(pose, float(widths[0]) / ROBOT.opening, run.stage, self._number))

    def plan(self, tool: Tool, at: int, count: int) -> Actions:
        """Return the tool deltas and gripper (count, 7) from a pose of the tool and a step of the motion on."""
        actions, steps = [], self.steps
        for _ in range(count):
            step = steps[min(at, len(steps) - 1)]
            delta = tool.delta_towards(step.pose.position, step.pose.rotation, _CATCHING_UP, _SETTLING)
            actions.append([*delta, step.gripper])
            tool = tool.after(delta)
            at += not _far(tool, step.pose)
        return np.array(actions, np.float32)

    def next_place(self, at: int) -> tuple[MotionStep, int]:
        """Return the last step of the stage that a step is in, and how many steps it is ahead."""
        end = at
        while end + 1 < len(self.steps) and self.steps[end + 1].number == self.steps[at].number:
            end += 1
        return self.steps[end], end - at


def tool_of(arm: KitchenArm) -> Tool:
    """Return where the tool is."""
    pose = arm.frame.tool_pose
    return Tool.of(pose.position, pose.quaternion)


def _far(tool: Tool, pose: ToolPose) -> bool:
    return bool(np.linalg.norm(tool.position - pose.position) > _OFF_M)


def _slowed(skill: Skill, paths: PathMaker) -> Skill:
    """Yield the steps of a skill, none faster than a policy moves; nothing checks there that the joints follow."""
    while True:
        try:
            step = next(skill)
        except StopIteration as end:
            return str(end.value or "")
        yield _slow(step, paths) if isinstance(step, ArmPath) else step


def _slow(path: ArmPath, paths: PathMaker) -> ArmPath:
    poses = [paths.tool_at(each) for each in path.joints]
    needs = [
        max(
            1.0,
            float(np.linalg.norm(after.position - before.position)) / FASTEST,
            float((after.rotation * before.rotation.inv()).magnitude()) / _TURN,
        )
        for before, after in pairwise(poses)
    ]
    times = np.concatenate([[0.0], np.cumsum(needs)])
    at = np.append(np.arange(0.0, times[-1]), times[-1])
    joints = np.stack([np.interp(at, times, column) for column in path.joints.T], axis=1)
    return replace(path, joints=joints, widths=np.interp(at, times, path.widths), slack=_ANY_SLACK)
