"""Plays a sequence of household tasks with a robot that remembers, and each task also with one that does not.

The robot without a memory begins each task in a copy of the home as it is then, with the same planner: what both needed
differs by what was remembered. A robot with a long-term memory was shown the home before: it walked through all areas
and was started anew. `shown` says whether it kept what stands there alone (KARMA's scene graph is of what stays), also
what lay about, or also what is in all that can be opened, into which it looked and which it left as it was.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from kc_vla.memory.embedding.models import shared_embedder
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.store import Store
from kc_vla.memory.navigation_map import NavigationMap
from kc_vla.memory.robot.interface import SceneObservation
from kc_vla.memory.robot.robot_memory import BOTH, LONG, NONE, RobotMemory, open_robot_memory
from kc_vla.memory.things import ObservedThing
from kc_vla.planning.execution.loop import Loop
from kc_vla.planning.execution.metrics import retrieval_accuracy
from kc_vla.planning.execution.results import Tell
from kc_vla.planning.execution.robot import Limits
from kc_vla.planning.grammar.planner import GrammarPlanner
from kc_vla.planning.interface import CallResult, Planner
from kc_vla.planning.skills import Call
from kc_vla_sim.household.detector import Noise
from kc_vla_sim.household.disturbance import disturb, noise_of
from kc_vla_sim.household.floor_plan import navigation_map_of
from kc_vla_sim.household.simulator import Household
from kc_vla_sim.household.tasks import InstructedTask, Referee, TaskSequence
from kc_vla_sim.household.types import plain
from kc_vla_sim.household.world import World

FURNITURE, ALL, INSIDE = "furniture", "all", "inside"


@dataclass(frozen=True)
class TrialArm:
    """One way of playing sequences.

    Attributes:
        memory: of `kc_vla.memory.robot.robot_memory.NAMES`.
        disturbed: a person does something between two tasks, and the detector errs.
        feedback: whether the robot takes notice of how its plan turns out.
        shown: `FURNITURE`, `ALL` or `INSIDE`: what the long-term memory kept of the home before.
        capacity: units of the short-term memory.
    """

    memory: str
    disturbed: bool = False
    feedback: bool = True
    shown: str = FURNITURE
    capacity: int = 100


@dataclass(frozen=True)
class TaskRecord:
    """What came of one task.

    Attributes:
        sequence: its name; number: of the task in it, from 0; kind: of the sequence.
        reached: the goal holds afterwards.
        believed: the robot thinks so.
        reason: why not, as far as it can tell.
        explorations, seconds, calls: that it took.
        recalled, recalls: of so many recalls whose thing had been seen before so many had it first.
        known: all that it took, put down or used had been seen before, so that nothing had to be looked for.
        alone_reached, alone_explorations, alone_seconds: of the robot without a memory.
        disturbance: what a person did before it; empty for nothing.
    """

    sequence: str
    kind: str
    number: int
    reached: bool
    believed: bool
    reason: str
    explorations: int
    seconds: float
    calls: int
    recalled: int
    recalls: int
    known: bool
    alone_reached: bool
    alone_explorations: int
    alone_seconds: float
    disturbance: str = ""


class _Watching:
    """A household, and the ids of all that was seen in it."""

    def __init__(self, world: World, noise: Noise | None, seen: Collection[str] = ()) -> None:
        self.home = Household(world, noise)
        self.seen = set(seen)

    def do(self, call: Call) -> CallResult:
        """Do a skill in the household, and note the ids of what it shows."""
        happened = self.home.do(call)
        self._note(happened.seen)
        return happened

    def look(self) -> Sequence[ObservedThing]:
        """Look around in the household, and note the ids of what is seen."""
        seen = self.home.look()
        self._note(seen)
        return seen

    def _note(self, seen: Sequence[ObservedThing]) -> None:
        self.seen |= {each.object_id for each in seen}


def play(
    sequence: TaskSequence,
    arm: TrialArm,
    planner: Planner | None = None,
    tell: Tell | None = None,
    memory: Callable[[NavigationMap], RobotMemory] | None = None,
) -> list[TaskRecord]:
    """Play a sequence from its beginning to its end, whatever fails on the way.

    Args:
        sequence: its tasks and their home.
        arm: how it is played.
        planner: makes the plans; None: the grammar.
        tell: gets each step.
        memory: opens an empty memory for a robot that can go to these areas; None: that of the arm in this process.

    Raises:
        RobotMemoryError: there is no such memory.
    """
    planner = planner or GrammarPlanner()
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="household-")))
        world = sequence.world()
        grounds = navigation_map_of(world.plan)
        if memory is not None:
            memories = memory(grounds)
        else:
            store = opened.enter_context(Store(folder / "memory.db"))
            memories = open_robot_memory(
                arm.memory, shared_embedder(), grounds, LongTermMemory(store), capacity=arm.capacity
            )
        shown = show(memories, world, arm.shown)
        noise = noise_of(sequence) if arm.disturbed else None
        body = _Watching(world, noise, shown if arm.memory in (BOTH, LONG) else set())
        loop = _loop(body, planner, memories, arm, tell)
        referee = Referee(sequence.tasks)
        return [_task(sequence, number, arm, planner, loop, body, referee) for number in range(len(sequence.tasks))]


def show(memories: RobotMemory, world: World, shown: str) -> set[str]:
    """Walk through a copy of the home, see `TrialArm.shown`, and restart the robot; return the ids of what it kept."""
    home, now_s = Household(world.copy()), 0.0
    kept: set[str] = set()
    for area, seen in _tour(home, world.plan.areas, shown == INSIDE):
        now_s += 1.0
        look = SceneObservation([each for each in seen if shown != FURNITURE or not each.movable], area, now_s)
        kept |= {each.object_id for each in look.seen}
        memories.observe(look)
    memories.begin()
    return kept


def _tour(home: Household, areas: Iterable[str], inside: bool) -> Iterator[tuple[str, Sequence[ObservedThing]]]:
    """Go to each area, with `inside` open whatever opens there, and close it again: the area and what is seen."""
    for area in areas:
        seen = home.do(Call("GoToPlace", (area,))).seen
        yield area, seen
        for holder in [each.object_id for each in seen if inside and each.area == area]:
            home.do(Call("GoToObject", (holder,)))
            opened = home.do(Call("OpenObject", (holder,)))
            if opened.done:
                yield area, opened.seen
                home.do(Call("CloseObject", (holder,)))


def _task(
    sequence: TaskSequence,
    number: int,
    arm: TrialArm,
    planner: Planner,
    loop: Loop,
    body: _Watching,
    referee: Referee,
) -> TaskRecord:
    world = body.home.world
    happened = disturb(world, sequence, referee) if arm.disturbed and number else None
    apart, task_alone = world.copy(), referee.copy()
    task = referee.begin(world)
    seen = set(body.seen)
    result = loop.carry_out(task.instruction)
    recalls = retrieval_accuracy(result.recalls, lambda text: _meant(text, task, referee), seen)
    reached = not referee.judge(world)
    alone, alone_reached = result, reached
    if arm.memory != NONE:
        task_alone.begin(apart)
        noise = noise_of(sequence) if arm.disturbed else None
        none = open_robot_memory(NONE, shared_embedder(), navigation_map_of(apart.plan))
        alone = _loop(_Watching(apart, noise), planner, none, arm, None).carry_out(task.instruction)
        alone_reached = not task_alone.judge(apart)
    return TaskRecord(
        sequence.name,
        sequence.kind,
        number,
        reached,
        result.success,
        result.reason,
        result.explorations,
        result.seconds,
        result.calls,
        round((recalls.value or 0.0) * recalls.whole),
        int(recalls.whole),
        all(each.taken in seen for each in result.recalls),
        alone_reached,
        alone.explorations,
        alone.seconds,
        "" if happened is None else str(happened),
    )


def _loop(body: _Watching, planner: Planner, memories: RobotMemory, arm: TrialArm, tell: Tell | None) -> Loop:
    world = body.home.world
    return Loop(body, planner, memories, navigation_map_of(world.plan), world.at, tell, Limits(feedback=arm.feedback))


def _meant(reference: str, task: InstructedTask, referee: Referee) -> Collection[str]:
    """Return the things that a reference of a plan may mean, where the task says so."""
    text = plain(reference)
    meant: set[str] = set()
    for name, things in referee.admitted.items():
        words = {plain(name.partition("#")[0]), plain(task.means[name].word)} - {""}
        if any(word in text for word in words):
            meant |= set(things)
    return meant
