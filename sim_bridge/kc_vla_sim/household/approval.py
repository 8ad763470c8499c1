"""How many instructions of people a planner makes plans of that the household approves, without any search.

`python -m kc_vla_sim.household.approval ANNOTATED.jsonl.gz --split development`: each instruction of ALFRED's annotated
tasks (Shridhar et al., 2020) is planned and done in its scene by hands that know where everything is, and the goal of
its task is looked at. A name stands for what people call so, or what is nearest in meaning; where it can stand for what
the goal is about, it does: plans are measured here, not how names are understood.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kc_vla.memory.embedding.interface import Vectors
from kc_vla.memory.embedding.models import shared_embedder
from kc_vla.memory.references.spatial_phrases import without_relation
from kc_vla.planning.grammar.planner import GrammarPlanner
from kc_vla.planning.interface import Planner, PlanningError, Request, TriedCall
from kc_vla.planning.skills import ANYWHERE, Call
from kc_vla_sim.household.alfred import AlfredTask
from kc_vla_sim.household.detector import detection
from kc_vla_sim.household.errors import HouseholdError
from kc_vla_sim.household.goals import bindings, parse_goal
from kc_vla_sim.household.scenes import SPLITS, build_scene, split_of
from kc_vla_sim.household.simulator import act
from kc_vla_sim.household.types import kind_of, kinds, plain
from kc_vla_sim.household.world import FLOOR, IN, Place, Thing, World

_MOST_PLANS = 6
_FIELDS = ("object_target", "mrecep_target", "parent_target", "toggle_target")
_ORDINALS = ("second", "third", "fourth", "fifth", "sixth")
_STATES = {"clean": "clean", "heat": "heated", "cool": "cold"}


class Judged(NamedTuple):
    """What became of an instruction.

    Attributes:
        kind: of its task, one of ALFRED's seven.
        instruction: of a person.
        planned: there was a plan.
        approved: the goal was reached.
        reason: why not.
    """

    kind: str
    instruction: str
    planned: bool
    approved: bool
    reason: str


def goal_of(task: AlfredTask) -> str:
    """Return the goal conditions of an annotated task."""
    found = []
    if task.kind == "look_at_obj_in_light":
        found = [f"HOLDON(robot, {task.thing})", f"TOGGLEON({task.lamp})"]
    elif task.kind == "pick_two_obj_and_place":
        found = [_put(f"{task.thing}#{number}", task.goal) for number in (1, 2)]
    elif task.within:
        found = [_put(task.thing, task.within), _put(task.within, task.goal)]
    else:
        found = [_put(task.thing, task.goal)]
    names = [f"{task.thing}#1", f"{task.thing}#2"] if task.kind == "pick_two_obj_and_place" else [task.thing]
    made = [state for word, state in _STATES.items() if f"_{word}_" in task.kind]
    made += ["sliced"] if task.sliced else []
    return ", ".join([*found, *(f"STATE({name}, {state})" for name in names for state in made)])


def judge(planner: Planner, world: World, task: AlfredTask, instruction: str) -> Judged:
    """Let an instruction be planned and done in a world, and look at the goal of its task."""
    hands = _Hands(world, {task.thing, task.within, task.goal, task.lamp} - {""})
    request = Request(instruction)
    reason = ""
    for number in range(_MOST_PLANS):
        try:
            plan = planner.plan(request)
        except PlanningError as error:
            if not number:
                return Judged(task.kind, instruction, False, False, str(error))
            reason = f"{reason}; {error}"
            break
        tried = [*request.tried]
        reason = hands.do(plan.calls, tried)
        if not reason:
            break
        held = world.held()
        request = replace(request, tried=tuple(tried), in_hand=None if held is None else detection(world, held))
    goal = parse_goal(goal_of(task))
    approved = next(bindings(world, goal, {}), None) is not None
    return Judged(task.kind, instruction, True, approved, "" if approved else reason or "the goal is another")


def judged(planner: Planner, annotated: Iterable[Mapping[str, Any]], split: str, every: int = 1) -> Iterator[Judged]:
    """Judge every so many of the instructions for scenes of a split.

    Args:
        planner: what is measured.
        annotated: tasks with `scene`, `type`, `pddl` and `desc`.
        split: "development" or "test".
        every: one of so many is taken.
    """
    number = 0
    for about in annotated:
        scene = int(about["scene"].removeprefix("FloorPlan"))
        if split_of(scene) != split:
            continue
        thing, within, goal, lamp = (about["pddl"][key] for key in _FIELDS)
        task = AlfredTask(about["type"], thing, within, goal, lamp, bool(about["pddl"]["object_sliced"]))
        if "_heat_" in task.kind and task.goal == "Fridge":
            continue  # here a fridge that is closed cools what is in it
        for instruction in about["desc"]:
            number += 1
            if number % every == 0:
                yield judge(planner, _scene(scene).copy(), task, instruction)


def table(found: Sequence[Judged]) -> str:
    """Return the shares by the kind of task, as Markdown."""
    lines = ["| task | instructions | planned | approved |", "| --- | --- | --- | --- |"]
    for kind in [*sorted({each.kind for each in found}), ""]:
        some = [each for each in found if kind in (each.kind, "")]
        planned, approved = (sum(each) for each in zip(*((one.planned, one.approved) for one in some), strict=True))
        lines.append(
            f"| {kind or 'all'} | {len(some)} | {100 * planned / len(some):.1f} % "
            f"| {100 * approved / len(some):.1f} % |"
        )
    return "\n".join(lines) + "\n"


class _Hands:
    """Do calls whose names are said by people, knowing where everything is."""

    def __init__(self, world: World, about: set[str]) -> None:
        self._world, self._about = world, about
        self._stands_for: dict[str, str] = {}

    def do(self, calls: Sequence[Call], tried: list[TriedCall]) -> str:
        """Do calls until one fails; return why it did."""
        for call in calls:
            try:
                ids = tuple(self._thing(name) for name in call.arguments)
                call = Call(call.skill, ids)
                reason = self._do(call)
            except HouseholdError as error:
                reason = str(error)
            tried.append(TriedCall(call, reason))
            if reason and "already" not in reason:
                return reason
        return ""

    def _do(self, call: Call) -> str:
        for name in call.arguments:
            if name not in self._world.contents("robot"):
                self._go(name)
        if call.skill == "PutObject":
            holder = self._world.things[call.arguments[1]]
            if holder.closed:
                act(self._world, Call("OpenObject", (holder.id,)))
            self._make_room(holder)
        return act(self._world, call)

    def _types(self, name: str) -> frozenset[str]:
        """Return the types in this world that a name can stand for.

        A type that there is none of means what is nearest to it.
        """
        there = {thing.kind.name for thing in self._world.things.values()}
        called = types_called(name) & there
        return called or frozenset([max(sorted(there), key=lambda kind: _nearness(name, kind))])

    def _make_room(self, holder: Thing) -> None:
        """Take away what is in the way: a robot has to carry it elsewhere."""
        inside = [name for name in self._world.contents(holder.id) if not self._world.things[name].kind.fixed]
        others = [name for name in inside if name not in self._stands_for.values()]
        if self._world.free_spot(holder) is None and others:
            self._world.move(others[0], Place(FLOOR, self._world.at))

    def _go(self, name: str) -> None:
        act(self._world, Call("GoToPlace", (self._world.area_of(name),)))
        for holder in reversed(self._world.holders(name)):
            if holder.closed:
                act(self._world, Call("SwitchOff", (holder.id,)))
                act(self._world, Call("OpenObject", (holder.id,)))

    def _thing(self, name: str) -> str:
        if name in self._world.things:
            return name
        if name not in self._stands_for:
            self._stands_for[name] = self._choose(name)
        return self._stands_for[name]

    def _choose(self, name: str) -> str:
        words = name.split()
        other = words[0] in _ORDINALS and len(words) > 1
        called = " ".join(words[1:] if other else words)
        if name == ANYWHERE:
            there = [each for each in self._world.things.values() if each.kind.fixed and each.kind.relation]
        else:
            types = self._types(without_relation(called))
            taken = set(self._stands_for.values()) if other else set()
            there = [each for each in self._world.things.values() if each.kind.name in types and each.id not in taken]
        if not there:
            raise HouseholdError(f"there is no {name}")
        held = self._world.held()

        def good(thing: Thing) -> tuple[bool, ...]:
            return (
                held is not None and thing.id == held.id,
                thing.kind.name in self._about,
                not thing.kind.relation or not thing.kind.fixed or self._world.free_spot(thing) is not None,
                thing.colour in words,
                thing.id not in self._stands_for.values(),
            )

        return max(there, key=good).id


@cache
def types_called(name: str) -> frozenset[str]:
    """Return the types that people call so, or by the last words of it."""
    words = name.split()
    for start in range(len(words)):
        said = plain(" ".join(words[start:]))
        for each in (said, said.removesuffix("s")):
            found = {
                kind.name
                for kind in kinds().values()
                if each in map(plain, (kind.name, *kind.called, *kind.words))
                or (start + 1 == len(words) and each == plain(kind.spoken.split()[-1]))
            }
            if found:
                return frozenset(found)
    return frozenset()


@cache
def _meaning(said: str) -> Vectors:
    return np.asarray(shared_embedder().embed([said])[0])


def _nearness(name: str, kind: str) -> float:
    about = kinds()[kind]
    return max(float(_meaning(name) @ _meaning(each)) for each in (about.spoken, *about.called))


@cache
def _scene(number: int) -> World:
    return build_scene(number)


def _put(name: str, holder: str) -> str:
    return f"{'INSIDE' if kind_of(holder).relation == IN else 'ON'}({name}, {holder})"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, and where there is no plan or no approval the commonest reasons."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("annotated", type=Path)
    parser.add_argument("--split", choices=SPLITS, default=SPLITS[0])
    parser.add_argument("--every", type=int, default=1, help="take one instruction of so many")
    parser.add_argument("--failures", type=Path, help="file for those that were not approved, a line each")
    given = parser.parse_args(arguments)
    with gzip.open(given.annotated, "rt", encoding="utf-8") as file:
        found = list(judged(GrammarPlanner(), map(json.loads, file), given.split, given.every))
    print(table(found))
    reasons = Counter("no plan" if not each.planned else "not approved" for each in found if not each.approved)
    print(dict(reasons))
    if given.failures:
        lines = [
            f"{each.kind}\t{each.planned}\t{each.instruction}\t{each.reason}\n" for each in found if not each.approved
        ]
        given.failures.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
