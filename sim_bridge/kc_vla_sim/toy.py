"""A robot of a few lines: no physics, no renderer, well below a millisecond a step.

It plays the counting task in a line: a lamp flashes twice, a tool pushes a cube along x to a target. It is there to
try the graph, and to break it: for what a policy sees and does, there is ManiSkill.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kc_vla.core.tasks import Task, find_task
from kc_vla_sim.actions import JOINT_COUNT, MOVE_LIMIT, checked_joint_positions, checked_tool_delta
from kc_vla_sim.errors import EpisodeOverError, UnplayedTaskError
from kc_vla_sim.frame import (
    BASE_FRAME,
    TOOL_FRAME,
    CameraModel,
    GroundTruthKeyframe,
    GroundTruthObject,
    Image,
    Pose,
    SimulatedFrame,
)
from kc_vla_sim.protocol import Expert, check_seed
from kc_vla_sim.robot import ROBOT

TASK = "counting"
LONGEST_EPISODE = 400
"""Steps."""
JOINT_NAMES = (*(f"toy_joint{number}" for number in range(1, 8)), "toy_finger1", "toy_finger2")
"""The first three slide along x, y and z and are where the tool is; the others stay at rest."""
_WIDEST_FINGER = ROBOT.opening / 2  # m
_TOOL_START = (0.4, 0.0, 0.03)
_CUBE_START = 0.5
_TARGET = 0.7
_AT_TARGET = 0.08
_REACH = 0.03
"""The tool pushes the cube when it is closer behind it than this, m."""
_MOVED = 0.01
_PUSH = 0.01
"""m per step, the expert's."""
_AHEAD = 0.15
"""From one camera on the tool to the next, m."""
_NO_EPISODE = "no episode yet: reset the simulator first"
_DOWN = (1.0, 0.0, 0.0, 0.0)
_WAITS = ((30, 50), (20, 30), (30, 50), (20, 30))
"""Fewest and most steps: dark, lit, dark, lit."""


