"""How the sequences of `data/sequences.jsonl.gz` are made from ALFRED's tasks, by written rules.

`python -m kc_vla_sim.household.generation` writes the file anew and prints how much that is. A sequence is in one
scene, its tasks are those that ALFRED has in that scene. It is kept only where the oracle does all of its tasks, one
after the other, and none is done before it is asked for.

- simple: two to four whole tasks of ALFRED, no two of which speak of the same thing.
- composite: two tasks of ALFRED that share a thing, in three to five steps, each a task: what was spoken of is "the"
  same thing from then on. Or one where something is sliced, and then the knife is put away.
- complex: the first one or two steps of two tasks about different things, then one or two tasks that say in vague
  words what is meant: "the red fruit", words that fit one thing of the home alone, one that was handled before; "the
  thing you washed", where one was; "something to drink from", where one was handled before, and any other will do. A
  thing is put where some task of ALFRED puts its type.
"""

from __future__ import annotations

import gzip
import itertools
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import cache
from typing import TypeVar

import numpy as np

from kc_vla_sim.household.alfred import AlfredTask, scenes
from kc_vla_sim.household.needs import CUTS
from kc_vla_sim.household.oracle import Solution, UnsolvableError, play
from kc_vla_sim.household.scenes import NUMBERS, SPLITS, split_of
from kc_vla_sim.household.states import ThingState
from kc_vla_sim.household.tasks import FILE, KINDS, GoalReferent, InstructedTask, Referee, TaskSequence, as_json
from kc_vla_sim.household.types import kinds
from kc_vla_sim.household.wording import (
    ADJECTIVES,
    PURPOSES,
    Speaker,
    TaskStep,
    did,
    hold_step,
    put_step,
    steps_of,
)
from kc_vla_sim.household.world import Thing, World

COUNT = 120
"""Sequences of each kind in each split."""
_LEAST, _MOST = 2, 5
_TRIES = 30
_KNIFE_AWAY = 0.8
_T = TypeVar("_T")


def generated(kind: str, split: str, count: int = COUNT) -> Iterator[TaskSequence]:
    """Yield the first `count` sequences of a kind in a split: the same ones each time, from its scenes in turn."""
    numbers = [number for number in NUMBERS if split_of(number) == split and number in scenes()]
    made = turn = 0
    while made < count:
        seed, place = divmod(turn, len(numbers))
        turn += 1
        found = _in_scene(f"{kind}-{split}-{made + 1:03d}", kind, split, numbers[place], seed)
        if found is not None:
            made += 1
            yield found


def needed(world: World, tasks: Sequence[InstructedTask], referee: Referee | None = None) -> list[Solution]:
    """Return what each of the tasks needs; a referee, where there is one, follows them.

    Raises:
        UnsolvableError: the oracle cannot do one, or one is done before it begins.
    """
    found = play(world, referee or Referee(tasks), len(tasks))
    for task, solution in zip(tasks, found, strict=True):
        if not solution.calls:
            raise UnsolvableError(f"{task.goal} holds already")
    return found


def _in_scene(name: str, kind: str, split: str, number: int, seed: int) -> TaskSequence | None:
    """Return a sequence for a scene, or none where no try of some is right."""
    empty = TaskSequence(name, kind, split, number, seed, ())
    chance = np.random.default_rng([KINDS.index(kind), SPLITS.index(split), number, seed])
    maker = _Maker(empty.world(), scenes()[number].tasks, chance, split == "test")
    make = {"simple": maker.simple, "composite": maker.composite, "complex": maker.complex}[kind]
    for _ in range(_TRIES):
        try:
            tasks = make()
            if len(tasks) >= _LEAST:
                needed(maker.world, tasks)
                return replace(empty, tasks=tuple(tasks))
        except UnsolvableError:
            continue
    return None


