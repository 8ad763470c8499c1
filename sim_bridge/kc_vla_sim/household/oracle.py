"""Who knows the whole state: does a task by recipes, by the fastest of the ways that it tries.

It is what "solvable" means here, and the reference for what a task needs. Doors that it opens it closes again. It goes
through the recipes in a copy of the world, for the likeliest of the things that the names of a goal can stand for; of
knives, devices and places to put things down it takes the nearest.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from kc_vla.planning.skills import Call
from kc_vla_sim.household.errors import HouseholdError
from kc_vla_sim.household.goals import Admitted, Binding, GoalCondition, bindings, candidates
from kc_vla_sim.household.needs import CUTS
from kc_vla_sim.household.simulator import act
from kc_vla_sim.household.states import ThingState
from kc_vla_sim.household.tasks import Referee
from kc_vla_sim.household.world import ON, Thing, World

_MOST_THINGS, _MOST_TRIED = 6, 6
"""Most things that are tried for each name, and most combinations for all names together."""
_IN_ORDER = (
    ThingState.SLICED,
    ThingState.CLEANED,
    ThingState.FILLED,
    ThingState.HEATED,
    ThingState.COOKED,
    ThingState.COLD,
)
"""In which a thing is brought into states, before it is put anywhere."""
_MADE_BY = {
    ThingState.CLEANED: "Faucet",
    ThingState.FILLED: "Faucet",
    ThingState.HEATED: "Microwave",
    ThingState.COOKED: "Microwave",
    ThingState.COLD: "Fridge",
}
_SKILLS = {
    ThingState.OPENED: "OpenObject",
    ThingState.CLOSED: "CloseObject",
    ThingState.ON: "SwitchOn",
    ThingState.OFF: "SwitchOff",
    ThingState.BROKEN: "BreakObject",
}
_CONTRARY = {
    ThingState.ON: ThingState.OFF,
    ThingState.OFF: ThingState.ON,
    ThingState.OPENED: ThingState.CLOSED,
    ThingState.CLOSED: ThingState.OPENED,
    ThingState.HEATED: ThingState.COLD,
    ThingState.COLD: ThingState.HEATED,
    ThingState.DIRTY: ThingState.CLEANED,
}


class UnsolvableError(HouseholdError):
    """The oracle finds no way."""


@dataclass(frozen=True)
class Solution:
    """A way to do a task.

    Attributes:
        calls: in their order; none where the task is done already.
        seconds: that they take.
        world: as it is afterwards.
    """

    calls: tuple[Call, ...]
    seconds: float
    world: World


def solve(world: World, goal: Sequence[GoalCondition], admitted: Admitted) -> Solution:
    """Return the fastest way found; the world stays as it is.

    Raises:
        UnsolvableError: there is none.
    """
    if next(bindings(world, goal, admitted), None) is not None:
        return Solution((), 0.0, world.copy())
    best: Solution | None = None
    reason = "nothing is there that the goal names"
    for binding in _likely(world, goal, admitted):
        try:
            found = _Worker(world, binding).achieve(goal)
        except UnsolvableError as error:
            reason = str(error)
        else:
            best = found if best is None or found.seconds < best.seconds else best
    if best is None:
        raise UnsolvableError(f"{', '.join(map(str, goal))} cannot be reached: {reason}")
    return best


def play(world: World, referee: Referee, count: int) -> list[Solution]:
    """Do the next tasks of a sequence one after the other: what each needs. The world stays as it is.

    Raises:
        UnsolvableError: it cannot do one.
    """
    found: list[Solution] = []
    for _ in range(count):
        task = referee.begin(world)
        found.append(solve(world, task.conditions, referee.admitted))
        world = found[-1].world
        referee.judge(world)
    return found


def _likely(world: World, goal: Sequence[GoalCondition], admitted: Admitted) -> list[Binding]:
    """Return what the names can stand for, first where most holds already and little is to walk."""

    def far(thing: str) -> float:
        return world.plan.distance(world.at, world.area_of(thing)) + 3.0 * world.hidden(thing)

    def nearest(name: str) -> list[str]:
        alone = [each for each in goal if each.names == (name,)]
        wrong = {
            thing: sum(not each.holds(world, {name: thing}) for each in alone)
            for thing in candidates(world, name, admitted)
        }
        return sorted(wrong, key=lambda thing: (wrong[thing], far(thing)))[:_MOST_THINGS]

    def together(binding: Binding) -> tuple[int, float]:
        wrong = [each for each in goal if not each.holds(world, binding)]
        return len(wrong), sum(far(binding[name]) for each in wrong for name in each.names)

    names = list(dict.fromkeys(name for condition in goal for name in condition.names))
    some: list[Binding] = [dict(zip(names, each, strict=True)) for each in itertools.product(*map(nearest, names))]
    return sorted((each for each in some if len(set(each.values())) == len(names)), key=together)[:_MOST_TRIED]


class _Worker:
    """Does recipes in a copy of a world, and writes down the calls."""

    def __init__(self, world: World, binding: Binding) -> None:
        self._world = world.copy()
        self._begun_s = world.time_s
        self._of = binding
        self._calls: list[Call] = []

    def achieve(self, goal: Sequence[GoalCondition]) -> Solution:
        for condition in sorted(goal, key=self._order):
            if not condition.holds(self._world, self._of):
                self._reach(condition)
        wrong = [str(condition) for condition in goal if not condition.holds(self._world, self._of)]
        if wrong:
            raise UnsolvableError(f"{wrong[0]} does not hold in the end")
        return Solution(tuple(self._calls), self._world.time_s - self._begun_s, self._world)

    def _order(self, condition: GoalCondition) -> int:
        """Return the place of a condition in the order of work.

        Devices come first, then vessels, then where vessels go, then doors and lamps; what is held is last.
        """
        if condition.state in _IN_ORDER:
            return _IN_ORDER.index(condition.state)
        if condition.predicate in ("ON", "INSIDE"):
            return len(_IN_ORDER) + self._world.things[self._of[condition.names[1]]].kind.fixed
        return len(_IN_ORDER) + (3 if condition.predicate == "HOLDON" else 2)

    def _reach(self, condition: GoalCondition) -> None:
        thing, state = self._of[condition.names[0]], condition.state
        if state is not None:
            wanted = state if condition.wanted else _CONTRARY.get(state)
            if wanted is None:
                raise UnsolvableError(f"there is no recipe for {condition}")
            self._bring_into(thing, wanted)
        elif condition.predicate == "HOLDON":
            self._fetch(thing) if condition.wanted else self._put_down()
        elif condition.wanted:
            self._place(thing, self._of[condition.names[1]])
        else:
            self._fetch(thing)
            self._put_down(self._of[condition.names[1]])

    def _bring_into(self, thing: str, state: ThingState) -> None:
        if state is ThingState.SLICED:
            held = self._world.held()
            if held is None or CUTS not in held.kind.words:
                knives = [each for each in self._world.things.values() if CUTS in each.kind.words]
                self._fetch(self._nearest(knives, "knife").id)
            self._use("SliceObject", thing)
        elif state in _MADE_BY:
            device = self._nearest(list(self._world.of_kind(_MADE_BY[state])), _MADE_BY[state])
            around = device.place.holder if device.kind.name == "Faucet" else device.id
            self._place(thing, around)
            if state not in self._world.things[thing].states:
                self._use("SwitchOn", device.id)
                self._do("SwitchOff", device.id)
        elif state in _SKILLS:
            self._use(_SKILLS[state], thing)
        else:
            raise UnsolvableError(f"no skill makes a thing {state}")

    def _use(self, skill: str, thing: str) -> None:
        opened = self._make_way(thing)
        self._do(skill, thing)
        self._close(opened)

    def _place(self, thing: str, holder: str) -> None:
        if self._world.things[thing].place.holder == holder:
            self._shut(holder)
            return
        while self._world.free_spot(self._world.things[holder]) is None:
            self._clear_one(holder)
        self._fetch(thing)
        opened = self._make_way(holder)
        if self._world.things[holder].closed:
            self._open(holder)
            opened.append(holder)
        self._do("PutObject", thing, holder)
        self._close(opened)
        self._shut(holder)

    def _clear_one(self, holder: str) -> None:
        """Take something out of what is full."""
        kept = set(self._of.values())
        inside = [
            name
            for name in self._world.contents(holder)
            if name not in kept and not self._world.things[name].kind.fixed
        ]
        if not inside:
            raise UnsolvableError(f"{holder} is full")
        self._fetch(inside[0])
        self._put_down(holder)

    def _fetch(self, thing: str) -> None:
        held = self._world.held()
        if held is not None and held.id == thing:
            return
        if held is not None:
            self._put_down()
        self._use("PickupObject", thing)

    def _put_down(self, but: str = "") -> None:
        held = self._world.held()
        if held is None:
            return
        there = [
            each
            for each in self._world.things.values()
            if each.kind.fixed
            and each.kind.relation == ON
            and "switch" not in each.kind.can
            and each.id not in (but, *self._of.values())
            and each.kind.takes(held.kind)
            and self._world.free_spot(each) is not None
        ]
        where = self._nearest(there, "place to put something down")
        self._go(where.id)
        self._do("PutObject", held.id, where.id)

    def _make_way(self, thing: str) -> list[str]:
        """Go to a thing and open what it is in; return what was opened."""
        self._go(thing)
        opened = [holder.id for holder in reversed(self._world.holders(thing)) if holder.closed]
        for name in opened:
            self._open(name)
        return opened

    def _open(self, name: str) -> None:
        if ThingState.ON in self._world.things[name].states:
            self._do("SwitchOff", name)
        self._do("OpenObject", name)

    def _close(self, opened: Sequence[str]) -> None:
        for name in reversed(opened):
            self._shut(name)

    def _shut(self, name: str) -> None:
        if ThingState.OPENED in self._world.things[name].states:
            self._go(name)
            self._do("CloseObject", name)

    def _nearest(self, things: Sequence[Thing], what: str) -> Thing:
        if not things:
            raise UnsolvableError(f"there is no {what}")
        world = self._world
        return min(
            things, key=lambda each: (world.plan.distance(world.at, world.area_of(each.id)), world.hidden(each.id))
        )

    def _go(self, name: str) -> None:
        area = self._world.area_of(name)
        if area != self._world.at:
            self._do("GoToPlace", area)

    def _do(self, skill: str, *names: str) -> None:
        call = Call(skill, names)
        reason = act(self._world, call)
        if reason:
            raise UnsolvableError(f"{call}: {reason}")
        self._calls.append(call)
