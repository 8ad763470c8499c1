"""What an instruction took, and what the same would have taken a robot that remembers nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kc_vla.memory.embedding.models import shared_embedder
from kc_vla.memory.robot.robot_memory import NONE, open_robot_memory
from kc_vla.memory.things import ObservedThing
from kc_vla.planning.execution.loop import Loop
from kc_vla.planning.grammar.planner import GrammarPlanner
from kc_vla.planning.interface import CallResult, Planner
from kc_vla.planning.skills import Call
from kc_vla_sim.household.floor_plan import FloorPlan, Point, navigation_map_of
from kc_vla_sim.household.simulator import Household
from kc_vla_sim.household.world import World


@dataclass(frozen=True)
class Journey:
    """What came of an instruction.

    Attributes:
        memory: of the robot, by name.
        success: as far as the robot can tell.
        reason: why not.
        seconds, walked_m: that it took.
        explorations: places that were looked at, and containers looked into, to find something.
        skills: that were tried.
        areas: in which the robot stood, one after the other, from the beginning.
        goal: whether what was asked for is so, by a judge; None where nobody judges it.
        planner: that made the last plan: "grammar", or "model"; empty where none could.
        notes: what went otherwise than it was said or set to, such as why the grammar planned.
    """

    memory: str
    success: bool
    reason: str
    seconds: float
    walked_m: float
    explorations: int
    skills: int
    areas: tuple[str, ...]
    goal: bool | None = None
    planner: str = ""
    notes: tuple[str, ...] = ()


class _Walking:
    """A household that notes where its robot stands."""

    def __init__(self, home: Household) -> None:
        self._home = home
        self.areas = [home.world.at]

    def do(self, call: Call) -> CallResult:
        happened = self._home.do(call)
        if self._home.world.at != self.areas[-1]:
            self.areas.append(self._home.world.at)
        return happened

    def look(self) -> Sequence[ObservedThing]:
        return self._home.look()


def without_memory(
    world: World,
    instruction: str,
    judge: Callable[[World], bool] | None = None,
    planner: Planner | None = None,
    stopped: Callable[[], bool] = bool,
) -> Journey:
    """Return the same instruction for a robot without a memory.

    Args:
        world: as it is when the instruction is given; it stays so.
        instruction: of a person.
        judge: says of the world afterwards whether the goal is reached.
        planner: by the grammar unless another is given.
        stopped: asked after each step; ends it.
    """
    home = Household(world.copy())
    body, grounds = _Walking(home), navigation_map_of(world.plan)
    loop = Loop(
        body, planner or GrammarPlanner(), open_robot_memory(NONE, shared_embedder(), grounds), grounds, world.at
    )
    loop.robot.interrupted = lambda: "nobody waits for it any more" if stopped() else ""
    result = loop.carry_out(instruction)
    return Journey(
        NONE,
        result.success,
        result.reason,
        result.seconds,
        result.walked_m,
        result.explorations,
        result.calls,
        tuple(body.areas),
        None if judge is None else judge(home.world),
        result.by,
        tuple(result.notes),
    )


def points_of(plan: FloorPlan, areas: Sequence[str]) -> list[Point]:
    """Return the way through some areas, m, around what stands between them, as it is drawn.

    Floors are side by side, and between two of them is a point that is not a number.
    """
    passed = [areas[0]] if areas else []
    for start, end in pairwise(areas):
        passed += plan.way(start, end)[1:]
    drawn_at, found = plan.drawn_at(), list[Point]()
    for before, name in pairwise([*passed[:1], *passed]):
        area = plan.areas[name]
        if found and area.floor != plan.areas[before].floor:
            found.append((math.nan, math.nan))
        found.append((area.position[0] + drawn_at[area.floor], area.position[1]))
    return found