class _Maker:
    """Draws the tasks of a sequence; fewer than `_LEAST` where what was drawn does not fit the rules."""

    def __init__(self, world: World, tasks: Sequence[AlfredTask], chance: np.random.Generator, test: bool) -> None:
        self.world = world
        self._tasks = tasks
        self._chance = chance
        self._speaker = Speaker(chance, test)

    def simple(self) -> list[InstructedTask]:
        length = int(self._chance.integers(_LEAST, _MOST))
        named: set[str] = set()
        found: list[InstructedTask] = []
        for task in _shuffled(self._tasks, self._chance):
            about = {task.thing, task.within, task.lamp} - {""}
            if len(found) < length and not about & named:
                named |= about
                found.append(self._speaker.task(steps_of(task), {}, {}, {}))
        return found

    def composite(self) -> list[InstructedTask]:
        first, *others = self._in_steps()
        knife = max((each.kind.name for each in self.world.things.values() if CUTS in each.kind.words), default="")
        steps = list(steps_of(first))
        if first.sliced and knife and self._chance.random() < _KNIFE_AWAY:
            steps.insert(1, put_step(knife, _shuffled(self._holders(knife), self._chance)[0]))
            return self._as_tasks(steps, {knife: GoalReferent(word=CUTS)}, {knife: "the knife"})
        related = [each for each in others if {each.thing, each.within} & ({first.thing, first.within} - {""})]
        steps = list(dict.fromkeys((*steps, *(step for each in related[:1] for step in steps_of(each)))))
        return self._as_tasks(steps, {}, {}) if related and 3 <= len(steps) <= _MOST else []

    def complex(self) -> list[InstructedTask]:
        steps: list[TaskStep] = []
        for task in self._in_steps():
            about = {step.thing for step in steps}
            if len(about) < 2 and task.thing not in about:
                steps += [each for each in steps_of(task) if each.thing][: int(self._chance.integers(1, 3))]
        found = self._as_tasks(steps, self._colours(steps), {})
        referee = Referee(found)
        needed(self.world, found, referee)
        for _ in range(int(self._chance.integers(1, 3))):
            world = needed(self.world, found)[-1].world
            found = [*found, self._vague(world, referee.handled, steps, found)]
        return found

    def _vague(
        self, world: World, handled: Set[str], steps: Sequence[TaskStep], before: Sequence[InstructedTask]
    ) -> InstructedTask:
        """Return a task that says vaguely which thing of an earlier step it is about.

        Raises:
            UnsolvableError: there is none.
        """
        used = {meaning for task in before for meaning in task.means.values()}
        for number in _shuffled(range(len(steps)), self._chance):
            name = steps[number].thing
            ways = [each for each in self._ways(world, handled, steps, number) if each[0] not in used]
            asked = [hold_step(name), *(put_step(name, each) for each in self._holders(name))]
            for (meaning, words), step in zip(ways, _shuffled(asked, self._chance), strict=False):
                task = self._speaker.task([step], {}, {name: meaning}, {name: words})
                try:
                    needed(self.world, [*before, task])
                except UnsolvableError:
                    continue
                return task
        raise UnsolvableError("no vague words fit")

    def _ways(
        self, world: World, handled: Set[str], steps: Sequence[TaskStep], number: int
    ) -> list[tuple[GoalReferent, str]]:
        """Return what can be meant by vague words for the thing of a step, and the words, in an order that is drawn."""
        step = steps[number]
        kind = kinds()[step.thing]
        things = [thing for thing in world.of_kind(step.thing) if thing.id in handled]
        described = [each for thing in things for each in _descriptions(world, thing)]
        found = [(each, self._speaker.described(each)) for each in described]
        if did(step) and [did(each) for each in steps].count(did(step)) == 1:
            found.append((GoalReferent(number), self._speaker.what_you_did(step)))
        found += [
            (GoalReferent(word=each), self._speaker.for_a_purpose(each)) for each in kind.words if each in PURPOSES
        ]
        return _shuffled(found, self._chance)

    def _as_tasks(
        self, steps: Sequence[TaskStep], means: Mapping[str, GoalReferent], said: Mapping[str, str]
    ) -> list[InstructedTask]:
        """Return each step as a task; what was spoken of before is known, otherwise it is what is meant."""
        known: dict[str, int] = {}
        found = []
        for number, step in enumerate(steps):
            new = [name for name in step.names if name in means and name not in known]
            about = {name: means[name] for name in new}
            found.append(self._speaker.task([step], known, about, {name: said[name] for name in new if name in said}))
            known = dict.fromkeys(step.names, number) | known
        return found

    def _colours(self, steps: Sequence[TaskStep]) -> dict[str, GoalReferent]:
        """Return the color that says which one is meant, for the things that there are in several colors."""
        there = {step.thing: {thing.colour for thing in self.world.of_kind(step.thing)} for step in steps}
        return {name: GoalReferent(word=name, colour=min(some)) for name, some in there.items() if len(some) > 1}

    def _holders(self, name: str) -> list[str]:
        """Return what there is that some task of ALFRED puts its type on or into."""
        there = {thing.kind.name for thing in self.world.things.values()}
        return sorted(there & put_where(name))

    def _in_steps(self) -> list[AlfredTask]:
        """Return ALFRED's tasks that can be asked for step by step."""
        return _shuffled([task for task in self._tasks if task.kind != "pick_two_obj_and_place"], self._chance)


def _descriptions(world: World, thing: Thing) -> list[GoalReferent]:
    """Return for each word for what a thing is the shortest description that fits nothing else in the world."""
    found = []
    states = [(), *((state,) for state in ADJECTIVES if state in thing.states)]
    tries = [(some, colour) for some in states for colour in dict.fromkeys(("", thing.colour))]
    for word in thing.kind.words:
        each = (GoalReferent(word=word, colour=colour, states=some) for some, colour in sorted(tries, key=_adjectives))
        found += [meaning for meaning in each if meaning.fitting(world) == {thing.id}][:1]
    return found


@cache
def put_where(name: str) -> frozenset[str]:
    """Return the types that some task of ALFRED puts a type on or into."""
    tasks = [task for scene in scenes().values() for task in scene.tasks if not task.within]
    return frozenset(task.goal for task in tasks if task.goal and task.thing == name)


def _adjectives(description: tuple[Sequence[ThingState], str]) -> int:
    states, colour = description
    return len(states) + bool(colour)


def _shuffled(some: Sequence[_T], chance: np.random.Generator) -> list[_T]:
    return [some[int(index)] for index in chance.permutation(len(some))]


def table(sequences: Sequence[TaskSequence]) -> str:
    """Return how many there are of each kind and split, and what the oracle needs for a task, as markdown."""
    head = "| kind | split | sequences | scenes | tasks | skills in a task | s for a task |"
    lines = [head, "| --- |" + " --- |" * 6]
    for kind, split in itertools.product(KINDS, SPLITS):
        some = [each for each in sequences if (each.kind, each.split) == (kind, split)]
        ways = [solution for each in some for solution in needed(each.world(), each.tasks)]
        skills, seconds = (
            sum(each) / len(ways) for each in zip(*((len(way.calls), way.seconds) for way in ways), strict=True)
        )
        counts = f"{len(some)} | {len({each.scene for each in some})} | {len(ways)}"
        lines.append(f"| {kind} | {split} | {counts} | {skills:.1f} | {seconds:.1f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write `data/sequences.jsonl.gz` anew."""
    made = [each for split in SPLITS for kind in KINDS for each in generated(kind, split)]
    text = "".join(as_json(each) + "\n" for each in made)
    FILE.write_bytes(gzip.compress(text.encode(), mtime=0))
    print(table(made))


if __name__ == "__main__":
    main()
