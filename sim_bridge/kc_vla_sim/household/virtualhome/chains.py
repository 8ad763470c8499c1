"""Goals that are asked for one after the other in one home.

Each goal comes with a home of its own: the same four rooms with other things in them. A chain is played in that of its
first goal, into which what the other goals name is brought, to where it is in their homes, under new ids.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from kc_vla_sim.household.virtualhome.goals import SPLITS, Goal, VirtualHomeCondition, home_of, of_split
from kc_vla_sim.household.virtualhome.scene import VirtualHomeScene
from kc_vla_sim.household.virtualhome.wording import lacking

SHORTEST, LONGEST = 3, 10
_OWN = 1000
"""From this id on nodes are of one program's home; those below are of all."""
_BROUGHT = 10_000
_WHERE = frozenset({"ON", "INSIDE", "CLOSE"})


@dataclass(frozen=True)
class GoalChain:
    """Goals for one home; one goal is a chain, too.

    Attributes:
        name: "test-007", or family and program of a single goal.
        goals: as the package has them, each with the ids of its own home.
    """

    name: str
    goals: tuple[Goal, ...]

    def settled(self) -> tuple[Mapping[str, Any], tuple[Goal, ...]]:
        """Return the home at the beginning, and the goals with its ids."""
        home = home_of(self.goals[0].program)
        if len(self.goals) == 1:
            return home, self.goals
        nodes, edges = list(home["nodes"]), list(home["edges"])
        goals = [self.goals[0]]
        for number, goal in enumerate(self.goals[1:], 1):
            goals.append(_brought(goal, _BROUGHT + _OWN * number, nodes, edges))
        return {"nodes": nodes, "edges": edges}, tuple(goals)


def singles(split: str) -> list[GoalChain]:
    """Return every goal of a split that has conditions, alone."""
    return [GoalChain(f"{each.family} {each.program}", (each,)) for each in of_split(split)]


def chains(split: str, count: int) -> list[GoalChain]:
    """Return so many chains of 3 to 10 goals, drawn by their number from those that the skills can reach.

    No two goals of a chain ask for the same.
    """
    return [GoalChain(f"{split}-{number:03}", _drawn(_usable(split), split, number)) for number in range(count)]


@cache
def _usable(split: str) -> tuple[Goal, ...]:
    return tuple(each for each in of_split(split) if not lacking(each, VirtualHomeScene(home_of(each.program))))


def _drawn(usable: Sequence[Goal], split: str, number: int) -> tuple[Goal, ...]:
    chance = np.random.default_rng([SPLITS.index(split), number])
    length = int(chance.integers(SHORTEST, LONGEST + 1))
    found: dict[object, Goal] = {}
    for at in chance.permutation(len(usable)):
        goal = usable[at]
        same = frozenset(each for each in goal.conditions if max(each.ids) < _OWN)
        found.setdefault(same or goal.program, goal)
        if len(found) == length:
            break
    return tuple(found.values())


def _brought(goal: Goal, first: int, nodes: list[Any], edges: list[Any]) -> Goal:
    """Bring what a goal names into a home that grows; return it with the ids that this has there."""
    home = home_of(goal.program)
    wanted = [name for each in goal.conditions for name in each.ids if name >= _OWN]
    for name in wanted:  # and what it is on or in, that is not of all homes either
        wanted += [
            each["to_id"]
            for each in home["edges"]
            if each["from_id"] == name and each["to_id"] >= _OWN and each["relation_type"] in ("ON", "INSIDE")
            if each["to_id"] not in wanted
        ]
    ids = {name: first + at for at, name in enumerate(dict.fromkeys(wanted))}
    there = {each["id"] for each in nodes} | set(ids.values())
    nodes += [{**each, "id": ids[each["id"]]} for each in home["nodes"] if each["id"] in ids]
    for each in home["edges"]:
        if each["relation_type"] not in _WHERE or not {each["from_id"], each["to_id"]} & set(ids):
            continue
        one, other = (ids.get(each[end], each[end] if each[end] < _OWN else 0) for end in ("from_id", "to_id"))
        if {one, other} <= there:
            edges.append({**each, "from_id": one, "to_id": other})

    def renamed(condition: VirtualHomeCondition) -> VirtualHomeCondition:
        other = condition.other
        return replace(
            condition,
            thing=ids.get(condition.thing, condition.thing),
            other=None if other is None else ids.get(other, other),
        )

    return replace(goal, conditions=tuple(map(renamed, goal.conditions)))
