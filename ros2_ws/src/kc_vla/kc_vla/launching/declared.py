"""The parameters that each node declares, read from its source: a launch file must not load what a node loads."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

SIMULATED = {"maniskill_bridge", "household", "home_page", "home_session"}
"""The nodes of the package kc_vla_sim, which may not be there."""
_BASE = "NodeParameters"
_OF_ROS = {"use_sim_time", "start_type_description_service"}


def node_names() -> set[str]:
    """Return the nodes of the stack."""
    here = {path.stem for path in (Path(__file__).parents[1] / "nodes").glob("*.py")} - {"__init__"}
    return here | SIMULATED


@cache
def parameters_of_node(name: str) -> frozenset[str] | None:
    """Return the names of the parameters of a node; None where its package is not installed."""
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
    found = set(_OF_ROS)
    waiting = [*kinds, _BASE]
    while waiting:
        bases, names = classes.get(waiting.pop(), ((), ()))
        found |= set(names)
        waiting += bases
    return frozenset(found)


@cache
def _classes() -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Return the bases and the names of the fields of each class of parameters, by the class's name."""
    ros = Path(__file__).parents[1] / "ros"
    files = [file for folder in (ros, *_folders()) for file in sorted(folder.glob("*.py"))]
    return {
        each.name: (
            tuple(base.id for base in each.bases if isinstance(base, ast.Name)),
            tuple(_names(line.target for line in each.body if isinstance(line, ast.AnnAssign) and line.value)),
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


def _names(targets: Iterable[ast.expr]) -> list[str]:
    return [target.id for target in targets if isinstance(target, ast.Name)]
