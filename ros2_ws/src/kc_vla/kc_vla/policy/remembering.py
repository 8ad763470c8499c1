"""Selector, keyframe buffer, policy and the scheduling of chunks in one process, for programs that are no graph.

What they show is an image of each view and the state, as often as the control rate, and what they want is an action.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.chunk import ActionType
from kc_vla.core.codec import Codec
from kc_vla.core.episode import Episode
from kc_vla.core.robot import Robot
from kc_vla.core.views import Views
from kc_vla.execution.scheduler import ScheduledAction, SchedulerSettings
from kc_vla.keyframes.live import LiveSelector
from kc_vla.keyframes.observation import Observation
from kc_vla.keyframes.scoring import ScorerInput, SelectorBackend
from kc_vla.policy.closed_loop import ClosedLoop
from kc_vla.policy.interface import Backend

Numbers = NDArray[np.float64]


class Remembering:
    """Acts on what it sees and on the keyframes of the episode; one action for each control step, in order."""

    def __init__(
        self, robot: Robot, source: SelectorBackend, backend: Backend, window_frames: int, settings: SchedulerSettings
    ) -> None:
        """Put the parts of a policy with memory together.

        Args:
            robot: of the robot.
            source: the selector of keyframes.
            backend: of the policy.
            window_frames: as in the stack's nodes.
            settings: as in the stack's nodes.
        """
        self._robot, self._action = robot, backend.action_type
        self._codec = Codec(robot, backend.action_type)
        # the state stands where joints do: it is all there is of them, and what a keyframe's is made of
        self._loop = ClosedLoop(
            LiveSelector(source, window_frames), backend, lambda seen: seen.joint_positions, settings
        )
        self._episodes = 0
        self._episode: Episode | None = None

    @property
    def keyframes(self) -> list[int]:
        """Return frames that are remembered now."""
        return [] if self._episode is None else [k.observation.frame for k in self._loop.keyframes]

    def forget(self) -> None:
        """Begin an episode with the next frame."""
        self._episode = None

    def act(self, views: Views, state: Numbers, instruction: str) -> NDArray[np.float32]:
        """Return the action of the next control step (A,).

        Args:
            views: images (H, W, 3) uint8 RGB.
            state: (S,), as the stack has it for this robot.
            instruction: what is to be done; another one than before begins an episode.

        Raises:
            ValueError: a state of another length.
            StackError: the instruction is not known, a view is missing, or no numbers come out.
        """
        if state.shape != (len(self._codec.state_names),):
            names = ", ".join(self._codec.state_names)
            raise ValueError(f"a state of {state.size} numbers: the robot '{self._robot.name}' has {names}")
        episode = self._episode
        if episode is None or episode.instruction != instruction:
            episode = self._begin(instruction)
        self._frame += 1
        request = self._loop.request(self._frame)
        stamp_ns = self._frame * episode.period_ns
        pose = state[:7] if self._action is ActionType.TOOL_DELTA else np.zeros(7)
        seen = Observation(self._frame, stamp_ns, views, self._codec.state_names, state, np.zeros_like(state), pose)
        self._loop.see(seen, ScorerInput(stamp_ns, views))
        if request is not None:
            self._loop.think(request, seen)
        command = self._loop.tick(self._frame)
        return command.values if isinstance(command, ScheduledAction) else self._still(state)

    def _begin(self, instruction: str) -> Episode:
        self._episode = None
        self._episodes += 1
        period_ns = round(1e9 / self._robot.control_rate)
        episode = Episode(f"lerobot-{self._episodes}", "", instruction, 0, period_ns, True)
        self._loop.begin(episode)
        self._episode, self._frame = episode, -1
        return episode

    def _still(self, state: Numbers) -> NDArray[np.float32]:
        if self._action is ActionType.JOINT_POSITION:
            return state.astype(np.float32)
        return np.array([0.0] * 6 + [float(np.clip(state[-1], 0.0, 1.0))], np.float32)


def open_remembering(
    models: Path,
    model: str,
    selectors: Path,
    selector: str,
    robot: Robot,
    threads: int,
    window: int,
    how: SchedulerSettings,
) -> Remembering:
    """Return the networks of two registries as one that acts; StackError where one is missing or not for this robot."""
    from kc_vla.keyframes.selectors import open_selector
    from kc_vla.policy.backends import PolicyContext, open_backend

    policy = {"model": model, "models_folder": str(models), "device": "cpu", "threads": threads}
    source = open_selector("learned", {**policy, "model": selector, "models_folder": str(selectors)})
    return Remembering(robot, source, open_backend("learned", PolicyContext(robot, 16), policy), window, how)
