"""What changed in the maps of a long-term memory since when, for clients that keep a copy of one."""

from __future__ import annotations

from typing import NamedTuple

from kc_vla.memory.change_log import ChangeLog
from kc_vla.memory.long_term.graph import GraphChange, SceneGraph
from kc_vla.memory.long_term.nodes import Node


class SceneChanges(NamedTuple):
    """What changed in a map since a revision; see `ChangesSince`."""

    revision: int
    whole: bool
    nodes: list[Node]
    removed: tuple[str, ...]


class SceneLog:
    """A log for each map that a client keeps a copy of."""

    def __init__(self) -> None:
        self._logs: dict[str, ChangeLog] = {}

    def note(self, map_id: str, change: GraphChange) -> None:
        """Note a change that was committed."""
        log = self._logs.get(map_id)
        if log is not None:
            for name in change.removed:
                log.remove(name)
            for node in change.put:
                log.put(node.id)

    def since(self, graph: SceneGraph, revision: int) -> SceneChanges:
        """Return what changed in a map since a revision."""
        found = self._logs.setdefault(graph.map_id, ChangeLog()).since(revision)
        nodes = list(graph.nodes()) if found.whole else [graph.get(each) for each in found.put]
        return SceneChanges(found.revision, found.whole, nodes, found.removed)
