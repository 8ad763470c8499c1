"""The parameters that each node declares, read from its source: a launch file must not load what a node loads."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

SIMULATED = {"maniskill_bridge", "piper_simulator", "household", "home_page", "home_session"}
"""The nodes of the package kc_vla_sim, which may not be there."""
_BASE = "NodeParameters"
_OF_ROS = {"use_sim_time", "start_type_description_service"}


def node_names() -> set[str]:
    """Return the nodes of the stack."""
    here = {path.stem for path in (Path(__file__).parents[1] / "nodes").glob("*.py")} - {"__init__"}
    return here | SIMULATED


class Declared(NamedTuple):
    """The parameters of a node.

    Attributes:
        names: their names.
        former: names that are read for one more version, each with the name of today.
    """

    names: frozenset[str]
    former: Mapping[str, str]


@cache
def parameters_of_node(name: str) -> Declared | None:
    """Return the parameters of a node; None where its package is not installed."""
    source = next((file for folder in _folders() if (file := folder / f"{name}.py").is_file()), None)
    if source is None:
        return None
    classes = _classes()
    own = [each for each in _parsed(source).body if isinstance(each, ast.ClassDef)]
    kinds = [
        line.value.id
        for each in own
        for line in each.body
        if isinstance(line, ast.Assign) and isinstance(line.value, ast.Name) and _names(line.targets) == ["Parameters"]
    ]
    found: dict[str, str] = {}
    waiting = [*kinds, _BASE]
    while waiting:
        bases, names = classes.get(waiting.pop(), ((), {}))
        found |= names
        waiting += bases
    return Declared(frozenset(found) | _OF_ROS, {former: name for name, former in found.items() if former})


@cache
def _classes() -> dict[str, tuple[tuple[str, ...], dict[str, str]]]:
    """Return the bases and the fields of each class of parameters, by the class's name; a field with its former name.

    The former name is empty for a field that always had its name.
    """
    ros = Path(__file__).parents[1] / "ros"
    files = [file for folder in (ros, *_folders()) for file in sorted(folder.glob("*.py"))]
    return {
        each.name: (
            tuple(base.id for base in each.bases if isinstance(base, ast.Name)),
            {
                name: _former_name(line.value)
                for line in each.body
                if isinstance(line, ast.AnnAssign) and line.value
                for name in _names([line.target])
            },
        )
        for file in files
        for each in _parsed(file).body
        if isinstance(each, ast.ClassDef) and each.name.endswith("Parameters")
    }


@cache
def _folders() -> tuple[Path, ...]:
    simulated = find_spec("kc_vla_sim")
    places = simulated.submodule_search_locations if simulated is not None else None
    return (Path(__file__).parents[1] / "nodes", *(Path(place) / "nodes" for place in places or ()))


@cache
def _parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"), str(file))


def _former_name(value: ast.expr) -> str:
    """Return the text `former` of a call of `parameter`; empty where it has none."""
    keywords = value.keywords if isinstance(value, ast.Call) else []
    found = next((each.value for each in keywords if each.arg == "former"), None)
    return str(found.value) if isinstance(found, ast.Constant) else ""


def _names(targets: Iterable[ast.expr]) -> list[str]:
    return [target.id for target in targets if isinstance(target, ast.Name)]
