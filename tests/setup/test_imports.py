"""No module imports itself through others, be it in a function or for types alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {
    "kc_vla": ROOT / "ros2_ws/src/kc_vla/kc_vla",
    "kc_vla_sim": ROOT / "sim_bridge/kc_vla_sim",
    "kc_vla_standalone": ROOT / "ros2_ws/standalone/src/kc_vla_standalone",
}


def sources() -> dict[str, str]:
    """The text of each module of the packages, by the module's name."""
    found = {}
    for package, folder in PACKAGES.items():
        for path in folder.rglob("*.py"):
            parts = (package, *path.relative_to(folder).with_suffix("").parts)
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path.read_text()
    return found


def imported(source: str) -> Iterator[tuple[str, str]]:
    """What a module imports: a module, and a name in it, which may be a module as well."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)


def graph_of(modules: Mapping[str, str]) -> dict[str, set[str]]:
    """For each module those that it imports."""
    graph: dict[str, set[str]] = {}
    for name, source in modules.items():
        wanted = ((f"{module}.{inner}", module) for module, inner in imported(source))
        first = (next((each for each in names if each in modules), name) for names in wanted)
        graph[name] = set(first) - {name}
    return graph


def cycle_in(modules: Mapping[str, str]) -> list[str]:
    """Modules of which each imports the one before it, back to the first; none where there are no such."""
    try:
        TopologicalSorter(graph_of(modules)).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found
    return []


def test_no_module_imports_itself_through_others() -> None:
    assert cycle_in(sources()) == [], "move what they share into a module below them"


@pytest.mark.parametrize("way", ["import p.a", "from p import a", "from p.a import X", "def f():\n    import p.a"])
def test_a_module_that_imports_itself_through_another_is_found(way: str) -> None:
    assert set(cycle_in({"p": "", "p.a": "from p import b\nX = 1\n", "p.b": way})) == {"p.a", "p.b"}
    assert cycle_in({"p": "", "p.a": "from p import b\n", "p.b": "import os"}) == []
