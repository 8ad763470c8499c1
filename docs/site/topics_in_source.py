"""What the source says of topics: wherever `topics.NAME` stands, beside which type, and in which call."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

_OFFERS = {"advertise", "create_publisher", "serve", "create_service", "ActionServer", "SkillServer"}


@dataclass
class Found:
    """A topic, a service or an action."""

    name: str
    types: set[str] = field(default_factory=set)  # e.g. kc_vla_msgs/msg/Keyframe
    offered: set[str] = field(default_factory=set)  # nodes, or modules of helpers

    @property
    def what(self) -> str:
        """`msg`, `srv` or `action`; empty where no type is known."""
        kinds = {name.split("/")[1] for name in self.types}
        if len(kinds) > 1:
            raise ValueError(f"{self.name} is of more than one kind: {', '.join(sorted(self.types))}")
        return kinds.pop() if kinds else ""


def found_topics(sources: Iterable[Path]) -> list[Found]:
    """All names of `core/topics.py` that some module gives a type, in the order of that file.

    Raises:
        ValueError: one is never connected: then this reader knows too little of how it is made.
    """
    sources = list(sources)
    names = _constants(sources[0] / "core/topics.py")
    found = {constant: Found(name) for constant, name in names.items()}
    for source in sources:
        for path in sorted(source.rglob("*.py")):
            _read(path, source, found)
    unknown = sorted(one.name for one in found.values() if not one.what and not one.name.count("{"))
    if unknown:
        raise ValueError(f"of no known type: {', '.join(unknown)}")
    return list(found.values())


def _constants(path: Path) -> dict[str, str]:
    return {
        target.id: node.value.value
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _read(path: Path, source: Path, found: dict[str, Found]) -> None:
    tree = ast.parse(path.read_text())
    types = _imported_types(tree)
    inner = path.relative_to(source).with_suffix("").parts
    place = inner[-1] if inner[0] == "nodes" else ".".join(inner)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call | ast.Tuple):
            continue
        parts = node.args if isinstance(node, ast.Call) else node.elts
        kinds = {types[part.id] for part in parts if isinstance(part, ast.Name) and part.id in types}
        for constant in _named(parts):
            if constant not in found or len(kinds) != 1:
                continue
            topic = found[constant]
            topic.types |= kinds
            called = _called(node) if isinstance(node, ast.Call) else ""
            if called in _OFFERS or (not called and "/srv/" in next(iter(kinds))):
                topic.offered.add(place)


def _named(parts: Iterable[ast.expr]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == "topics":
            yield part.attr


def _called(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _imported_types(tree: ast.Module) -> dict[str, str]:
    return {
        alias.asname or alias.name: f"{node.module.replace('.', '/')}/{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.endswith((".msg", ".srv", ".action"))
        for alias in node.names
    }
