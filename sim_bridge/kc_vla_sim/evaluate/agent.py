"""A selector and a policy that act together in one process, in lock-step.

What decides is what decides in the graph, see `kc_vla.policy.closed_loop`; here are the simulator's frames for it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.chunk import ActionType, BadChunkError
from kc_vla.core.codec import Codec
from kc_vla.core.episode import Episode
from kc_vla.core.tasks import find_task
from kc_vla.core.views import Views
from kc_vla.execution.scheduler import Hold, ScheduledAction, SchedulerSettings
from kc_vla.keyframes.live import LiveSelector
from kc_vla.keyframes.observation import Keyframe, Observation
from kc_vla.keyframes.scoring import SourceError
from kc_vla.policy.closed_loop import ClosedLoop
from kc_vla.policy.history import KEYFRAMES, History
from kc_vla.policy.interface import Backend
from kc_vla_sim.errors import BadExecutionError
from kc_vla_sim.frame import SimulatedFrame
from kc_vla_sim.robot import ROBOT
from kc_vla_sim.scorer_inputs import PERIOD_NS, sight_of_frame

HORIZON = 16
"""Actions of a chunk; a learned policy has its own."""


@dataclass(frozen=True)
class Execution:
    """How chunks are executed; the defaults are those of `launch/params/maniskill.yaml`.

    Attributes:
        execute_steps: control steps of a chunk before the next is asked for.
        blend_steps: actions over which consecutive chunks are blended, control steps.
        latency_steps: a chunk is used so long after it was asked for, control steps.
        told: whether the policy gets the actions that will have run by then (trained-in real-time chunking).

    Raises:
        BadExecutionError: a chunk has not so many actions.
    """

    execute_steps: int = 5
    blend_steps: int = 3
    latency_steps: int = 0
    told: bool = True

    def __post_init__(self) -> None:
        """Check that a chunk lasts until the next one is used.

        Raises:
            BadExecutionError: it does not.
        """
        if self.blend_steps > HORIZON:
            raise BadExecutionError(f"bad blend_steps {self.blend_steps}: a chunk has {HORIZON} actions")
        if (last := self.latency_steps + self.execute_steps) > HORIZON:
            raise BadExecutionError(
                f"latency_steps and execute_steps are {last} together: a chunk has {HORIZON} actions, which must last "
                "until the next one is used"
            )


class Agent:
    """What one robot remembers, sees and does; one episode at a time."""

    def __init__(
        self,
        selector: LiveSelector,
        backend: Backend,
        execution: Execution,
        look: Callable[[], Views],
        history: History = KEYFRAMES,
    ) -> None:
        """Make one.

        Args:
            selector: of the keyframes.
            backend: of the policy.
            execution: of its chunks.
            look: draws the present frame, where the simulator has not drawn it and it is needed.
            history: what of the past the policy is given.
        """
        self._look, self._codec = look, Codec(ROBOT, ActionType.TOOL_DELTA)
        settings = SchedulerSettings(execution.execute_steps, execution.blend_steps)
        self._loop = ClosedLoop(
            selector, backend, self._state, settings, execution.latency_steps, history, execution.told
        )

    def begin(self, task: str, seed: int, variant: str, instruction: str = "") -> None:
        """Begin an episode.

        Args:
            task: name in the task table.
            seed: of the episode.
            variant: of the task.
            instruction: of the policy; empty: that of the task.

        Raises:
            PolicyError: the policy does not know the task, or the instruction.
            SourceError: the selector does not.
        """
        instruction = instruction or find_task(task).instruction
        episode = Episode(f"{task}-{seed}", task, instruction, 0, PERIOD_NS, True, seed, variant)
        try:
            self._loop.begin(episode)
        except ValueError as error:
            raise SourceError(str(error)) from error
        self.faults: Counter[str] = Counter()
        """Why the arm held or a chunk was dropped, how often."""
        self.thought: list[float] = []
        """What each chunk took, s."""

    @property
    def kept(self) -> list[Keyframe]:
        """Return the keyframes by now, ascending."""
        return self._loop.keyframes

    def command(self, frame: SimulatedFrame, draw: bool = False) -> ScheduledAction | None:
        """Take in the next frame; return what to do in it, None for staying where the arm is.

        Args:
            frame: of the simulator.
            draw: whether its images are needed for what the source may make of it.

        Raises:
            PolicyError: the policy gives no numbers.
        """
        request = self._loop.request(frame.index)
        seen = self._see(frame, draw or request is not None)
        if request is not None:
            began = time.perf_counter()
            self._loop.think(request, seen)
            self.thought.append(time.perf_counter() - began)
        try:
            command = self._loop.tick(frame.index)
        except BadChunkError as error:
            self.faults[str(error)] += 1
            command = self._loop.tick(frame.index)
        if isinstance(command, ScheduledAction):
            return command
        self.faults[command.reason if isinstance(command, Hold) else "the arm waits"] += 1
        return None

    def watch(self, frame: SimulatedFrame, draw: bool = False) -> None:
        """Take in the next frame while another moves the arm: no chunk is asked for."""
        self._see(frame, draw)

    def _see(self, frame: SimulatedFrame, looked_at: bool) -> Observation:
        """Let selector and buffer take in a frame."""
        views = frame.views
        if not drawn(frame) and (looked_at or frame.keyframe is not None or frame.index == 0):
            views = self._look()
        pose = np.array([*frame.tool_pose.position, *frame.tool_pose.quaternion])
        names, positions, velocities = frame.joint_names, frame.joint_positions, frame.joint_velocities
        observation = Observation(frame.index, frame.index * PERIOD_NS, views, names, positions, velocities, pose)
        self._loop.see(observation, sight_of_frame(frame, views))
        return observation

    def _state(self, observation: Observation) -> NDArray[np.float64]:
        return self._codec.state(observation.tool_pose, observation.joint_names, observation.joint_positions)


def drawn(frame: SimulatedFrame) -> bool:
    """Return whether the simulator has drawn a frame."""
    return bool(frame.views) and all(picture.size for picture in frame.views.values())
