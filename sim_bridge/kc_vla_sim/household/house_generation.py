"""How the sequences of `data/houses.jsonl.gz` are made: tasks that need both floors of a house, by written rules.

`python -m kc_vla_sim.household.house_generation` writes the file anew and prints how much that is. A sequence has three
or four tasks in one house, each of one of three kinds:

- fetch: a thing of a type that both floors have, from the floor on which the robot is not: "bring me a book from
  upstairs".
- search: a thing of a type that only that other floor has, of which no floor is named: "get a pillow".
- carry: a thing of one floor to a place of the other one, on or into which some task of ALFRED puts its type. A floor
  is named where both have the type: "put the mug that is upstairs on the table".

It is kept where the oracle does all of its tasks, one after the other, and none is done before it is asked for. The
last two wordings of each floor occur only in the split "test".
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from kc_vla_sim.household.errors import HouseholdError
from kc_vla_sim.household.floor_plan import GROUND, UPPER
from kc_vla_sim.household.generation import needed, put_where
from kc_vla_sim.household.oracle import UnsolvableError
from kc_vla_sim.household.scenes import HOUSES, SPLITS
from kc_vla_sim.household.tasks import HOUSE, HOUSES_FILE, GoalReferent, InstructedTask, TaskSequence, as_json
from kc_vla_sim.household.wording import Speaker, hold_step, put_step, spoken_name, with_article
from kc_vla_sim.household.world import Thing, World

COUNT = 20
"""Sequences in each split."""
_LEAST, _MOST, _TRIES = 3, 5, 200
_OF_THING: Mapping[str, Sequence[str]] = {
    UPPER: (
        *("{thing} from upstairs", "{thing} that is upstairs", "{thing} from the second floor"),
        *("{thing} from the top floor", "{thing} that is on the second floor"),
    ),
    GROUND: (
        *("{thing} from downstairs", "{thing} that is downstairs", "{thing} from the ground floor"),
        *("{thing} from the first floor", "{thing} that is on the ground floor"),
    ),
}
_OF_PLACE: Mapping[str, Sequence[str]] = {
    UPPER: (
        *("the {place} upstairs", "the {place} on the second floor"),
        *("the upstairs {place}", "the {place} on the top floor"),
    ),
    GROUND: (
        *("the {place} downstairs", "the {place} on the ground floor"),
        *("the downstairs {place}", "the {place} on the first floor"),
    ),
}
_OTHER = {UPPER: GROUND, GROUND: UPPER}


def generated(split: str, count: int = COUNT) -> Iterator[TaskSequence]:
    """Yield the first `count` sequences of a split, the same ones each time, from its houses in turn.

    Raises:
        HouseholdError: a house has no such tasks.
    """
    each_split = HOUSES // len(SPLITS)
    for number in range(count):
        seed, place = divmod(number, each_split)
        house = SPLITS.index(split) * each_split + place + 1
        yield _in_house(TaskSequence(f"{HOUSE}-{split}-{number + 1:03d}", HOUSE, split, house, seed, ()))


def _in_house(empty: TaskSequence) -> TaskSequence:
    chance = np.random.default_rng([SPLITS.index(empty.split), empty.scene, empty.seed])
    maker = _Maker(empty.world(), chance, empty.split == SPLITS[1])
    length = int(chance.integers(_LEAST, _MOST))
    tasks: list[InstructedTask] = []
    for _ in range(_TRIES):
        if len(tasks) == length:
            return replace(empty, tasks=tuple(tasks))
        world = needed(maker.first, tasks)[-1].world if tasks else maker.first
        task = maker.task(world, {name for each in tasks for name in each.means})
        try:
            needed(maker.first, [*tasks, task] if task else [])
        except UnsolvableError:
            continue
        tasks += [task] if task else []
    raise HouseholdError(f"house {empty.scene} with seed {empty.seed} has only {len(tasks)} tasks for both floors")


class _Maker:
    """Draws the tasks of a sequence."""

    def __init__(self, world: World, chance: np.random.Generator, test: bool) -> None:
        self.first = world
        self._chance, self._test = chance, test
        self._speaker = Speaker(chance, test)

    def task(self, world: World, done: set[str]) -> InstructedTask | None:
        """Return a task, about other things than those of before; None where what was drawn does not fit the rules."""
        here = world.plan.areas[world.at].floor
        there = _OTHER[here]
        on_floor = {floor: self._types(world, floor) for floor in _OTHER}
        both, alone = on_floor[here] & on_floor[there], on_floor[there] - on_floor[here]
        way = int(self._chance.integers(3))
        if way < 2:
            name = self._drawn((both if way else alone) - done)
            return self._fetch(name, there if way else "") if name else None
        start = there if self._chance.random() < 0.5 else here
        name = self._drawn(on_floor[start] - done)
        return self._carry(world, name, start, name in on_floor[_OTHER[start]]) if name else None

    def _fetch(self, name: str, floor: str) -> InstructedTask:
        means = {name: GoalReferent(word=name, floor=floor)}
        return self._speaker.task([hold_step(name)], {}, means, self._said(name, floor))

    def _carry(self, world: World, name: str, start: str, named: bool) -> InstructedTask | None:
        end = _OTHER[start]
        fixed = {floor: {thing.kind.name for thing in self._on(world, floor, True)} for floor in _OTHER}
        place = self._drawn(put_where(name) & fixed[end])
        if not place:
            return None
        means = {name: GoalReferent(word=name, floor=start)}
        said = self._said(name, start if named else "")
        if place in fixed[start]:
            means[place] = GoalReferent(word=place, floor=end)
            said[place] = self._pick(_OF_PLACE[end]).format(place=spoken_name(place))
        return self._speaker.task([put_step(name, place)], {}, means, said)

    def _said(self, name: str, floor: str) -> dict[str, str]:
        one, known = with_article(spoken_name(name)), f"the {spoken_name(name)}"
        if not floor:
            return {name: one}
        words = self._pick(_OF_THING[floor])
        return {name: words.format(thing=known if "that is" in words else one)}

    def _types(self, world: World, floor: str) -> set[str]:
        return {thing.kind.name for thing in self._on(world, floor, False)}

    def _on(self, world: World, floor: str, fixed: bool) -> Iterator[Thing]:
        some = (thing for thing in world.things.values() if thing.kind.fixed is fixed)
        return (thing for thing in some if world.floor_of(thing.id) == floor)

    def _drawn(self, names: set[str] | frozenset[str]) -> str:
        return sorted(names)[int(self._chance.integers(len(names)))] if names else ""

    def _pick(self, ways: Sequence[str]) -> str:
        return ways[int(self._chance.integers(len(ways) if self._test else len(ways) - 2))]


def table(sequences: Sequence[TaskSequence]) -> str:
    """Return how many there are of each split, and what the oracle needs for a task, as Markdown."""
    lines = ["| split | sequences | houses | tasks | skills in a task | s for a task |", "| --- |" + " --- |" * 5]
    for split in SPLITS:
        some = [each for each in sequences if each.split == split]
        ways = [solution for each in some for solution in needed(each.world(), each.tasks)]
        skills, seconds = (
            sum(values) / len(ways) for values in zip(*((len(w.calls), w.seconds) for w in ways), strict=True)
        )
        counts = f"{len(some)} | {len({each.scene for each in some})} | {len(ways)}"
        lines.append(f"| {split} | {counts} | {skills:.1f} | {seconds:.1f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write `data/houses.jsonl.gz` anew."""
    made = [each for split in SPLITS for each in generated(split)]
    text = "".join(as_json(each) + "\n" for each in made)
    HOUSES_FILE.write_bytes(gzip.compress(text.encode(), mtime=0))
    print(table(made))


if __name__ == "__main__":
    main()
