"""The arm of a kitchen as a robot that does the planner's skills, without ROS. It knows only what its cameras show."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from kc_vla.memory.things import ObservedThing
from kc_vla.perception.detectors import TRUTH
from kc_vla.planning.interface import CallResult
from kc_vla.planning.skills import Call
from kc_vla.policy.interface import PolicyError
from kc_vla.skills.context import SkillContext
from kc_vla.skills.interface import ArmReading, PolicyStage
from kc_vla.skills.motion_paths import MotionPathMaker
from kc_vla.skills.perceived_scene import PerceivedScene
from kc_vla.skills.skill_run import SkillRun
from kc_vla.skills.skill_table import SkillWay
from kc_vla.skills.station import SkillStation, posture_with
from kc_vla.skills.tool_path import PathMaker
from kc_vla_sim.choices import STANDARD_LOOKS
from kc_vla_sim.frame import SimulatedFrame
from kc_vla_sim.kitchen.handling.arm_perception import arm_perception
from kc_vla_sim.kitchen.handling.skill_policy import SkillPolicy
from kc_vla_sim.kitchen.layout import DrawLayout
from kc_vla_sim.robot import CONTROL_RATE, ROBOT
from kc_vla_sim.simulator import Simulator

DRAWN_EVERY, DRAWN_MOVING = 5, 15
"""Perception looks at every so many frames while the arm waits for what is seen, and while it moves."""

Watcher = Callable[[SimulatedFrame, SkillStation], None]


class KitchenArm:
    """A `SkillRobot` in ManiSkill's kitchen, with the detections of a detector or of the simulator's truth.

    Attributes:
        simulator: with the kitchen.
        station: does the skills.
        frame: of the simulator, the newest.
        seldom: looks and detections are left out while the arm moves, which takes a third of the time: nothing that
            depends on them may happen meanwhile.
        ways: by which way each skill is done from the next kitchen on; None: all by motions.
        watch: gets each frame, for a video or a test that disturbs; None for nobody.
    """

    def __init__(
        self,
        seed: int,
        image_size: int = 0,
        paths: PathMaker | None = None,
        detector: str = TRUTH,
        options: Mapping[str, Any] | None = None,
        depth: bool = True,
        layout: DrawLayout | None = None,
        ways: Mapping[str, SkillWay] | None = None,
        policy: SkillPolicy | None = None,
        looks: str = STANDARD_LOOKS,
        renderer: str = "auto",
    ) -> None:
        """Begin with a kitchen.

        Args:
            seed: of the kitchen.
            image_size: of the cameras, px; 0: what is usual for the detector.
            paths: makes the paths of the arm; None: the motion planner.
            detector: name of a row of the detectors, which looks at the images; "truth": the simulator's.
            options: of the detector.
            depth: whether perception gets depth images.
            layout: draws the kitchen of a seed; None: the usual one.
            ways: by which way each skill is done; None: all by motions.
            policy: that does those by a policy; None where there are none.
            looks: of the simulator.
            renderer: of the simulator.

        Raises:
            DetectorError: the detector cannot be had.
        """
        self._perception = arm_perception(detector, options, image_size, depth)
        size, needs_depth = self._perception.image_size, self._perception.needs_depth
        self.simulator = Simulator(size, renderer=renderer, looks=looks, tour=False, depth=needs_depth, layout=layout)
        self.watch: Watcher | None = None
        self.seldom = False
        self.cancelled = False
        self.ways, self._policy = ways, policy
        self._stage: PolicyStage | None = None
        self._paths = paths or MotionPathMaker(ROBOT)
        self._scene = PerceivedScene()
        self.begin(seed)

    def begin(self, seed: int) -> None:
        """Begin another kitchen."""
        self.simulator.draws = self.simulator.detects = True
        self.frame = self.simulator.reset("kitchen", seed)
        self.simulator.draws, self.simulator.detects = False, not self.seldom
        self._scene.forget()
        context = SkillContext(reading_of(self.frame), self._scene, self._paths, ROBOT.opening, CONTROL_RATE)
        self.station = SkillStation(context, self.ways)
        self._perception.begin()
        for _ in range(self._perception.first_looks):
            self._see()

    def do(self, call: Call) -> CallResult:
        """Do a skill."""
        began, first = time.monotonic(), self.frame.index
        run = self.station.begin(call)
        self.cancelled = False
        while run.outcome is None:
            run.advance(reading_of(self.frame))
            if self.cancelled:
                run.fail("it was stopped")
            if run.policy is not None:
                self._step_by_policy(run, run.policy)
                continue
            joints, widths = run.set_points(1)
            self.step(joints[0].tolist(), float(widths[0]))
        self.took_s = time.monotonic() - began
        seconds = (self.frame.index - first) / CONTROL_RATE
        outcome, seen, held = run.outcome, tuple(self.station.seen()), self.station.context.held_id
        return CallResult(outcome.done, outcome.reason, seconds, 0.0, seen, held, outcome.obstacle)

    def look(self) -> Sequence[ObservedThing]:
        """Return what is seen now."""
        self._see()
        return self.station.seen()

    def stay(self) -> None:
        """Take one control step in which the arm holds."""
        run = self.station.run
        if run is None:
            self.step(self.frame.joint_positions[: len(ROBOT.joints)].tolist(), 0.0)
            return
        run.advance(reading_of(self.frame))
        joints, widths = run.set_points(1)
        self.step(joints[0].tolist(), float(widths[0]))

    def cancel(self) -> None:
        """Stop the skill that is being done."""
        self.cancelled = True

    def step(self, joints: Sequence[float], width: float) -> None:
        """Take one control step towards angles (N,), rad, and a width between the fingers, m."""
        self._stepped(self.simulator.step_joints(posture_with(joints, len(ROBOT.gripper), width)))

    def step_tool(self, action: ArrayLike) -> None:
        """Take one control step with a tool delta and gripper (7,), see `Simulator.step`."""
        self._stepped(self.simulator.step(action))

    def _step_by_policy(self, run: SkillRun, stage: PolicyStage) -> None:
        """Take one control step as the policy says; where it cannot say anything, the skill has failed."""
        try:
            if self._policy is None:
                raise PolicyError("there is no policy here that could do it")
            if stage is not self._stage:
                self._policy.begin(self.simulator, self.frame, stage.instruction)
                self._stage = stage
            action = self._policy.action(self.frame)
        except PolicyError as error:
            run.fail(str(error))
            return
        self._stepped(self.simulator.hold() if action is None else self.simulator.step(action))

    def _stepped(self, frame: SimulatedFrame) -> None:
        self.frame = frame
        moves = self.station.run is not None and self.station.run.moves
        every = (0 if self.seldom else DRAWN_MOVING) if moves else DRAWN_EVERY
        if every and self.frame.index % every == 0:
            self._see()
        if self.watch is not None:
            self.watch(self.frame, self.station)

    def close(self) -> None:
        """Release the simulator and the detector."""
        self.simulator.close()
        self._perception.close()

    def _see(self) -> None:
        self.frame = self.simulator.redrawn(self.frame)
        self._perception.see(self.simulator, self.frame, self._scene, self.station.context.held_ids)


def reading_of(frame: SimulatedFrame) -> ArmReading:
    """Return what the arm reports in a frame."""
    count = len(ROBOT.joints)
    return ArmReading(frame.index, frame.joint_positions[:count].copy(), float(frame.joint_positions[count:].sum()))
