"""Plays episodes of a selector and a policy in the simulator, and notes how they went."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass

import numpy as np

from kc_vla.keyframes.live import LiveSelector
from kc_vla.policy.history import KEYFRAMES, History
from kc_vla.policy.interface import Backend
from kc_vla_sim.evaluate.agent import Agent, Execution, drawn
from kc_vla_sim.film.layout import KeyframeTile, VideoFrame
from kc_vla_sim.frame import SimulatedFrame
from kc_vla_sim.robot import CONTROL_RATE
from kc_vla_sim.simulator import Simulator

FILM_EVERY = 4
"""One of so many frames is filmed."""


@dataclass(frozen=True)
class EpisodeOutcome:
    """How an episode went.

    Attributes:
        task: name in the task table.
        seed: of the episode.
        success: as the task judges.
        reason: why it ended.
        stages: reached, in order.
        steps: control steps.
        kept: frames of the keyframes that were kept at the end; none where the policy is given none.
        true: frames of the ground-truth keyframes.
        faults: why the arm held or a chunk was dropped, by text, how often.
        fastest: largest step of the tool that was commanded, m/s.
        jump: largest change of that from one step to the next, m/s; what a hand-over that does not fit looks like.
        think_s: median time for a chunk, s.
        play_s: of the whole episode, s.
    """

    task: str
    seed: int
    success: bool
    reason: str
    stages: int
    steps: int
    kept: tuple[int, ...]
    true: tuple[int, ...]
    faults: dict[str, int]
    fastest: float
    jump: float
    think_s: float
    play_s: float


class Player:
    """One simulator with a selector and a policy."""

    def __init__(
        self,
        simulator: Simulator,
        selector: LiveSelector,
        backend: Backend,
        execution: Execution,
        history: History = KEYFRAMES,
    ) -> None:
        """Put the parts of a playing stack together.

        Args:
            simulator: that is played in.
            selector: of the keyframes.
            backend: of the policy.
            execution: of the chunks.
            history: which past frames the policy gets.
        """
        self._simulator = simulator
        self._agent = Agent(selector, backend, execution, simulator.views, history)
        self._history = history
        self.moments: list[VideoFrame] = []
        """Frames of the last episode's video, where the simulator renders."""

    def check(self, task: str, variant: str) -> None:
        """Raise what `play` would raise of a task that a model has not learned."""
        self._agent.begin(task, 0, variant)

    def play(self, task: str, seed: int, variant: str) -> EpisodeOutcome:
        """Play an episode to its end.

        Raises:
            PolicyError: the policy does not know the task, or gives no numbers.
            SourceError: the selector does not know it.
        """
        began = time.perf_counter()
        agent = self._agent
        agent.begin(task, seed, variant)
        self.moments = []
        frame = self._simulator.reset(task, seed)
        moves = [np.zeros(3)]
        while not frame.done:
            command = agent.command(frame)
            moves.append(np.zeros(3) if command is None else np.asarray(command.values[:3], float) * CONTROL_RATE)
            self._film(frame)
            frame = self._simulator.hold() if command is None else self._simulator.step(command.values)
        self._film(frame)
        return EpisodeOutcome(
            task=task,
            seed=seed,
            success=frame.success,
            reason=frame.reason,
            stages=frame.completed_stages,
            steps=frame.index,
            kept=tuple(k.observation.frame for k in agent.kept) if self._history.of_keyframes else (),
            true=tuple(k.frame for k in self._simulator.keyframes),
            faults=dict(agent.faults),
            fastest=float(np.linalg.norm(moves, axis=1).max()),
            jump=float(np.linalg.norm(np.diff(moves, axis=0), axis=1).max(initial=0.0)),
            think_s=statistics.median(agent.thought),
            play_s=time.perf_counter() - began,
        )

    def _film(self, frame: SimulatedFrame) -> None:
        if drawn(frame) and (frame.index % FILM_EVERY == 0 or frame.done):
            kept = {k.label: KeyframeTile(k.observation.frame, k.observation.views) for k in self._agent.kept}
            self.moments.append(VideoFrame(frame, "", kept, self._simulator.decisions))
