"""A robot in a symbolic household whose planner reads its plans: what it did, and was asked, is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from kc_vla.memory.embedding.interface import Embedder
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.store import Store
from kc_vla.memory.robot.robot_memory import open_robot_memory
from kc_vla.memory.things import ObservedThing
from kc_vla.planning.execution.loop import Loop
from kc_vla.planning.execution.results import ExecutionStep, InstructionResult
from kc_vla.planning.execution.robot import Limits
from kc_vla.planning.interface import CallResult, Plan, Request
from kc_vla.planning.skills import Call
from kc_vla_sim.household.detector import Noise
from kc_vla_sim.household.floor_plan import navigation_map_of
from kc_vla_sim.household.goals import parse_goal, unmet
from kc_vla_sim.household.simulator import Household
from kc_vla_sim.household.world import World


class Reader:
    """A planner whose instructions are plans: "PickupObject(apple); PutObject(it, sink)". Goes on where it failed."""

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def plan(self, request: Request) -> Plan:
        self.requests.append(request)
        parts = [part.strip().rstrip(")").split("(", 1) for part in request.instruction.split(";")]
        calls = [Call(name, tuple(text.strip() for text in inner.split(","))) for name, inner in parts]
        done = sum(not each.reason for each in request.tried)
        return Plan(tuple(calls[done:]), "reader", tokens=3)


class Watched:
    """A household of which all calls are kept, and in which something happens at one of them."""

    def __init__(self, world: World, noise: Noise | None = None, more: Sequence[ObservedThing] = ()) -> None:
        self.household, self.more = Household(world, noise), tuple(more)
        self.calls: list[Call] = []
        self.before: Callable[[Call], None] = lambda call: None

    def do(self, call: Call) -> CallResult:
        self.calls.append(call)
        self.before(call)
        happened = self.household.do(call)
        return replace(happened, seen=(*self.more, *happened.seen)) if happened.done else happened

    def look(self) -> tuple[ObservedThing, ...]:
        return (*self.more, *self.household.look())


@dataclass
class Home:
    """A robot in a world."""

    world: World
    body: Watched
    planner: Reader
    loop: Loop
    long_term: LongTermMemory
    steps: list[ExecutionStep]

    def carry_out(self, instruction: str) -> InstructionResult:
        return self.loop.carry_out(instruction)

    def met(self, goal: str) -> bool:
        return not unmet(self.world, parse_goal(goal), {})


Open = Callable[..., Home]


@contextmanager
def robots(folder: Path, embedder: Embedder) -> Iterator[Open]:
    """A function that opens a robot in a world; its memory is a file of the folder."""
    stores: list[Store] = []

    def opened(
        world: World,
        memory: str = "both",
        noise: Noise | None = None,
        limits: Limits | None = None,
        more: Sequence[ObservedThing] = (),
        store: str = "",
    ) -> Home:
        stores.append(Store(folder / (store or f"{len(stores)}.db")))
        long_term, grounds = LongTermMemory(stores[-1]), navigation_map_of(world.plan)
        body, planner = Watched(world, noise, more), Reader()
        memories = open_robot_memory(memory, embedder, grounds, long_term)
        steps: list[ExecutionStep] = []
        loop = Loop(body, planner, memories, grounds, world.at, steps.append, limits)
        return Home(world, body, planner, loop, long_term, steps)

    try:
        yield opened
    finally:
        for store in stores:
            store.close()


def only(world: World, kind: str) -> str:
    """The first thing of a type; the others are out of the home."""
    first, *others = [thing.id for thing in world.of_kind(kind)]
    for name in others:
        vanish(world, name)
    return first


def vanish(world: World, name: str) -> None:
    """Take a thing out of the home."""
    del world._things[name]
    world._contents = {holder: tuple(each for each in held if each != name) for holder, held in world._contents.items()}
