"""Selector, keyframe buffer, policy and the scheduling of chunks in one process, for programs that are no graph.

What they show is a picture of each view and the state, as often as the control rate, and what they want is an action.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.chunk import ActionType, Chunk, ChunkLimits
from kc_vla.core.codec import Codec
from kc_vla.core.episode import Episode
from kc_vla.core.rig import Rig
from kc_vla.core.views import Views
from kc_vla.execution.controller import ArmController
from kc_vla.execution.scheduler import Action, ChunkScheduler, Request, SchedulerSettings
from kc_vla.keyframes.buffer import KeyframeBuffer
from kc_vla.keyframes.joining import Start
from kc_vla.keyframes.live import LiveSelector, Look
from kc_vla.keyframes.observation import Observation
from kc_vla.keyframes.scoring import Sight, Source
from kc_vla.policy.interface import Backend, PolicyInput, Seen

Numbers = NDArray[np.float64]


class Remembering:
    """Acts on what it sees and on the keyframes of the episode; one action for each control step, in order."""

    def __init__(
        self, rig: Rig, source: Source, backend: Backend, window_frames: int, settings: SchedulerSettings
    ) -> None:
        """Args: `source` of keyframes; `backend` of the policy; the rest as in the stack's nodes."""
        self._selector = LiveSelector(source, window_frames)
        self._backend, self._settings, self._rig = backend, settings, rig
        self._codec = Codec(rig, backend.action_type)
        self._episodes = 0
        self._episode: Episode | None = None

    @property
    def keyframes(self) -> list[int]:
        """Frames that are remembered now."""
        return [] if self._episode is None else [k.observation.frame for k in self._buffer.keyframes()]

    def forget(self) -> None:
        """The next frame begins an episode."""
        self._episode = None

    def act(self, views: Views, state: Numbers, instruction: str) -> NDArray[np.float32]:
        """The action of the next control step (A,).

        Args:
            views: pictures (H, W, 3) uint8 RGB.
            state: (S,), as the stack has it for this robot.
            instruction: what is to be done; another one than before begins an episode.

        Raises:
            ValueError: a state of another length.
            StackError: the instruction is not known, a view is missing, or no numbers come out.
        """
        if state.shape != (len(self._codec.state_names),):
            names = ", ".join(self._codec.state_names)
            raise ValueError(f"a state of {state.size} numbers: the rig '{self._rig.name}' has {names}")
        if self._episode is None or self._episode.instruction != instruction:
            self._begin(instruction)
        self._frame += 1
        request = self._controller.request(self._frame)
        self._see(views, state)
        if request is not None:
            self._controller.offer(self._chunk(request, views, state), self._frame)
        command = self._controller.tick(self._frame)
        return command.values if isinstance(command, Action) else self._still(state)

    def _begin(self, instruction: str) -> None:
        self._episodes += 1
        period_ns = round(1e9 / self._rig.control_rate)
        episode = Episode(f"lerobot-{self._episodes}", "", instruction, 0, period_ns, True)
        self._selector.begin(episode)
        self._backend.reset(episode)
        self._buffer = KeyframeBuffer()
        self._buffer.begin(episode.id)
        self._controller = ArmController(ChunkScheduler(self._settings, ChunkLimits()), 0)
        self._controller.begin(episode.id)
        self._episode, self._frame, self._events = episode, -1, 0

    def _see(self, views: Views, state: Numbers) -> None:
        assert self._episode is not None
        stamp_ns = self._frame * self._episode.period_ns
        pose = state[:7] if self._backend.action_type is ActionType.TOOL_DELTA else np.zeros(7)
        # the state stands where joints do: it is all there is of them, and what a keyframe's is made of
        kept = Observation(self._frame, stamp_ns, views, self._codec.state_names, state, np.zeros_like(state), pose)
        self._buffer.observe(kept)
        found = self._selector.take(Look(self._frame, Sight(stamp_ns, views), -1.0, Start()))
        for event in found.events if found is not None else ():
            self._buffer.apply(event, "selector", self._events)
            self._events += 1
        self._buffer.settle(self._frame)

    def _chunk(self, request: Request, views: Views, state: Numbers) -> Chunk:
        assert self._episode is not None
        before = [k.observation for k in self._buffer.keyframes() if k.observation.frame != self._frame]
        seen = [Seen(each.frame, each.views, each.joint_positions) for each in before]
        given = PolicyInput(self._frame, views, seen, state, self._episode.instruction, request.frozen)
        actions = self._backend.infer(given)
        return Chunk(request.sequence, self._frame, self._backend.action_type, self._backend.names, actions)

    def _still(self, state: Numbers) -> NDArray[np.float32]:
        if self._backend.action_type is ActionType.JOINT_POSITION:
            return state.astype(np.float32)
        return np.array([0.0] * 6 + [float(np.clip(state[-1], 0.0, 1.0))], np.float32)


def open_remembering(
    models: Path,
    model: str,
    selectors: Path,
    selector: str,
    rig: Rig,
    threads: int,
    window: int,
    how: SchedulerSettings,
) -> Remembering:
    """The networks of two registries as one that acts; StackError where one is missing or not for this robot."""
    from kc_vla.keyframes.sources import SourceSettings, open_source
    from kc_vla.policy.backends import BackendSettings, open_backend

    source = open_source("learned", SourceSettings(selector, str(selectors), "cpu", threads))
    settings = BackendSettings(rig, 16, model=model, models_folder=str(models), device="cpu", threads=threads)
    return Remembering(rig, source, open_backend("learned", settings), window, how)
