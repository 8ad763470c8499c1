"""Who moves the arm while an episode is recorded: the expert, pushed off its way, or a policy, whom the expert teaches.

A policy that drives comes to states that no expert would, and is told what to do there (DAgger, Ross et al., 2011).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.episode import Episode
from kc_vla.core.tasks import find_task
from kc_vla.keyframes.live import LiveSelector
from kc_vla.keyframes.oracle import OracleSource
from kc_vla.keyframes.scoring import Scoring, Sight
from kc_vla.policy.backends import BackendSettings
from kc_vla.policy.learned import LearnedBackend, open_learned
from kc_vla_sim.collect.demonstrator import Demonstrator
from kc_vla_sim.evaluate.agent import HORIZON, Agent, Execution
from kc_vla_sim.frame import Frame
from kc_vla_sim.robot import RIG
from kc_vla_sim.simulator import Simulator

_KICKS = 0.01
"""Probability in a step that the arm is pushed off its way from then on for a few."""
_KICKED = ("approach", "go", "carry", "descend", "wait")
"""Phases in which it is: no cube is being gripped, let go or pushed. Whoever never saw the arm off the place where it
waits learns nothing that would bring it back there, and drifts away."""
_STRETCH = (20, 80)
"""Control steps until it is drawn anew whether the policy or the expert drives."""
_LATENCIES = 5
"""A driving policy answers after up to so many control steps, drawn for each episode, and at once in half of them."""

LATE = 12
"""Frames that a learned selector is late at most."""


class Driver(Protocol):
    """Moves the arm through one episode."""

    def act(self, frame: Frame, phase: str) -> NDArray[np.float32]:
        """The next action (7,), in a frame in which the expert would be in `phase`."""
        ...


@dataclass(frozen=True)
class DrivingPolicy:
    """A policy that drives.

    Attributes:
        models: folder of models, as the user named it; empty: those that come with the stack.
        model: its name there.
        share: of the time in which it drives; the expert does in the rest.
        late: frames that it is given a keyframe late, at most.
    """

    models: str
    model: str
    share: float
    late: int = LATE


class ExpertDriver:
    """Moves the arm as a demonstrator does, and kicks it."""

    def __init__(self, demonstrator: Demonstrator, chance: np.random.Generator | None) -> None:
        """Args: without `chance` there are no kicks."""
        self._demonstrator, self._chance = demonstrator, chance
        self._kick = np.zeros(6)
        self._left = 0

    def act(self, frame: Frame, phase: str) -> NDArray[np.float32]:
        """See `Driver`."""
        action = self._demonstrator.act()
        chance = self._chance
        if chance is None:
            return action
        if self._left == 0 and phase in _KICKED and chance.random() < _KICKS:
            self._left = int(chance.integers(3, 9))
            self._kick[:3] = chance.normal(0.0, 0.02, 3)
            self._kick[2] = abs(self._kick[2])  # upwards: nothing below is pushed
            self._kick[3:] = chance.normal(0.0, 0.02, 3)
        if self._left:
            self._left -= 1
            action = action.copy()
            action[:6] += self._kick.astype(np.float32)
        return action


class LateSource(OracleSource):
    """Takes the true keyframes as late as a selector that sees pictures alone; a policy hovers or goes on meanwhile.

    How late is drawn for each keyframe, of one episode: it scores that itself.
    """

    def __init__(self, chance: np.random.Generator, late: int = LATE) -> None:
        """Args: `late` frames at most."""
        self._chance, self._late = chance, late
        self._frame, self._due, self._of = -1, deque[tuple[int, int]](), 0

    def begin(self, episode: Episode) -> Scoring:
        """See `kc_vla.keyframes.scoring.Source.begin`."""
        return Scoring(find_task(episode.task).keyframes, self, tells=lambda: self._of)

    def score(self, sight: Sight, phase: int) -> float:
        """See `kc_vla.keyframes.scoring.Scorer`."""
        assert sight.oracle is not None
        self._frame += 1
        if sight.oracle > 0:
            late = int(self._chance.integers(self._late + 1)) if self._frame else 0  # nobody is late for frame 0
            if self._due and self._due[-1][1] == sight.of:
                self._due.pop()  # the same one is better seen now
            after = self._due[-1][0] + 1 if self._due else 0  # each in its turn
            self._due.append((max(self._frame + late, after), sight.of))
        if not self._due or self._due[0][0] > self._frame:
            return 0.0
        _, self._of = self._due.popleft()
        return 1.0


class PolicyDriver:
    """Leaves the arm to a policy, with the true keyframes a little late, for most stretches of an episode."""

    def __init__(
        self,
        policy: DrivingPolicy,
        simulator: Simulator,
        variant: str,
        chance: np.random.Generator,
        takes_over: int = 0,
    ) -> None:
        """Begin the episode that the simulator has begun.

        Args:
            policy: that drives.
            simulator: that has begun an episode.
            variant: of the task.
            chance: of all that is drawn.
            takes_over: the expert drives before this frame.

        Raises:
            PolicyError: there is no such policy, or it does not know the task.
        """
        late = int(chance.integers(1, _LATENCIES + 1))
        execution = Execution(latency_steps=late if chance.random() < 0.5 else 0)
        selector = LiveSelector(LateSource(chance, policy.late))
        backend = driving_backend(policy)
        self._agent = Agent(selector, backend, execution, simulator.views, backend.history)
        task = simulator.task
        assert task is not None
        self._agent.begin(task.name, int(chance.integers(2**31)), variant)
        self._expert, self._chance, self._share = simulator.expert, chance, policy.share
        self._left, self._policy_drives, self._takes_over = 0, False, takes_over
        self._late, self._taken_by = policy.late, 0

    def act(self, frame: Frame, phase: str) -> NDArray[np.float32]:
        """See `Driver`."""
        if frame.keyframe is not None:
            self._taken_by = frame.index + self._late
        draw = frame.index <= self._taken_by  # any of these may be taken for the keyframe
        if frame.index < self._takes_over:
            self._agent.watch(frame, draw)
            return self._demonstrated()
        if self._left == 0:
            self._left = int(self._chance.integers(*_STRETCH))
            self._policy_drives = bool(self._chance.random() < self._share)
        self._left -= 1
        command = self._agent.command(frame, draw)
        return (
            command.values.astype(np.float32) if command is not None and self._policy_drives else self._demonstrated()
        )

    def _demonstrated(self) -> NDArray[np.float32]:
        action: NDArray[np.float32] = self._expert.plan(1)[0][0].astype(np.float32)
        return action


@lru_cache(maxsize=1)
def driving_backend(policy: DrivingPolicy) -> LearnedBackend:
    """This process's policy."""
    settings = BackendSettings(RIG, HORIZON, model=policy.model, models_folder=policy.models, device="cpu")
    return open_learned(settings)
