"""Which package of kc_vla imports which: `python docs/packages.py` draws it anew in docs/architecture.md.

`tests/setup/test_packages.py` sees that the picture is true, and that no package imports, however indirectly, itself.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "ros2_ws/src/kc_vla/kc_vla"
PAGE = ROOT / "docs/architecture.md"
_BEGIN, _END = "```mermaid\n", "```\n"


def imports() -> dict[str, set[str]]:
    """For each package of kc_vla, by its name, the other ones that its modules import."""
    found: dict[str, set[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        inner = path.relative_to(PACKAGE).parts
        if len(inner) > 1:
            found.setdefault(inner[0], set()).update(_imported(path) - {inner[0]})
    packages = found.keys()
    return {name: others & packages for name, others in found.items()}


def _imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            modules = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        else:
            continue
        names |= {parts[1] for module in modules if (parts := module.split("."))[0] == "kc_vla" and len(parts) > 1}
    return names


def reached(graph: Mapping[str, set[str]], name: str) -> set[str]:
    """All packages that one imports, directly or through others."""
    found: set[str] = set()
    left = set(graph[name])
    while left:
        found |= left
        left = {other for package in left for other in graph[package]} - found
    return found


def picture(graph: Mapping[str, set[str]]) -> str:
    """The packages as a Mermaid chart: an arrow from each to what it imports, but for what others of those import."""
    lines = ["flowchart TD"]
    for name in sorted(graph):
        through = {far for other in graph[name] for far in reached(graph, other)}
        lines += [f"    {name} --> {other}" for other in sorted(graph[name] - through)]
    return "\n".join(lines) + "\n"


def with_picture(page: str) -> str:
    """The page with the picture of the source as it is."""
    before, _, rest = page.partition(_BEGIN)
    return before + _BEGIN + picture(imports()) + _END + rest.partition(_END)[2]


if __name__ == "__main__":
    PAGE.write_text(with_picture(PAGE.read_text()))
