"""A long-term memory that is in use, on one of its maps: what is said to it and asked of it, from one thread.

`close` is called from another thread, and waits until what is being committed is.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

from kc_vla.memory.episodic.linked import LinkedKeyframe, LinkedKeyframes
from kc_vla.memory.episodic.scenes import placed_in
from kc_vla.memory.intake import Taken, lasting_stamp
from kc_vla.memory.long_term import looks
from kc_vla.memory.long_term.building import CLOCKS_DIFFER_NS, Observed
from kc_vla.memory.long_term.describe import Description
from kc_vla.memory.long_term.detections import FusionSettings
from kc_vla.memory.long_term.errors import GraphError, StoreError, told
from kc_vla.memory.long_term.exchange import form_of
from kc_vla.memory.long_term.graph import SceneGraph
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.nodes import Area, Floor, Vector
from kc_vla.memory.long_term.query import MOST_TEXT, Query, QueryAnswer, neighbours
from kc_vla.memory.long_term.spreading import Spread
from kc_vla.memory.long_term.store import Store
from kc_vla.memory.long_term.ways import Way, way
from kc_vla.memory.long_term.words import Embed
from kc_vla.memory.scene_log import SceneChanges, SceneLog
from kc_vla.memory.things import ObservedThing

T = TypeVar("T")
_FORMS = (".json", ".graphml")
_TOKENS = 2000


class Size(NamedTuple):
    """How large a map is."""

    map_id: str
    areas: int
    objects: int


class Looked(NamedTuple):
    """What was left out of what a robot saw, a line each, and what changed, for a client that follows; else None."""

    refused: list[str]
    changes: SceneChanges | None


class LiveScene:
    """A long-term memory in use, on one of its maps, for one thread.

    Attributes:
        map_id: the map that it is on.
        tally: of messages taken in, and of objects that were new, gone and moved.
        changes: how often something was changed, whatever it was.
    """

    def __init__(
        self, path: Path, map_id: str, settings: FusionSettings | None = None, embed: Embed | None = None
    ) -> None:
        """Open the store, and go to a map.

        Raises:
            StackError: it cannot be opened, read or written, or the map can be called no such name.
        """
        if not path.name:
            raise StoreError(f"{told(str(path))} is no file: name one for the store, such as memory.db")
        self._lock = threading.Lock()
        self._folder = path.parent / "maps"
        try:
            self._store = Store(path)
        except OSError as error:
            raise StoreError(f"{path} cannot be used: {error.strerror or error}; choose another file") from error
        self._closed = False
        self._memory = LongTermMemory(self._store, settings, embed)
        self._log = SceneLog()
        self._memory.listen(self._log.note)
        self.tally: Counter[str] = Counter()
        self.changes = 0
        self.map_id = map_id
        try:
            self._memory.graph(map_id)
        except BaseException:
            self._store.close()
            raise

    @property
    def is_new(self) -> bool:
        """Return whether there was no store before."""
        return self._store.is_new

    @property
    def mended(self) -> str:
        """Return what was damaged in the store and is left out, in a line; empty if nothing was."""
        return self._store.mended

    def close(self) -> None:
        """Leave the store to others, after what is being committed."""
        with self._lock:
            self._closed = True
            self._store.close()

    def size(self, map_id: str = "") -> Size:
        """Return how large a map is; without a name, the one that the memory is in."""
        graph = self.graph(map_id)
        return Size(graph.map_id, len(graph.areas), sum(1 for _ in graph.known()))

    def graph(self, map_id: str = "") -> SceneGraph:
        """Return a map, to be looked at."""
        return self._with(map_id, lambda name: self._memory.graph(name))

    def take(self, taken: Taken, received_ns: int) -> list[str]:
        """Commit the detections of a message, and return why some are left out.

        What is simulated counts as seen when it was received.
        """
        stamp_ns = lasting_stamp(taken.stamp_ns, received_ns)
        late = sum(each.last_seen_ns > received_ns + CLOCKS_DIFFER_NS for each in self.graph().objects.values())
        found = self._change(
            "", lambda name: self._memory.observe(name, taken.detections, stamp_ns, taken.view, received_ns)
        )
        self._count(found)
        full = [f"{found.left_out} detections found no room in map {told(self.map_id)}"] if found.left_out else []
        back = [f"the clock is behind: {late} things are known to have been seen later than it is now"] if late else []
        return [*back, *taken.refused, *full]

    def find(self, map_id: str, query: Query) -> QueryAnswer:
        """Return the objects that fit; see `LongTermMemory.answer`."""
        return self._known(map_id, lambda name: self._memory.answer(name, query))

    def neighbours(self, map_id: str, node_id: str) -> list[tuple[str, str]]:
        """Return what is beside a node; see `query.neighbours`."""
        return self._known(map_id, lambda name: neighbours(self._memory.graph(name), node_id))

    def way(self, map_id: str, begin: str, end: str) -> tuple[Way, list[Vector]]:
        """Return the shortest way, and the middles of its areas; see `ways.way`."""

        def find_way(name: str) -> tuple[Way, list[Vector]]:
            graph = self._memory.graph(name)
            found = way(graph, begin, end)
            return found, [graph.areas[area].position for area in found.areas]

        return self._known(map_id, find_way)

    def describe(self, map_id: str, text: str = "", most_tokens: int = 0, near: Vector | None = None) -> Description:
        """Return a map as text for a planner; see `LongTermMemory.describe`. 0 tokens: 2000."""
        if len(text) > MOST_TEXT:
            raise GraphError(f"an instruction of {len(text)} letters: {MOST_TEXT} are the most")
        return self._known(map_id, lambda name: self._memory.describe(name, most_tokens or _TOKENS, text, near))

    def enter(self, map_id: str, areas: Mapping[str, Area]) -> None:
        """Begin with a robot in a map, which may be new; see `looks.enter`."""
        self._with(map_id, lambda name: looks.enter(self._memory, name, areas))
        self.changes += 1

    def look(
        self,
        map_id: str,
        seen: Iterable[ObservedThing],
        at: str,
        missed: str,
        stamp_ns: int,
        revision: int | None = None,
    ) -> Looked:
        """Take in what a robot sees at once, or what it missed at its place; see `looks`.

        A client that keeps a copy of the map gives its `revision`, and gets what changed since, this included.
        """

        def take(name: str) -> Looked:
            refused: list[str] = []
            if missed:
                looks.miss(self._memory, name, missed, stamp_ns)
            else:
                found, refused = looks.look(self._memory, name, seen, at, stamp_ns)
                self._count(found)
            return Looked(refused, None if revision is None else self._changed_since(name, revision))

        return self._change(map_id, take)

    def link(self, keyframes: Iterable[LinkedKeyframe]) -> None:
        """Write keyframes with what they show into the map that the memory is in.

        What is linked of a keyframe stays where this one's detections are further from its image, or none: after a
        restart a node asks the buffer for keyframes again whose detections it has never seen.
        """
        for each in keyframes:
            if not self._memory.linked(self.map_id).improved_by(each):
                continue
            placed = placed_in(self.graph(), each)
            self._change("", partial(self._memory.link, keyframe=placed))
            self.tally.update(keyframes=1, blind_keyframes=not each.seen)

    def linked(self, map_id: str) -> LinkedKeyframes:
        """Return the keyframes of a map."""
        return self._known(map_id, self._memory.linked)

    def since(self, map_id: str, revision: int) -> SceneChanges:
        """Return what changed in a map since a revision, for a client that keeps a copy of it."""
        return self._known(map_id, lambda name: self._changed_since(name, revision))

    def _changed_since(self, name: str, revision: int) -> SceneChanges:
        return self._log.since(self._memory.graph(name), revision)

    def _count(self, found: Observed) -> None:
        self.tally.update(messages=1, new=len(found.new), gone=len(found.gone), moved=len(found.moved))

    def upsert(self, map_id: str, object_id: str, values: Mapping[str, Any]) -> str:
        """Put an object in by hand, or set fields of one; return its id."""
        return self._change(map_id, lambda name: self._memory.upsert(name, object_id, **values))

    def edit(self, map_id: str, node_id: str, values: Mapping[str, Any]) -> str:
        """Set fields of a node by hand; return its id."""
        self._change(map_id, lambda name: self._memory.edit(name, node_id, **values))
        return node_id

    def forget(self, map_id: str, object_id: str, release: bool = False) -> None:
        """Say that there is no such object; `release` leaves it to the detections again."""
        done = self._memory.release if release else self._memory.forget
        self._change(map_id, lambda name: done(name, object_id))

    def set_areas(self, map_id: str, floor: Floor, found: Spread) -> list[Area]:
        """Put a floor in, with its areas, in place of those that it had; return them."""

        def put(name: str) -> list[Area]:
            self._memory.set_areas(name, floor, found)
            return [area for area in self._memory.graph(name).areas.values() if area.floor == floor.id]

        return self._change(map_id, put)

    def connect(
        self, map_id: str, one: str, other: str, kind: str, length_m: float, wait_m: float | None = None
    ) -> str:
        """Connect areas of two floors; return the id of the connection. See `LongTermMemory.connect`."""
        return self._change(map_id, lambda name: self._memory.connect(name, one, other, kind, length_m, wait_m))

    def disconnect(self, map_id: str, connection_id: str) -> None:
        """Say that there is no such connection; see `LongTermMemory.disconnect`."""
        self._change(map_id, lambda name: self._memory.disconnect(name, connection_id))

    def save(self, map_id: str, file: str = "") -> Path:
        """Write a map into a file of the folder `maps` beside the store."""

        def write(name: str) -> Path:
            path = self._file(file or f"{quote(name, safe='')}.json")
            try:
                self._folder.mkdir(exist_ok=True)
                form_of(path).write(self._memory.graph(name), path)
            except OSError as error:
                raise StoreError(f"{path} cannot be written: {error.strerror or error}") from error
            return path

        return self._known(map_id, write)

    def load(self, map_id: str, file: str = "", replace: bool = False) -> Size:
        """Go over to a map, of the store or of a file of that folder; `replace` gives the one in the store up for it.

        Raises:
            GraphError: it is in the store already, or cannot be.
        """
        if not file and not map_id:
            raise GraphError("which map? give its map_id, or a file")
        graph = self._read(self._file(file), map_id) if file else None
        name = map_id if graph is None else graph.map_id

        def go(name: str) -> None:
            if graph is None:
                self._memory.graph(name)
            else:
                self._memory.take(graph, replace)
            self.map_id = name

        self._with(name, go)
        self.changes += 1
        return self.size()

    def _read(self, path: Path, map_id: str) -> SceneGraph:
        try:
            return form_of(path).read(path, map_id)
        except OSError as error:
            there = ", ".join(sorted(told(each.name) for each in self._folder.glob("*") if each.suffix in _FORMS)[:20])
            raise GraphError(
                f"{path} cannot be read: {error.strerror or error}; there are {there or 'none'}"
            ) from error

    def _file(self, name: str) -> Path:
        """Return the file of that name; GraphError if it is none of the folder."""
        path = Path(name)
        if not name.isprintable() or path.name != name or name.startswith(".") or path.suffix not in _FORMS:
            raise GraphError(f"{told(name)} is no name of a map's file: give one that ends in {' or '.join(_FORMS)}")
        return self._folder / name

    def _change(self, map_id: str, run: Callable[[str], T]) -> T:
        done = self._known(map_id, run)
        self.changes += 1
        return done

    def _known(self, map_id: str, run: Callable[[str], T]) -> T:
        """Return what is done with a map that has to be there: the one that the memory is in, or one of the store."""

        def asked(name: str) -> T:
            if name != self.map_id and name not in (maps := self._memory.maps()):
                raise GraphError(f"there is no map {told(name)}: there are {', '.join(map(told, maps)) or 'none'}")
            return run(name)

        return self._with(map_id, asked)

    def _with(self, map_id: str, run: Callable[[str], T]) -> T:
        with self._lock:
            if self._closed:
                raise StoreError("the long-term memory has ended")
            return run(map_id or self.map_id)
