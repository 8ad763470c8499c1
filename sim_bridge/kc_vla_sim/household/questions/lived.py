"""A robot lives in a home: it looks around, opens, washes, slices, carries and switches; what was so is kept apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from kc_vla.memory.asking.surroundings import HomeSurroundings
from kc_vla.memory.embedding.interface import Embedder
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.store import Store
from kc_vla.memory.navigation_map import NavigationMap
from kc_vla.memory.robot.robot_memory import BOTH, RobotMemory, open_robot_memory
from kc_vla.memory.things import ObservedThing
from kc_vla.planning.execution.robot import RememberingRobot
from kc_vla.planning.interface import CallResult
from kc_vla.planning.skills import Call
from kc_vla_sim.household.detector import visible
from kc_vla_sim.household.floor_plan import navigation_map_of
from kc_vla_sim.household.needs import CUTS
from kc_vla_sim.household.scenes import build_home
from kc_vla_sim.household.simulator import Household
from kc_vla_sim.household.states import ThingState
from kc_vla_sim.household.world import IN, ON, Thing, World

_LEFT_SHUT = 3
"""Every third robot looks only into fridge and microwave."""


@dataclass(frozen=True)
class RobotAction:
    """Something that the robot did: a skill, its first thing, when, s, and the states that things came into by it."""

    skill: str
    thing: str
    time_s: float
    changed: Mapping[str, frozenset[ThingState]]


@dataclass
class Lived:
    """A home in which a robot has lived, its memory, and what really was so.

    Attributes:
        world: as it is now.
        memory: of the robot.
        grounds: where it can go.
        robot: of which the memory is.
        seen_s: when each thing was in sight last, s.
        looked_into: ids of what was seen open.
        actions: of the robot, in their order.
    """

    world: World
    memory: RobotMemory
    grounds: NavigationMap
    seen_s: dict[str, float] = field(default_factory=dict)
    looked_into: set[str] = field(default_factory=set)
    actions: list[RobotAction] = field(default_factory=list)
    now_s: float = 0.0

    def around(self) -> HomeSurroundings:
        """Return where and when the robot is asked."""
        return HomeSurroundings(self.grounds.areas, self.world.at, self.now_s)


class _Body:
    """A household that writes down what was in sight, and what each skill changed."""

    def __init__(self, lived: Lived) -> None:
        self._home, self._lived = Household(lived.world), lived

    def do(self, call: Call) -> CallResult:
        """Do a skill, and write down what it changed."""
        world = self._lived.world
        before = {name: thing.states for name, thing in world.things.items()}
        happened = self._home.do(call)
        if happened.done and not call.skill.startswith("GoTo"):
            new = {name: thing.states - before[name] for name, thing in world.things.items()}
            changed = {name: states for name, states in new.items() if states}
            self._lived.actions.append(RobotAction(call.skill, call.arguments[0], world.time_s, changed))
        self._note()
        return happened

    def look(self) -> Sequence[ObservedThing]:
        """Look around, and write down what is in sight."""
        self._note()
        return self._home.look()

    def _note(self) -> None:
        world = self._lived.world
        for name, thing in world.things.items():
            if visible(world, name):
                self._lived.seen_s[name] = world.time_s
                if not thing.closed:
                    self._lived.looked_into.add(name)


@contextmanager
def lived(number: int, embedder: Embedder) -> Iterator[Lived]:
    """Let a robot live in the `number`th home, the same life each time; its store is gone afterwards."""
    world = build_home(number)
    grounds = navigation_map_of(world.plan)
    with TemporaryDirectory(prefix="asked-") as folder, Store(Path(folder) / "memory.db") as store:
        memory = open_robot_memory(BOTH, embedder, grounds, LongTermMemory(store), capacity=300)
        found = Lived(world, memory, grounds)
        robot = RememberingRobot(_Body(found), memory, grounds, world.at)
        robot.begin()
        robot.look()
        _Life(world, robot).live(number)
        found.now_s = robot.now_s
        yield found


class _Life:
    """What the robot does in its home."""

    def __init__(self, world: World, robot: RememberingRobot) -> None:
        self._world, self._robot = world, robot

    def live(self, number: int) -> None:
        """Look around everywhere, then do some errands, whose order the number says."""
        for area in self._world.plan.areas:
            self._robot.do("GoToPlace", area)
            for holder in [each for each in self._shut(number % _LEFT_SHUT == 0) if self._world.area_of(each) == area]:
                self._robot.do("OpenObject", holder)
                self._robot.do("CloseObject", holder)
        errands: list[Callable[[], None]] = [self._wash, self._slice, self._cool, self._tidy, self._switch]
        first = number % len(errands)
        for errand in (*errands[first:], *errands[:first])[: 3 + number % 3]:
            errand()
        if number % 2:
            self._open(self._first("Fridge"))

    def _shut(self, few: bool) -> list[str]:
        """Return the ids of what is shut and holds things."""
        shut = [each for each in self._world.things.values() if each.closed and each.kind.fixed]
        return [each.id for each in shut if not few or each.kind.name in ("Fridge", "Microwave")]

    def _wash(self) -> None:
        for kind in ("Mug", "Cup", "Bowl", "Plate"):
            thing = self._free(kind)
            if thing is not None:
                sink = self._first("SinkBasin")
                self._carry(thing.id, sink)
                tap = next(each for each in self._world.contents(sink) if each.startswith("Faucet"))
                self._robot.do("SwitchOn", tap)
                self._robot.do("SwitchOff", tap)
                return

    def _slice(self) -> None:
        knife = next(
            (each for each in self._world.things.values() if CUTS in each.kind.words and self._is_free(each)), None
        )
        for kind in ("Bread", "Tomato", "Potato", "Apple", "Lettuce"):
            thing = self._free(kind)
            if thing is not None and knife is not None:
                self._go(knife.id)
                self._robot.do("PickupObject", knife.id)
                self._go(thing.id)
                self._robot.do("SliceObject", thing.id)
                self._put(knife.id, self._first("CounterTop"))
                return

    def _cool(self) -> None:
        thing = self._free("Tomato") or self._free("Apple") or self._free("Egg")
        fridge = self._first("Fridge")
        if thing is not None:
            self._go(thing.id)
            self._robot.do("PickupObject", thing.id)
            self._open(fridge)
            self._robot.do("PutObject", thing.id, fridge)
            self._robot.do("CloseObject", fridge)

    def _tidy(self) -> None:
        thing = self._free("Book") or self._free("RemoteControl") or self._free("KeyChain")
        if thing is not None:
            self._carry(thing.id, self._first("Bed" if thing.kind.name != "Book" else "Sofa"))

    def _switch(self) -> None:
        name = self._first("Television")
        self._go(name)
        self._robot.do("SwitchOn", name)

    def _open(self, name: str) -> None:
        self._go(name)
        if ThingState.CLOSED in self._world.things[name].states:
            self._robot.do("OpenObject", name)

    def _carry(self, name: str, holder: str) -> None:
        if self._world.things[name].place.holder == holder:
            return
        self._go(name)
        self._robot.do("PickupObject", name)
        self._put(name, holder)

    def _put(self, name: str, holder: str) -> None:
        self._go(holder)
        if self._robot.do("PutObject", name, holder):
            there = [each for each in self._world.things.values() if self._world.area_of(each.id) == self._world.at]
            for each in there:
                if each.kind.fixed and each.kind.relation == ON and not self._robot.do("PutObject", name, each.id):
                    return

    def _go(self, name: str) -> None:
        self._robot.do("GoToPlace", self._world.area_of(name))

    def _first(self, kind: str) -> str:
        return next(self._world.of_kind(kind)).id

    def _free(self, kind: str) -> Thing | None:
        return next((each for each in self._world.of_kind(kind) if self._is_free(each)), None)

    def _is_free(self, thing: Thing) -> bool:
        held = self._world.held()
        shut = self._world.hidden(thing.id) or (thing.place.relation == IN and thing.kind.fixed)
        return not shut and (held is None or held.id != thing.id)
