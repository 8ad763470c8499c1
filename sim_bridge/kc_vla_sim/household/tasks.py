"""Tasks and sequences of them, and the referee who says whether each was done."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from kc_vla_sim.household.errors import HouseholdError, told
from kc_vla_sim.household.goals import Admitted, GoalCondition, bindings, parse_goal, unmet
from kc_vla_sim.household.scenes import SPLITS, build_building, build_home, build_house, build_scene
from kc_vla_sim.household.states import ThingState, state_of
from kc_vla_sim.household.types import plain
from kc_vla_sim.household.world import World

FILE = Path(__file__).with_name("data") / "sequences.jsonl.gz"
KINDS = ("simple", "composite", "complex")
HOME, BUILDING = "home", "building"
"""The kinds of long sequences, none of which is in the file: see `growth.py`."""
HOUSE = "house"
"""The kind of sequences that need both floors of a house, which have a file of their own: see `house_generation.py`."""
HOUSES_FILE = FILE.with_name("houses.jsonl.gz")


@dataclass(frozen=True, slots=True)
class GoalReferent:
    """What is meant by a name of a goal, where not any of its type: the thing of an earlier task, or what fits.

    Attributes:
        task: number of the earlier task, from 0, in which the name stood for the same thing; None for a description.
        word: a type, or a word for what it is: "food".
        colour: that it has; empty for any.
        states: that it is in.
        floor: that it is on, with what is on or in it; then also furniture can be meant. Empty for any.
    """

    task: int | None = None
    word: str = ""
    colour: str = ""
    states: tuple[ThingState, ...] = ()
    floor: str = ""

    def fitting(self, world: World) -> frozenset[str]:
        """Return the things that a description fits: they can be carried, or it names a floor, and are not broken."""
        word = plain(self.word)
        return frozenset(
            thing.id
            for thing in world.things.values()
            if word
            and (not thing.kind.fixed or self.floor)
            and (not self.floor or world.floor_of(thing.id) == self.floor)
            and word in map(plain, (thing.kind.name, *thing.kind.words))
            and self.colour in (thing.colour, "")
            and thing.states >= set(self.states)
            and ThingState.BROKEN not in thing.states
        )


@dataclass(frozen=True)
class InstructedTask:
    """An instruction, and when it is done.

    Attributes:
        instruction: for the robot, in English.
        goal: conditions that hold afterwards, see `goals`.
        means: what is meant by names of the goal.
    """

    instruction: str
    goal: str
    means: Mapping[str, GoalReferent] = field(default_factory=dict)

    @property
    def conditions(self) -> tuple[GoalCondition, ...]:
        """Return the goal, read."""
        return _conditions(self.goal)


@dataclass(frozen=True)
class TaskSequence:
    """Tasks one after the other in one scene.

    Attributes:
        name: "composite-test-003".
        kind: of `KINDS`, `HOUSE`, `HOME` or `BUILDING`.
        split: "development" or "test".
        scene: its number; of `HOUSE` and `HOME` the house's or home's, of `BUILDING` how many things there are.
        seed: of the scene.
        tasks: in their order.
    """

    name: str
    kind: str
    split: str
    scene: int
    seed: int
    tasks: tuple[InstructedTask, ...]

    def __str__(self) -> str:
        tasks = [f"{number}. {task.instruction}  [{task.goal}]" for number, task in enumerate(self.tasks)]
        return "\n".join([f"{self.name}, scene {self.scene}, seed {self.seed}", *tasks])

    def world(self) -> World:
        """Return the home as it is before the first task."""
        build = {HOUSE: build_house, HOME: build_home, BUILDING: build_building}.get(self.kind, build_scene)
        return build(self.scene, self.seed)

    @property
    def scene_name(self) -> str:
        """Return the scene as people name it: "house3", "17"."""
        return f"{self.kind if self.kind in (HOUSE, HOME) else ''}{self.scene}"


class Referee:
    """Follows a sequence in a world: says what each name stands for when its task begins, and whether it was done.

    Attributes:
        admitted: the things that names of the present task may stand for; of names that are not in it, or with none,
            any of their type: that of an earlier task may be missing because that one was not done.
    """

    def __init__(self, tasks: Sequence[InstructedTask]) -> None:
        self.admitted: Admitted = {}
        self._tasks = tasks
        self._stood_for: list[Mapping[str, frozenset[str]]] = []

    @property
    def number(self) -> int:
        """Return the number of the task that is under way or begins next, from 0."""
        return len(self._stood_for)

    @property
    def handled(self) -> frozenset[str]:
        """Return the things that the goals of the tasks so far were reached with."""
        return frozenset(thing for each in self._stood_for for some in each.values() for thing in some)

    def copy(self) -> Referee:
        """Return another referee that knows as much."""
        twin = Referee(self._tasks)
        twin.admitted, twin._stood_for = self.admitted, list(self._stood_for)
        return twin

    def begin(self, world: World) -> InstructedTask:
        """Begin the next task and return it; what is described is looked up as it is now.

        Raises:
            HouseholdError: all tasks are over.
        """
        if self.number == len(self._tasks):
            raise HouseholdError(f"all {self.number} tasks of the sequence are over: begin another sequence")
        task = self._tasks[self.number]
        self.admitted = {name: self._things(name, meaning, world) for name, meaning in task.means.items()}
        return task

    def judge(self, world: World) -> list[GoalCondition]:
        """End the task, and return the conditions that do not hold; none where it was done."""
        goal = self._tasks[self.number].conditions
        stood_for: dict[str, set[str]] = {}
        for binding in bindings(world, goal, self.admitted):
            for name, thing in binding.items():
                stood_for.setdefault(name, set()).add(thing)
        missing = [] if stood_for else unmet(world, goal, self.admitted)
        self._stood_for.append({name: frozenset(some) for name, some in stood_for.items()})
        return missing

    def _things(self, name: str, meaning: GoalReferent, world: World) -> frozenset[str]:
        if meaning.task is None:
            return meaning.fitting(world)
        if meaning.task >= self.number:
            raise HouseholdError(f"task {self.number} means a thing of task {meaning.task}: only earlier ones can be")
        return self._stood_for[meaning.task].get(name, frozenset())


@cache
def sequences() -> Mapping[str, TaskSequence]:
    """Return the sequences that come with the stack, by their names."""
    return _of_file(FILE)


@cache
def house_sequences() -> Mapping[str, TaskSequence]:
    """Return the sequences in houses of two floors that come with the stack, by their names."""
    return _of_file(HOUSES_FILE)


def _of_file(path: Path) -> Mapping[str, TaskSequence]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return {each.name: each for each in read_sequences(file)}


def sequence(name: str) -> TaskSequence:
    """Return the sequence of that name.

    Raises:
        HouseholdError: there is none.
    """
    known = house_sequences() if name.startswith(f"{HOUSE}-") else sequences()
    if name not in known:
        kinds = "|".join((*KINDS, HOUSE))
        raise HouseholdError(
            f"there is no sequence {told(name)}: they are called {kinds}-{'|'.join(SPLITS)}-001 and so on"
        )
    return known[name]


def read_sequences(lines: Iterable[str]) -> Iterator[TaskSequence]:
    """Yield the sequences of a file with one in each line, as `as_json` writes them.

    Raises:
        HouseholdError: a line is none, or a goal cannot be read; the message says which and why.
    """
    for number, line in enumerate(lines, 1):
        try:
            fields = json.loads(line)
            tasks = tuple(map(_task, fields["tasks"]))
            name, kind, split = (str(fields[each]) for each in ("name", "kind", "split"))
            found = TaskSequence(name, kind, split, int(fields["scene"]), int(fields["seed"]), tasks)
            for task in found.tasks:
                _check(task)
        except HouseholdError as error:
            raise HouseholdError(f"line {number} of the sequences: {error}") from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise HouseholdError(
                f"line {number} of the sequences is none ({told(str(error))}): write name, kind, split, scene, seed "
                "and tasks with instruction and goal"
            ) from error
        yield found


def as_json(each: TaskSequence) -> str:
    """Return a sequence as a line of the file."""
    tasks = []
    for task in each.tasks:
        means = {name: _fields(meaning) for name, meaning in task.means.items()}
        tasks.append({"instruction": task.instruction, "goal": task.goal} | ({"means": means} if means else {}))
    fields = {name: getattr(each, name) for name in ("name", "kind", "split", "scene", "seed")}
    return json.dumps(fields | {"tasks": tasks}, separators=(",", ":"))


def _fields(meaning: GoalReferent) -> dict[str, Any]:
    fields = {"task": meaning.task, "word": meaning.word, "colour": meaning.colour, "states": list(meaning.states)}
    fields["floor"] = meaning.floor
    return {name: value for name, value in fields.items() if value not in (None, "", [])}


def _task(fields: Mapping[str, Any]) -> InstructedTask:
    means = {str(name): _meaning(about) for name, about in fields.get("means", {}).items()}
    return InstructedTask(str(fields["instruction"]), str(fields["goal"]), means)


def _meaning(fields: Mapping[str, Any]) -> GoalReferent:
    task = None if "task" not in fields else int(fields["task"])
    states = tuple(state_of(str(each)) for each in fields.get("states", ()))
    return GoalReferent(
        task, str(fields.get("word", "")), str(fields.get("colour", "")), states, str(fields.get("floor", ""))
    )


def _check(task: InstructedTask) -> None:
    names = {name for condition in task.conditions for name in condition.names}
    wrong = sorted(set(task.means) - names)
    if wrong:
        raise HouseholdError(f"the goal {told(task.goal)} has no {told(wrong[0])}: only its names can mean something")


@cache
def _conditions(goal: str) -> tuple[GoalCondition, ...]:
    return parse_goal(goal)
