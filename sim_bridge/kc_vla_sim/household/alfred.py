"""What the annotated tasks of ALFRED (Shridhar et al., 2020) say about its scenes: `data/alfred.jsonl.gz`.

`summary` made that file, from the annotations: `python -m kc_vla_sim.household.alfred ANNOTATED.jsonl.gz`.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from kc_vla_sim.household.errors import HouseholdError

FILE = Path(__file__).with_name("data") / "alfred.jsonl.gz"
_FLOOR_PLAN = "FloorPlan"
_FIELDS = ("object_target", "mrecep_target", "parent_target", "toggle_target")


class AlfredTask(NamedTuple):
    """The goal of annotated tasks; types are ALFRED's, empty where the task has none.

    Attributes:
        kind: one of ALFRED's seven: "pick_clean_then_place_in_recep".
        thing: what it is about.
        within: the vessel that it is put into, which is then carried.
        goal: the receptacle that it ends on or in.
        lamp: what is switched on.
        sliced: the thing is sliced first.
    """

    kind: str
    thing: str
    within: str
    goal: str
    lamp: str
    sliced: bool

    @property
    def types(self) -> tuple[str, ...]:
        """Return the types that it needs."""
        knife = ("Knife",) if self.sliced else ()
        return tuple(each for each in (self.thing, self.within, self.goal, self.lamp, *knife) if each)


class AlfredScene(NamedTuple):
    """What occurs in a scene.

    Attributes:
        number: of AI2-THOR's floor plan: kitchens 1 to 30, living rooms 201 to 230, bedrooms 301 to 330, bathrooms 401
            to 430.
        types: of the things and receptacles that occur, each with how many one task needs of it.
        tasks: its tasks, each goal once.
    """

    number: int
    types: Mapping[str, int]
    tasks: Sequence[AlfredTask]


@cache
def scenes() -> Mapping[int, AlfredScene]:
    """Return the 112 scenes that have annotated tasks, by their numbers."""
    with gzip.open(FILE, "rt", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return {
        line["scene"]: AlfredScene(line["scene"], line["types"], [AlfredTask(*task) for task in line["tasks"]])
        for line in lines
    }


def summary(annotated: Iterable[Mapping[str, Any]]) -> list[dict[str, object]]:
    """Return a line for each scene, in their order.

    Args:
        annotated: tasks with `scene`, `type`, `pddl` and `plan`, whose steps are [action, arguments, object id,
            receptacle].
    """
    types: dict[int, Counter[str]] = {}
    goals: dict[int, dict[AlfredTask, None]] = {}
    for about in annotated:
        number = int(about["scene"].removeprefix(_FLOOR_PLAN))
        thing, within, goal, lamp = (about["pddl"][name] for name in _FIELDS)
        task = AlfredTask(about["type"], thing, within, goal, lamp, bool(about["pddl"]["object_sliced"]))
        goals.setdefault(number, {})[task] = None
        needed = Counter(dict.fromkeys(task.types, 1))
        for _, _, object_id, receptacle in about["plan"]:
            needed |= Counter({type_of(name): 1 for name in (object_id, receptacle) if name})
        if task.kind == "pick_two_obj_and_place":
            needed[thing] = 2
        types[number] = types.get(number, Counter()) | needed
    return [
        {"scene": number, "types": dict(sorted(types[number].items())), "tasks": sorted(goals[number])}
        for number in sorted(types)
    ]


def type_of(name: str) -> str:
    """Return the type of an object id of AI2-THOR, or of a type alone.

    An id is like "Sink|+01.38|+00.81|-01.27|SinkBasin".
    """
    first = name.split("|")[0]
    return {"Sink": "SinkBasin", "Bathtub": "BathtubBasin"}.get(first, first)


def main(path: Path) -> None:
    """Write `data/alfred.jsonl.gz` anew, from annotated tasks."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            lines = summary(json.loads(line) for line in file)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise HouseholdError(f"{path} has no annotated tasks: 'scene', 'type', 'pddl' and 'plan' are wanted") from error
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    FILE.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
