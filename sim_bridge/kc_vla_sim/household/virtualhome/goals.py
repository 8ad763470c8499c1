"""The goals and homes of VirtualHome, and who judges them: all as the package `eai-eval` has it.

A goal has conditions, of states and of relations between things by their ids, and sometimes actions that its human
program does ("READ"). Its program has a home of its own: the same four rooms and furniture, with other things in them.
"""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from kc_vla_sim.household.errors import HouseholdError

SPLITS = ("development", "test")
ROBOT = 65
"""The id of the agent, in all homes."""
_PACKAGE = "virtualhome_eval"
_SIMULATOR = f"{_PACKAGE}.simulation.evolving_graph"
_SCENE = "scene_1"
_HOMES_KEPT = 16
_HOMES = (
    "dataset/programs_processed_precond_nograb_morepreconds/init_and_final_graphs/TrimmedTestScene1_graph/"
    "results_intentions_march-13-18/file{}.json"
)


@dataclass(frozen=True)
class VirtualHomeCondition:
    """What is to hold.

    Attributes:
        thing: id of a node.
        what: a state ("ON"), or with `other` a relation ("INSIDE").
        other: id of the node that `thing` is to be so to; None for a state.
    """

    thing: int
    what: str
    other: int | None = None

    def __str__(self) -> str:
        return f"{self.what}({', '.join(map(str, self.ids))})"

    @property
    def ids(self) -> tuple[int, ...]:
        """Return the ids of the nodes that the condition is about."""
        return (self.thing,) if self.other is None else (self.thing, self.other)

    def holds(self, state: Mapping[str, Any]) -> bool:
        """Return whether it holds in a state, by the check of the package."""
        judge = module("eval_utils").scene_evaluate_wID
        if self.other is None:
            nodes, edges = [{"id": self.thing, "state": self.what}], []
        else:
            nodes, edges = [], [{"from_id": self.thing, "relation_type": self.what, "to_id": self.other}]
        return bool(judge(state, nodes, edges, ROBOT)[3])


@dataclass(frozen=True)
class Goal:
    """A goal.

    Attributes:
        family: name of its task: "Watch TV".
        program: name of the human program that it was taken from, and of its home: "134_1".
        conditions: that are to hold at its end; none where it has only actions.
        actions: that its program does, each with others that will do: "LOOKAT|WATCH".
    """

    family: str
    program: str
    conditions: tuple[VirtualHomeCondition, ...]
    actions: tuple[str, ...] = ()

    def missing(self, state: Mapping[str, Any]) -> list[VirtualHomeCondition]:
        """Return the conditions that do not hold in a state.

        Each is asked alone: of several relations at once the package's check counts the first.
        """
        return [each for each in self.conditions if not each.holds(state)]


def module(name: str) -> Any:
    """Return a module of the package's simulator.

    Raises:
        HouseholdError: the package is not installed; the text says how it is.
    """
    try:
        return importlib.import_module(f"{_SIMULATOR}.{name}")
    except ImportError as error:
        raise HouseholdError(
            f"VirtualHome's goals are in a package that is missing ({error}): pip install --no-deps eai-eval==1.0.5"
        ) from error


@cache
def goals() -> tuple[Goal, ...]:
    """Return all goals of the package, in its order.

    Raises:
        HouseholdError: it is not installed.
    """
    text = (_folder() / "resources" / "task_state_LTL_formula_accurate.json").read_text(encoding="utf-8")
    return tuple(
        Goal(
            family,
            program,
            tuple(_condition(each) for each in told["vh_goal"]["goal"]),
            tuple(told["vh_goal"]["actions"]),
        )
        for family, programs in json.loads(text)[_SCENE].items()
        for program, told in programs.items()
    )


@lru_cache(maxsize=_HOMES_KEPT)
def home_of(program: str) -> Mapping[str, Any]:
    """Return the home of a program as it is at the beginning, as the package writes it: nodes and edges.

    Do not change it.
    """
    found: Mapping[str, Any] = json.loads((_folder() / _HOMES.format(program)).read_text(encoding="utf-8"))
    graph: Mapping[str, Any] = found["init_graph"]
    return graph


def split_of(family: str, families: Sequence[str]) -> str:
    """Return the split of a family: half of all are for development, by the order of the SHA-256 of their names."""
    order = sorted(families, key=lambda each: hashlib.sha256(each.encode()).hexdigest())
    return SPLITS[order.index(family) >= len(order) // 2]


def of_split(split: str, wanted: Callable[[Goal], bool] = lambda goal: bool(goal.conditions)) -> list[Goal]:
    """Return the goals of a split that have conditions, or are otherwise wanted."""
    families = tuple(dict.fromkeys(each.family for each in goals()))
    return [each for each in goals() if wanted(each) and split_of(each.family, families) == split]


def _condition(told: Mapping[str, Any]) -> VirtualHomeCondition:
    if "state" in told:
        return VirtualHomeCondition(told["id"], told["state"])
    return VirtualHomeCondition(told["from_id"], told["relation_type"], told["to_id"])


def _folder() -> Path:
    return Path(module("utils").__file__).parents[2]
