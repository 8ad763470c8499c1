"""Plays goals of VirtualHome with a robot that remembers, and each with one that does not, as `household.trial`."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from kc_vla.memory.embedding.models import shared_embedder
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.store import Store
from kc_vla.memory.robot.interface import SceneObservation
from kc_vla.memory.robot.robot_memory import NONE, RobotMemory, open_robot_memory
from kc_vla.planning.execution.loop import Loop
from kc_vla.planning.execution.results import InstructionResult, Tell
from kc_vla.planning.grammar.planner import GrammarPlanner
from kc_vla.planning.interface import Planner
from kc_vla.planning.skills import Call
from kc_vla_sim.household.trial import TaskRecord
from kc_vla_sim.household.virtualhome.body import VirtualHome
from kc_vla_sim.household.virtualhome.chains import GoalChain
from kc_vla_sim.household.virtualhome.goals import Goal
from kc_vla_sim.household.virtualhome.wording import actions, instruction, lacking

FURNITURE, NOTHING = "furniture", "nothing"
SINGLE, CHAIN = "single", "chain"


@dataclass(frozen=True)
class TrialSetting:
    """One way of playing.

    Attributes:
        memory: of `kc_vla.memory.robot.robot_memory.NAMES`.
        shown: "furniture" or "nothing": what the long-term memory kept of the home from before.
    """

    memory: str = "both"
    shown: str = FURNITURE


@dataclass(frozen=True)
class GoalRecord(TaskRecord):
    """What came of one goal; `sequence` is its chain, `kind` "single" or "chain". Retrieval is not judged.

    Attributes:
        family, program: of the goal.
        asked: the instruction that was made of it; empty where nothing could be said.
        lacks: kinds of what the skill table lacks for its conditions.
        actions: kinds of actions of its program, beside its conditions, that the table has not.
        planned: there was a plan.
        missing: conditions that do not hold at the end.
    """

    family: str = ""
    program: str = ""
    asked: str = ""
    lacks: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    planned: bool = True
    missing: tuple[str, ...] = ()

    @property
    def why(self) -> str:
        """Return the kind of its failure; empty where the goal was reached."""
        if self.reached:
            return ""
        if self.lacks:
            return f"no skill: {', '.join(self.lacks)}"
        if not self.planned:
            return "not understood"
        if self.believed:
            return "done otherwise than meant"
        return "not found" if "was found" in self.reason else "refused or not brought about"


def play(
    chain: GoalChain, setting: TrialSetting, planner: Planner | None = None, tell: Tell | None = None
) -> list[GoalRecord]:
    """Play a chain from its beginning to its end, whatever fails on the way.

    Raises:
        HouseholdError: the package `eai-eval` is not installed.
        RobotMemoryError: there is no such memory.
    """
    planner = planner or GrammarPlanner()
    home, goals = chain.settled()
    body = VirtualHome(home)
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="virtualhome-")))
        store = opened.enter_context(Store(folder / "memory.db"))
        memories = open_robot_memory(setting.memory, shared_embedder(), body.grounds, LongTermMemory(store))
        if setting.shown == FURNITURE:
            _show(memories, body.copy())
        loop = Loop(body, planner, memories, body.grounds, body.scene.at, tell)
        return [_goal(chain, number, goal, setting, planner, loop, body) for number, goal in enumerate(goals)]


def _show(memories: RobotMemory, home: VirtualHome) -> None:
    """Walk through the rooms of a copy of the home, keep what stands there, and start the robot anew."""
    for now_s, area in enumerate(home.grounds.areas, 1):
        home.do(Call("GoToPlace", (area,)))
        memories.observe(SceneObservation([each for each in home.look() if not each.movable], area, float(now_s)))
    memories.begin()


def _goal(
    chain: GoalChain, number: int, goal: Goal, setting: TrialSetting, planner: Planner, loop: Loop, body: VirtualHome
) -> GoalRecord:
    asked, lacks = instruction(goal, body.scene), lacking(goal, body.scene)
    apart = body.copy()
    result = _carried_out(loop, asked)
    missing = goal.missing(body.scene.state)
    alone, alone_missing = result, missing
    if setting.memory != NONE:
        none = open_robot_memory(NONE, shared_embedder(), apart.grounds)
        alone = _carried_out(Loop(apart, planner, none, apart.grounds, apart.scene.at), asked)
        alone_missing = goal.missing(apart.scene.state)
    return GoalRecord(
        sequence=chain.name,
        kind=CHAIN if len(chain.goals) > 1 else SINGLE,
        number=number,
        reached=not missing,
        believed=result.success,
        reason=result.reason,
        explorations=result.explorations,
        seconds=result.seconds,
        calls=result.calls,
        recalled=0,
        recalls=0,
        known=False,
        alone_reached=not alone_missing,
        alone_explorations=alone.explorations,
        alone_seconds=alone.seconds,
        family=goal.family,
        program=goal.program,
        asked=asked,
        lacks=lacks,
        actions=actions(goal),
        planned=bool(result.by),
        missing=tuple(map(str, missing)),
    )


def _carried_out(loop: Loop, asked: str) -> InstructionResult:
    if asked:
        return loop.carry_out(asked)
    return InstructionResult(asked, False, "there are no words for it", "", 0.0, 0.0, 0, 0, 0)