class ToySimulator:
    """A `protocol.Simulation` of a few lines, which plays the counting task without physics."""

    def __init__(self, image_size: int, cameras: Mapping[str, str] = ROBOT.cameras) -> None:
        """Prepare; the first `reset` begins an episode.

        Args:
            image_size: of the square images, px.
            cameras: one or more, and the frame of each.
        """
        self._size, self._cameras = image_size, cameras
        self._task: Task | None = None
        self._running = False

    def reset(self, task: str, seed: int) -> SimulatedFrame:
        """Begin a new episode of `task`.

        Raises:
            UnknownTaskError: `task` is not in the task table.
            UnplayedTaskError: it is another than counting.
            BadSeedError: a bad seed.
        """
        found = find_task(task)
        chance = np.random.default_rng(check_seed(seed))
        if found.name != TASK:
            raise UnplayedTaskError(f"the toy robot plays {TASK} alone, not {task}: use the simulator maniskill")
        self._task = found
        self._edges = np.cumsum([chance.integers(low, high, endpoint=True) for low, high in _WAITS])
        self._cube_start = self._cube = _CUBE_START + float(chance.uniform(-0.02, 0.02))
        self._tool = np.array(_TOOL_START)
        self._gripper = 0.0
        self._index = self._stages = 0
        self._running = True
        return self._frame(np.zeros(3))

    def step(self, tool_delta: ArrayLike) -> SimulatedFrame:
        """Move the tool by the first three numbers of a tool delta; the turn is left."""
        delta = checked_tool_delta(tool_delta)
        return self._advance(np.clip(delta[:3], -MOVE_LIMIT, MOVE_LIMIT), float(np.clip(delta[6], 0, 1)))

    def step_joints(self, positions: ArrayLike) -> SimulatedFrame:
        """Slide the tool towards what the first three joints say."""
        joints = checked_joint_positions(positions)
        move = np.clip(joints[:3] - self._tool, -MOVE_LIMIT, MOVE_LIMIT)
        return self._advance(move, float(np.clip(joints[7:].mean() / _WIDEST_FINGER, 0, 1)))

    def hold(self) -> SimulatedFrame:
        """Stay in place for one control step."""
        return self._advance(np.zeros(3), self._gripper)

    @property
    def task(self) -> Task | None:
        """Return the task of the present episode; None before the first reset."""
        return self._task

    @property
    def expert(self) -> Expert:
        """Return the expert of the present episode, which waits for the second flash, then pushes."""
        if self._task is None:
            raise EpisodeOverError(_NO_EPISODE)
        return _Expert(self)

    @property
    def keyframes(self) -> tuple[GroundTruthKeyframe, ...]:
        """Return frame 0 and every change of the lamp so far."""
        if self._task is None:
            return ()
        frames = (0, *(int(edge) for edge in self._edges))
        labelled = zip(frames, self._task.keyframes, strict=True)
        return tuple(GroundTruthKeyframe(frame, label) for frame, label in labelled if frame <= self._index)

    @property
    def cameras(self) -> tuple[CameraModel, ...]:
        """Return the cameras: the first is above the line, the others are on the tool, each further ahead."""
        if self._task is None:
            raise EpisodeOverError(_NO_EPISODE)
        middle, focal = self._size / 2, float(self._size)
        k = ((focal, 0.0, middle), (0.0, focal, middle), (0.0, 0.0, 1.0))
        first, *others = self._cameras.values()
        above = CameraModel(self._size, self._size, first, BASE_FRAME, Pose((0.5, 0.0, 1.0), _DOWN), k)
        places = [Pose((0.05 + _AHEAD * n, 0.0, -0.05), (0.0, 0.0, 0.0, 1.0)) for n in range(len(others))]
        on_tool = (
            CameraModel(self._size, self._size, frame, TOOL_FRAME, place, k)
            for frame, place in zip(others, places, strict=True)
        )
        return (above, *on_tool)

    def close(self) -> None:
        """End the episode."""
        self._task, self._running = None, False

    @property
    def may_push(self) -> bool:
        """Return whether the second flash is over."""
        return self._edges_passed() == len(_WAITS)

    def _edges_passed(self) -> int:
        return int((self._edges <= self._index).sum())

    def _advance(self, move: NDArray[np.float64], gripper: float) -> SimulatedFrame:
        if not self._running:
            raise EpisodeOverError("the episode is over: reset the simulator before the next step")
        before = self._tool
        self._tool, self._gripper = before + move, gripper
        if before[0] < self._cube and abs(self._tool[1]) < _REACH:
            self._cube = max(self._cube, float(self._tool[0]) + _REACH)
        self._index += 1
        return self._frame(move * 20)

    def _frame(self, speed: NDArray[np.float64]) -> SimulatedFrame:
        assert self._task is not None
        passed = self._edges_passed()
        moved_early = not self.may_push and self._cube - self._cube_start > _MOVED
        success = self.may_push and abs(self._cube - _TARGET) < _AT_TARGET
        self._stages = max(self._stages, len(self._task.stages) if success else passed // 2)
        reason = ""
        if success:
            reason = "success"
        elif moved_early:
            reason = "cube moved before the second flash ended"
        elif self._index >= LONGEST_EPISODE:
            reason = "time limit"
        self._running = not reason
        lit = passed % 2 == 1
        tool = float(self._tool[0])
        centres = (0.5, *(tool + _AHEAD * n for n in range(len(self._cameras) - 1)))
        joints = np.zeros(JOINT_COUNT)
        joints[:3], joints[7:] = self._tool, self._gripper * _WIDEST_FINGER
        velocities = np.zeros(JOINT_COUNT)
        velocities[:3] = speed
        x, y, z = (float(value) for value in self._tool)
        cube, lamp = Pose((float(self._cube), 0.0, 0.02), _DOWN), Pose((0.5, -0.3, 0.1), _DOWN)
        return SimulatedFrame(
            index=self._index,
            views={view: self._picture(lit, centre) for view, centre in zip(self._cameras, centres, strict=True)},
            joint_names=JOINT_NAMES,
            joint_positions=joints,
            joint_velocities=velocities,
            tool_pose=Pose((x, y, z), _DOWN),
            detections=(
                GroundTruthObject("cube", "cube", "", cube, (0.04, 0.04, 0.04)),
                GroundTruthObject("lamp", "lamp", "on" if lit else "off", lamp, (0.05, 0.05, 0.2)),
            ),
            keyframe=next((k.label for k in self.keyframes if k.frame == self._index), None),
            done=bool(reason),
            success=success,
            reason=reason,
            completed_stages=self._stages,
        )

    def _picture(self, lit: bool, centre: float) -> Image:
        """Draw the line from 0.5 m left to 0.5 m right of `centre` (x, m): cube, tool and target.

        The lamp lights it all.
        """
        picture = np.full((self._size, self._size, 3), 140 if lit else 90, np.uint8)
        rows = slice(self._size * 2 // 5, self._size * 3 // 5)
        for x, colour in ((_TARGET, (160, 10, 10)), (self._cube, (20, 40, 180)), (self._tool[0], (30, 30, 30))):
            column = (x - centre + 0.5) * self._size
            wide = max(1, self._size // 40)
            columns = slice(max(0, round(column - wide)), max(0, round(column + wide)))
            picture[rows, columns] = colour
        return picture


class _Expert:
    def __init__(self, world: ToySimulator) -> None:
        self._may_push = world.may_push

    def plan(self, horizon: int) -> tuple[NDArray[np.float32], str]:
        """Stay, or push along x."""
        if horizon < 1:
            raise ValueError(f"a horizon of {horizon}: it must be 1 or more")
        actions = np.zeros((horizon, 7), np.float32)
        actions[:, 0] = _PUSH if self._may_push else 0.0
        return actions, "push" if self._may_push else "wait"
