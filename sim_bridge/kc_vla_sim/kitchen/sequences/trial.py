"""Plays the sequence of one kitchen with one memory; the simulator's truth judges each instruction."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from kc_vla.memory.embedding.models import shared_embedder
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.store import Store
from kc_vla.memory.robot.robot_memory import open_robot_memory
from kc_vla.planning.execution.loop import Loop
from kc_vla.planning.execution.results import ExecutionStep, Tell
from kc_vla.planning.execution.robot import Limits
from kc_vla.planning.grammar.planner import GrammarPlanner
from kc_vla.skills.station import AREA, workplace_map
from kc_vla_sim.kitchen.sequences.counting_robot import CountingRobot
from kc_vla_sim.kitchen.sequences.drawing import KitchenInstruction, KitchenSequence
from kc_vla_sim.kitchen.sequences.outcomes import InstructionOutcome, SequenceOutcome
from kc_vla_sim.kitchen.sequences.robots import KitchenRobot
from kc_vla_sim.kitchen.sequences.video import SequenceVideo
from kc_vla_sim.kitchen.words import kitchen_words

LIMIT_S = 180.0
"""No instruction takes longer, s of the robot's time."""
_SKILLS = 60
"""Skills of one instruction, at most."""


class SequenceTrial:
    """Plays one kitchen after the other with one robot."""

    def __init__(
        self,
        robot: KitchenRobot,
        limit_s: float = LIMIT_S,
        tell: Tell | None = None,
        video: SequenceVideo | None = None,
    ) -> None:
        """Prepare to play.

        Args:
            robot: that plays.
            limit_s: of each instruction, s of the robot's time.
            tell: gets each step of each instruction.
            video: keeps what is seen of instructions that were not done; it gets the frames from the robot.
        """
        self._robot, self._limit_s, self._video = robot, limit_s, video
        self._tells: list[Tell] = [each for each in (tell, None if video is None else video.tell) if each is not None]

    def play(self, sequence: KitchenSequence, memory: str) -> SequenceOutcome:
        """Play the sequence of a kitchen from its beginning.

        Args:
            sequence: of the kitchen.
            memory: of the robot, see `open_robot_memory`.

        Raises:
            RobotMemoryError: there is no such memory.
        """
        began = time.monotonic()
        self._robot.begin(sequence.seed)
        counting, grounds = CountingRobot(self._robot, self._limit_s), workplace_map()

        def tell(step: ExecutionStep) -> None:
            for each in (counting.tell, *self._tells):
                each(step)

        with tempfile.TemporaryDirectory(prefix="kc_vla_kitchen_") as folder, Store(Path(folder) / "m.db") as store:
            memories = open_robot_memory(memory, shared_embedder(), grounds, LongTermMemory(store))
            memories.namer.expect(kitchen_words().types)
            limits, planner = Limits(calls=_SKILLS), GrammarPlanner()
            loop = Loop(counting, planner, memories, grounds, AREA, tell, limits, self._robot.cancel)
            outcomes = []
            for number, each in enumerate(sequence.instructions):
                if self._video is not None:
                    self._video.begin(sequence.seed, memory, number, each.text)
                outcomes.append(self._carried_out(each, loop, counting))
                if self._video is not None:
                    self._video.end(outcomes[-1].done, outcomes[-1].reason)
        return SequenceOutcome(sequence.seed, memory, tuple(outcomes), round(time.monotonic() - began, 1))

    def _carried_out(self, instruction: KitchenInstruction, loop: Loop, counting: CountingRobot) -> InstructionOutcome:
        counting.begin(loop.stop)
        result = loop.carry_out(instruction.text)
        truth = self._robot.truth()
        return InstructionOutcome(
            instruction.text,
            instruction.kind,
            instruction.things,
            instruction.hidden,
            instruction.again,
            all(goal.holds(truth) for goal in instruction.goals),
            result.success,
            result.reason,
            round(result.seconds, 2),
            result.calls,
            counting.searched,
            counting.opened,
            result.explorations,
        )
