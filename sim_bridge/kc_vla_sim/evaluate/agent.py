"""A selector and a policy that act together in one process, in lock-step.

What decides is what decides in the graph: the selector with its phases, the keyframe buffer, the backend of the policy
server, the arm controller's scheduling of chunks. Only the messages between them are left out.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.chunk import ActionType, BadChunkError, Chunk, ChunkLimits
from kc_vla.core.codec import Codec
from kc_vla.core.episode import Episode
from kc_vla.core.rig import gripper_joints
from kc_vla.core.tasks import find_task
from kc_vla.core.views import Views
from kc_vla.execution.controller import ArmController
from kc_vla.execution.scheduler import Action, ChunkScheduler, Hold, Request, SchedulerSettings
from kc_vla.keyframes.buffer import KeyframeBuffer
from kc_vla.keyframes.joining import Start
from kc_vla.keyframes.live import LiveSelector, Look
from kc_vla.keyframes.observation import Keyframe, Observation
from kc_vla.keyframes.scoring import Sight, SourceError
from kc_vla.policy.interface import Backend, PolicyInput, Seen
from kc_vla_sim.frame import Frame
from kc_vla_sim.robot import CONTROL_RATE, RIG

HORIZON = 16
"""Actions of a chunk; a learned policy has its own."""
WINDOW_FRAMES = 5
"""Quiet frames that commit a candidate: the paper's validation window."""
_PERIOD_NS = 1_000_000_000 // CONTROL_RATE


@dataclass(frozen=True)
class Execution:
    """How chunks are executed; the defaults are those of `launch/params/maniskill.yaml`.

    Attributes:
        execute_steps: control steps of a chunk before the next is asked for.
        blend_steps: fade from chunk to chunk, control steps.
        latency_steps: a chunk is used so long after it was asked for, control steps.
        told: whether the policy is told which actions will have run by then (trained-in real-time chunking).
    """

    execute_steps: int = 5
    blend_steps: int = 3
    latency_steps: int = 0
    told: bool = True


class Agent:
    """What one robot remembers, sees and does; one episode at a time."""

    def __init__(
        self, selector: LiveSelector, backend: Backend, execution: Execution, look: Callable[[], Views], masked: bool
    ) -> None:
        """Make one.

        Args:
            selector: of the keyframes.
            backend: of the policy.
            execution: of its chunks.
            look: draws the present frame, where the simulator has not drawn it and somebody looks at it.
            masked: the policy is given no keyframe.
        """
        self._selector, self._backend, self._execution = selector, backend, execution
        self._look, self._masked = look, masked
        self._codec = Codec(RIG, ActionType.TOOL_DELTA)

    def begin(self, task: str, seed: int, variant: str) -> None:
        """Begin an episode.

        Raises:
            PolicyError: the policy does not know the task.
            SourceError: the selector does not.
        """
        how = self._execution
        self._instruction = find_task(task).instruction
        episode = Episode(f"{task}-{seed}", task, self._instruction, 0, _PERIOD_NS, True, seed, variant)
        scheduler = ChunkScheduler(SchedulerSettings(how.execute_steps, how.blend_steps), ChunkLimits())
        self._controller = ArmController(scheduler, how.latency_steps)
        self._controller.begin(episode.id)
        self._buffer = KeyframeBuffer()
        self._buffer.begin(episode.id)
        try:
            self._selector.begin(episode)
        except ValueError as error:
            raise SourceError(str(error)) from error
        self._backend.reset(episode)
        self._events = 0
        self.faults: Counter[str] = Counter()
        """Why the arm held or a chunk was dropped, how often."""
        self.thought: list[float] = []
        """What each chunk took, s."""

    @property
    def kept(self) -> list[Keyframe]:
        """The keyframes by now, ascending."""
        return self._buffer.keyframes()

    def command(self, frame: Frame) -> Action | None:
        """Take in the next frame; return what to do in it, None for staying where the arm is.

        Raises:
            PolicyError: the policy gives no numbers.
        """
        request = self._controller.request(frame.index)
        seen = self._see(frame, looked_at=request is not None)
        if request is not None:
            self._controller.offer(self._chunk(request, seen), frame.index)
        try:
            command = self._controller.tick(frame.index)
        except BadChunkError as error:
            self.faults[str(error)] += 1
            command = self._controller.tick(frame.index)
        if isinstance(command, Action):
            return command
        self.faults[command.reason if isinstance(command, Hold) else "the arm waits"] += 1
        return None

    def watch(self, frame: Frame) -> None:
        """Take in the next frame while another moves the arm: no chunk is asked for."""
        self._see(frame, looked_at=False)

    def _see(self, frame: Frame, looked_at: bool) -> Observation:
        """Let selector and buffer take in a frame."""
        views = frame.views
        if not drawn(frame) and (looked_at or frame.keyframe is not None or frame.index == 0):
            views = self._look()
        pose = np.array([*frame.tool_pose.position, *frame.tool_pose.quaternion])
        names, positions, velocities = frame.joint_names, frame.joint_positions, frame.joint_velocities
        observation = Observation(frame.index, frame.index * _PERIOD_NS, views, names, positions, velocities, pose)
        self._buffer.observe(observation)
        opening = float(sum(positions[k] for k in gripper_joints(names)))
        sight = Sight(observation.stamp_ns, views, opening, pose[:3], oracle=float(frame.keyframe is not None))
        found = self._selector.take(Look(frame.index, sight, -1.0, Start()))
        for event in found.events if found is not None else ():
            self._buffer.apply(event, "selector", self._events)
            self._events += 1
        self._buffer.settle(frame.index)
        return observation

    def _chunk(self, request: Request, seen: Observation) -> Chunk:
        before = [k.observation for k in self.kept if k.observation.frame != seen.frame]
        kept = [] if self._masked else [Seen(each.frame, each.views, self._state(each)) for each in before]
        frozen = request.frozen if self._execution.told else np.empty((0, 0), np.float32)
        began = time.perf_counter()
        given = PolicyInput(seen.frame, seen.views, kept, self._state(seen), self._instruction, frozen)
        actions = self._backend.infer(given)
        self.thought.append(time.perf_counter() - began)
        return Chunk(request.sequence, seen.frame, self._backend.action_type, self._backend.names, actions)

    def _state(self, observation: Observation) -> NDArray[np.float64]:
        return self._codec.state(observation.tool_pose, observation.joint_names, observation.joint_positions)


def drawn(frame: Frame) -> bool:
    """Whether the simulator has drawn a frame."""
    return all(picture.size for picture in frame.views.values())
