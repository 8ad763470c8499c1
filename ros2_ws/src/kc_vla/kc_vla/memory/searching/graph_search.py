"""Objects of a scene graph by text: they are kept as known things, up with the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kc_vla.memory.embedding.cache import Cached
from kc_vla.memory.long_term.errors import GraphError
from kc_vla.memory.long_term.graph import SceneGraph
from kc_vla.memory.long_term.nodes import SceneObject, Vector
from kc_vla.memory.long_term.query import areas_named, floor_seen_from
from kc_vla.memory.long_term.words import Embed
from kc_vla.memory.references.spatial import Viewpoint
from kc_vla.memory.searching.meaning import Meanings
from kc_vla.memory.searching.text_search import TextAnswer, TextSearch
from kc_vla.memory.searching.things_by_look import ThingsByLook
from kc_vla.memory.things import KnownThing


class GraphSearch:
    """Searches the scene graph of one map at a time by text."""

    def __init__(self, embed: Embed | None = None) -> None:
        """Prepare to search.

        Args:
            embed: for meanings that share no word; None: words alone count, and what WordNet knows of them.
        """
        self._search = TextSearch(Meanings(Cached(_Checked(embed))))
        self._known: dict[str, SceneObject] = {}
        self._things = ThingsByLook()

    def answer(self, graph: SceneGraph, text: str, viewpoint: Viewpoint | str | None = None) -> TextAnswer:
        """Return the objects that a text means, as known things; see `TextSearch.find`."""
        self._keep_up(graph.objects)
        return self._search.find(self._things, _Areas(graph, floor_seen_from(graph, viewpoint)), text, viewpoint)

    def _keep_up(self, objects: Mapping[str, SceneObject]) -> None:
        known = self._known
        changed = [each for name, each in objects.items() if known.get(name) is not each]
        if len(known) + sum(each.id not in known for each in changed) > len(objects):
            for name in [name for name in known if name not in objects]:
                del known[name]
                self._things.remove(name)
        for each in changed:
            known[each.id] = each
            if each.forgotten:
                self._things.remove(each.id)
            else:
                self._things.put(_known(each))


class _Areas:
    """Areas and floors of a graph by id or name, in capitals or not, as seen from a floor."""

    def __init__(self, graph: SceneGraph, here: str) -> None:
        self._graph, self._here = graph, here

    def members(self, name: str) -> frozenset[str] | None:
        return frozenset(areas_named(self._graph, name, self._here)) or None

    def middle(self, name: str) -> Vector | None:
        members = self.members(name)
        return None if members is None else self._graph.areas[min(members)].position


class _Checked:
    """An embedding whose vectors are looked at; without one, vectors that are like no other."""

    def __init__(self, embed: Embed | None) -> None:
        self._embed = embed
        self.name = "none" if embed is None else "given"

    def embed(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        if self._embed is None:
            return np.zeros((len(sentences), 1), np.float32)
        vectors = np.asarray(self._embed(sentences), np.float32)
        if vectors.ndim != 2 or len(vectors) != len(sentences) or not np.isfinite(vectors).all():
            raise GraphError(
                f"the embedding gave {vectors.shape} for {len(sentences)} texts: it must give a vector for each"
            )
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(lengths, 1e-12))


def _known(thing: SceneObject) -> KnownThing:
    return KnownThing(
        thing.object_type,
        thing.id,
        thing.position,
        thing.area,
        thing.state,
        thing.attributes,
        thing.holder,
        thing.placed,
        thing.last_seen_ns / 1e9,
        thing.confidence,
        movable=thing.movable,
        source="long-term",
        size=thing.size,
    )
