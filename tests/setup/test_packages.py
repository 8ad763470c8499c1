"""The packages stand one above the other, as docs/architecture.md shows them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
SIMULATION = ROOT / "sim_bridge/kc_vla_sim"
LONGEST = 400


@pytest.fixture(scope="module")
def packages() -> ModuleType:
    spec = importlib.util.spec_from_file_location("packages", ROOT / "docs/packages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def graph(packages: ModuleType) -> dict[str, set[str]]:
    return packages.imports()


def test_no_package_imports_itself_through_others(packages: ModuleType, graph: dict[str, set[str]]) -> None:
    assert {name for name in graph if name in packages.reached(graph, name)} == set()


def test_the_picture_is_that_of_the_source(packages: ModuleType) -> None:
    page = packages.PAGE.read_text()
    assert packages.with_picture(page) == page, "run python docs/packages.py"


@pytest.mark.parametrize(("library", "places"), [("rclpy", {"ros", "nodes"}), ("torch", {"learning"})])
def test_what_only_some_may_import(packages: ModuleType, library: str, places: set[str]) -> None:
    found = {
        path.relative_to(packages.PACKAGE).parts[0]
        for path in packages.PACKAGE.rglob("*.py")
        for line in path.read_text().splitlines()
        if line.strip().startswith((f"import {library}", f"from {library}"))
    }
    assert found <= places


def test_nothing_below_knows_the_nodes(graph: dict[str, set[str]]) -> None:
    assert {name for name in graph if graph[name] & {"ros", "nodes"}} <= {"ros", "nodes"}


def test_what_any_training_shares_knows_no_selector(packages: ModuleType) -> None:
    shared = packages.PACKAGE / "learning/common"
    assert [path.name for path in shared.glob("*.py") if "learning.selector" in path.read_text()] == []


def test_no_module_is_longer_than_can_be_read_at_once(packages: ModuleType) -> None:
    modules = [*packages.PACKAGE.rglob("*.py"), *(ROOT / "sim_bridge").glob("*.py"), *SIMULATION.rglob("*.py")]
    assert {path.name: n for path in modules if (n := len(path.read_text().splitlines())) > LONGEST} == {}
