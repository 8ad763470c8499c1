"""Who moves the arm while an episode is recorded: the expert, pushed off its way, or a policy, whom the expert teaches.

A policy that drives comes to states that no expert would, and learns the expert's there (DAgger, Ross et al., 2011).
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
from kc_vla.keyframes.scoring import ScorerInput, Scoring
from kc_vla.policy.backends import PolicyContext
from kc_vla.policy.learned import LearnedBackend, open_learned
from kc_vla.policy.options import LearnedOptions
from kc_vla_sim.collect.demonstrator import Demonstrator
from kc_vla_sim.evaluate.agent import HORIZON, Agent, Execution
from kc_vla_sim.experts.phases import PUSHED
from kc_vla_sim.frame import SimulatedFrame
from kc_vla_sim.robot import ROBOT
from kc_vla_sim.simulator import Simulator

_KICKS = 0.01
"""Probability in a step that the arm is pushed off its way from then on for a few."""
_STRETCH = (20, 80)
"""Control steps until it is drawn anew whether the policy or the expert drives."""
_LATENCIES = 5
"""A driving policy answers after up to so many control steps, drawn for each episode, and at once in half of them."""

LATE = 12
"""Frames that a learned selector is late at most."""


class CollectionPolicy(Protocol):
    """Moves the arm through one episode."""

    def act(self, frame: SimulatedFrame, phase: str) -> NDArray[np.float32]:
        """Return the next action (7,), in a frame in which the expert would be in `phase`."""
        ...

    @property
    def phases(self) -> frozenset[str]:
        """Return the phases of an expert that acted, until now."""
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
        """Begin to act.

        Args:
            demonstrator: that acts.
            chance: of the kicks; without it there are none.
        """
        self._demonstrator, self._chance = demonstrator, chance
        self._kick = np.zeros(6)
        self._left = 0

    def act(self, frame: SimulatedFrame, phase: str) -> NDArray[np.float32]:
        """Return the demonstrator's action, with a random push now and then in phases that allow it."""
        action = self._demonstrator.act()
        chance = self._chance
        if chance is None:
            return action
        if self._left == 0 and phase in PUSHED and chance.random() < _KICKS:
            self._left = int(chance.integers(3, 9))
            self._kick[:3] = chance.normal(0.0, 0.02, 3)
            self._kick[2] = abs(self._kick[2])  # upwards: nothing below is pushed
            self._kick[3:] = chance.normal(0.0, 0.02, 3)
        if self._left:
            self._left -= 1
            action = action.copy()
            action[:6] += self._kick.astype(np.float32)
        return action

    @property
    def phases(self) -> frozenset[str]:
        """Return the phases that the demonstrator has gone through."""
        return frozenset(self._demonstrator.phases)


class LateSource(OracleSource):
    """Takes the true keyframes as late as a selector that sees images alone; a policy hovers or goes on meanwhile.

    How late is drawn for each keyframe, of one episode: it scores that itself.
    """

    def __init__(self, chance: np.random.Generator, late: int = LATE) -> None:
        """Begin without a keyframe.

        Args:
            chance: of the delays.
            late: frames at most.
        """
        self._chance, self._late = chance, late
        self._frame, self._due, self._of = -1, deque[tuple[int, int]](), 0

    def begin(self, episode: Episode) -> Scoring:
        """Begin an episode with this object as its scorer."""
        return Scoring(find_task(episode.task).keyframes, self, tells=lambda: self._of)

    def score(self, sight: ScorerInput, phase: int) -> float:
        """Return 1 in the frame in which a true keyframe is due after its random delay, else 0."""
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
    """Leaves the arm to a policy, with the true keyframes a little late, for most segments of an episode."""

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

    def act(self, frame: SimulatedFrame, phase: str) -> NDArray[np.float32]:
        """Return the policy's action or the expert's: which of the two acts is drawn anew for each segment."""
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

    @property
    def phases(self) -> frozenset[str]:
        """Return no phases, as the expert is never changed where it acts between two segments of the policy."""
        return frozenset()

    def _demonstrated(self) -> NDArray[np.float32]:
        action: NDArray[np.float32] = self._expert.plan(1)[0][0].astype(np.float32)
        return action


@lru_cache(maxsize=1)
def driving_backend(policy: DrivingPolicy) -> LearnedBackend:
    """Return this process's policy."""
    return open_learned(PolicyContext(ROBOT, HORIZON), LearnedOptions(policy.model, policy.models, device="cpu"))
