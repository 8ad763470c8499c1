"""A learned policy that does skills of the arm in a kitchen, without ROS: what decides is what decides in the graph."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kc_vla.core.views import Views
from kc_vla.keyframes.live import LiveSelector
from kc_vla.keyframes.oracle import OracleSource
from kc_vla.policy.backends import PolicyContext
from kc_vla.policy.learned import open_learned
from kc_vla.policy.options import LearnedOptions
from kc_vla_sim.choices import STANDARD
from kc_vla_sim.evaluate.agent import HORIZON, Agent, Execution
from kc_vla_sim.frame import SimulatedFrame
from kc_vla_sim.robot import ROBOT
from kc_vla_sim.simulator import VIEWS, Simulator

TASK = "kitchen"


class SkillPolicy:
    """Moves the arm by a learned policy for one skill after the other; each begins with an instruction of its own."""

    def __init__(self, models: str = "", model: str = "policy", execution: Execution | None = None) -> None:
        """Open the policy.

        Args:
            models: folder of models, as a user names it; empty: those that come with the stack.
            model: its name there.
            execution: of its chunks; None: as in the graph.

        Raises:
            PolicyError: it is not there, or not for this robot.
        """
        self.name = model
        self._backend = open_learned(PolicyContext(ROBOT, HORIZON), LearnedOptions(model, models, device="cpu"))
        self._execution = execution or Execution()
        self._agent: Agent | None = None
        self._simulator: Simulator | None = None
        self._first = 0

    def begin(self, simulator: Simulator, frame: SimulatedFrame, instruction: str) -> None:
        """Begin a skill in the present frame.

        Raises:
            PolicyError: the policy does not know the instruction.
        """
        if self._agent is None or self._simulator is not simulator:
            selector = LiveSelector(OracleSource())
            self._agent = Agent(selector, self._backend, self._execution, self._look, self._backend.history)
        self._simulator, self._first = simulator, frame.index
        self._agent.begin(TASK, 0, STANDARD, instruction)

    def action(self, frame: SimulatedFrame) -> NDArray[np.floating] | None:
        """Return the tool delta and gripper (7,) for a frame; None: the arm stays.

        Raises:
            PolicyError: the policy gives no numbers.
        """
        assert self._agent is not None
        command = self._agent.command(replace(frame, index=frame.index - self._first, views={}))
        return None if command is None else command.values

    def _look(self) -> Views:
        assert self._simulator is not None
        return {view: self._simulator.picture(view) for view in VIEWS if view in self._backend.views}
