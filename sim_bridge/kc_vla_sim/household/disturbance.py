"""What other people do between two tasks: move, hide or use a thing. And how the detector errs meanwhile.

It is a thing that an earlier task handled or that a later one wants, other than what the robot holds. Who and what is
drawn by the name of the sequence and the number of the task that begins next. Nobody breaks anything, and what comes
after stays as it was: each remaining task that the oracle could do it can do, none is done by that, and what words like
"the clean food" mean does not change.
"""

from __future__ import annotations

import itertools
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kc_vla_sim.household.detector import Noise
from kc_vla_sim.household.errors import HouseholdError
from kc_vla_sim.household.goals import candidates
from kc_vla_sim.household.oracle import UnsolvableError, solve
from kc_vla_sim.household.states import ThingState, with_state
from kc_vla_sim.household.tasks import GoalReferent, Referee, TaskSequence
from kc_vla_sim.household.workings import settle
from kc_vla_sim.household.world import HELD, Place, Thing, World

DEEDS = ("move", "hide", "use")
_MISSING, _WRONG_TYPE, _WRONG_STATE = 0.05, 0.02, 0.02
_MOST_TRIED = 24
_USES = {"soil": ThingState.DIRTY, "use up": ThingState.USED_UP, "fill": ThingState.FILLED}


@dataclass(frozen=True)
class Disturbance:
    """Something that a person did.

    Attributes:
        deed: of `DEEDS`.
        thing: to which.
        place: where it is afterwards.
        states: that it is in afterwards, but for what the new place does.
    """

    deed: str
    thing: str
    place: Place
    states: frozenset[ThingState]

    def __str__(self) -> str:
        if self.deed == "use":
            return f"somebody used {self.thing}"
        return f"somebody put {self.thing} {self.place.relation} {self.place.holder}"

    def happen(self, world: World) -> None:
        """Change a world by it."""
        if self.place != world.things[self.thing].place:
            world.move(self.thing, self.place)
        world.set_states(self.thing, self.states)
        settle(world)


def noise_of(sequence: TaskSequence) -> Noise:
    """Return the errors of the detector in a disturbed sequence."""
    return Noise(_MISSING, _WRONG_TYPE, _WRONG_STATE, zlib.crc32(sequence.name.encode()))


def disturb(world: World, sequence: TaskSequence, referee: Referee) -> Disturbance | None:
    """Let a person do something before the next task begins: the same for the same sequence, task and world.

    Args:
        world: as the robot left it; it is changed.
        sequence: whose next task it is.
        referee: who followed the robot so far, and judged the task before.

    Returns:
        What was done; None where nothing that was tried leaves the remaining tasks as they were.

    Raises:
        HouseholdError: no task is left.
    """
    left = sequence.tasks[referee.number :]
    if not left:
        raise HouseholdError(f"all tasks of {sequence.name} are over: disturb before one that is left")
    chance = np.random.default_rng([zlib.crc32(sequence.name.encode()), referee.number])
    meanings = [each for task in left for each in task.means.values() if each.word]
    solvable = _solvable(world, referee, len(left))
    meant = [each.fitting(world) for each in meanings]
    for disturbance in itertools.islice(_drawn(world, sequence, referee, chance), _MOST_TRIED):
        other = world.copy()
        disturbance.happen(other)
        if [each.fitting(other) for each in meanings] == meant and solvable <= _solvable(other, referee, len(left)):
            disturbance.happen(world)
            return disturbance
    return None


def _solvable(world: World, referee: Referee, count: int) -> set[int]:
    """Return which of the next tasks the oracle can do, and are not done already."""
    referee, found = referee.copy(), set()
    for number in range(count):
        task = referee.begin(world)
        try:
            solution = solve(world, task.conditions, referee.admitted)
        except UnsolvableError:
            pass
        else:
            world = solution.world
            if solution.calls:
                found.add(number)
        referee.judge(world)
    return found


def _drawn(
    world: World, sequence: TaskSequence, referee: Referee, chance: np.random.Generator
) -> Iterator[Disturbance]:
    """Yield what a person may do with the things that matter, in an order that is drawn: all of one action first."""
    things = _concerned(world, sequence, referee)
    for deed in chance.permutation(len(DEEDS)):
        for number in chance.permutation(len(things)):
            thing = world.things[things[number]]
            yield from _used(thing, chance) if DEEDS[deed] == "use" else _carried(world, thing, DEEDS[deed], chance)


def _concerned(world: World, sequence: TaskSequence, referee: Referee) -> list[str]:
    """Return the things that earlier tasks were done with, and those of later ones, that can be carried."""
    wanted = set[str]()
    known = {world.things[name].kind.name for name in referee.handled}
    for task in sequence.tasks[referee.number :]:
        for name in {name for condition in task.conditions for name in condition.names}:
            meaning = task.means.get(name, GoalReferent())
            if meaning.task is None or name not in known:
                wanted |= meaning.fitting(world) or set(candidates(world, name, {}))
    found = sorted(wanted | referee.handled)
    return [name for name in found if not world.things[name].kind.fixed and world.things[name].place.relation != HELD]


def _used(thing: Thing, chance: np.random.Generator) -> list[Disturbance]:
    """Return the ways to use a thing, by its type: it gets dirty, used up, full, or empty where it was full."""
    used = [with_state(thing.states, state) for can, state in _USES.items() if can in thing.kind.can]
    if "fill" in thing.kind.can and ThingState.FILLED in thing.states:
        used.append(thing.states - {ThingState.FILLED})
    used = [states for states in used if states != thing.states and ThingState.BROKEN not in thing.states]
    return [Disturbance("use", thing.id, thing.place, used[int(chance.integers(len(used)))])] if used else []


def _carried(world: World, thing: Thing, deed: str, chance: np.random.Generator) -> list[Disturbance]:
    """Return the ways to carry it to another receptacle that is likely for its type, or to hide it in a closed one."""
    hide = deed == "hide"
    there = [
        each
        for each in world.things.values()
        if each.kind.fixed
        and each.id != thing.place.holder
        and each.closed == hide
        and ThingState.ON not in each.states
        and each.kind.takes(thing.kind)
        and (hide or each.kind.name in thing.kind.likely)
        and world.free_spot(each) is not None
    ]
    if not there:
        return []
    counts = Counter(each.kind.name for each in there)
    weights = [1.0 if hide else thing.kind.likely[each.kind.name] / counts[each.kind.name] for each in there]
    holder = there[int(chance.choice(len(there), p=np.divide(weights, sum(weights))))]
    place = Place(holder.kind.relation, holder.id, world.free_spot(holder) or 0)
    return [Disturbance(deed, thing.id, place, thing.states)]
