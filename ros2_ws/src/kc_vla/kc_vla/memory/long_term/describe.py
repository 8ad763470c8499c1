"""A scene graph as text for a planner, in the paper's form, within a number of tokens.

KARMA, section 3.3: `{name: node_1, type: Area, contains: [bed, table, ...], adjacent nodes: [node_2], position: [..]}`.
300 areas of that are more than twenty thousand tokens, so areas are described in more or less detail (as SayPlan, Rana
et al., 2023, collapses and expands its graph): left out, collapsed to a number of objects, with their classes as in the
paper, or with each object by its id.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from kc_vla.memory.long_term.errors import GraphError
from kc_vla.memory.long_term.graph import SceneGraph
from kc_vla.memory.long_term.nodes import Area, Connection, SceneObject, Vector
from kc_vla.memory.long_term.tokens import CountTokens, estimated_tokens, shown

NO_AREA = ""
"""Stands for the objects that are in none."""
_ROUNDS = 8
_TRIES = 10
"""Areas that are too long in more detail, after which no other one is tried."""


class Detail(IntEnum):
    """How much of an area is described."""

    LEFT_OUT = 0
    COLLAPSED = 1
    CLASSES = 2
    OBJECTS = 3


@dataclass(frozen=True)
class Description:
    """A text, its tokens, and the detail of each area, by its id, the most relevant first."""

    text: str
    tokens: int
    details: Mapping[str, Detail]


def describe(
    graph: SceneGraph,
    budget: int = 4000,
    scores: Mapping[str, float] | None = None,
    near: Vector | None = None,
    count: CountTokens = estimated_tokens,
    least: float = 0.2,
) -> Description:
    """Describe a graph within a budget: first what fits the question best, then what is near, then the rest.

    Half the budget is for the objects of areas that fit the question; then every area that holds something comes in
    short and then with its classes, then the empty ones, then each object, as far as the budget lasts.

    Args:
        graph: of what.
        budget: tokens, as `count` counts them.
        scores: of objects, as `Words.scores` gives them for the question.
        near: a place, m.
        count: the tokens of a text, e.g. by the tokenizer of the model that will read it.
        least: confidence of the objects that are described.

    Raises:
        GraphError: the budget is not enough for even the first line.
    """
    room = budget
    for _ in range(_ROUNDS):
        found = _Telling(graph, scores or {}, near, count, least).within(room)
        if found is not None and found.tokens <= budget:
            return found
        # A tokenizer may count the lines together for more than each alone.
        room -= max(1, (found.tokens if found is not None else room) - budget)
    raise GraphError(f"{budget} tokens are too few to tell anything of map {shown(graph.map_id)}: allow 100 or more")


class _Telling:
    """One description in the making."""

    def __init__(
        self, graph: SceneGraph, scores: Mapping[str, float], near: Vector | None, count: CountTokens, least: float
    ) -> None:
        self._graph, self._count = graph, count
        self._inside: dict[str, list[SceneObject]] = {area: [] for area in graph.areas}
        for each in graph.known(least):
            self._inside.setdefault(each.area if each.area in graph.areas else NO_AREA, []).append(each)
        fits = {
            area: max((scores.get(each.id, 0.0) for each in things), default=0.0)
            for area, things in self._inside.items()
        }
        far = {area: _far(graph.areas.get(area), near) for area in self._inside}
        self._order = sorted(self._inside, key=lambda area: (-fits[area], far[area], _natural(area)))
        self._asked_for = [area for area in self._order if fits[area] > 0.0]
        self._scores = scores
        self._lines: dict[tuple[str, Detail], tuple[str, int]] = {}

    def within(self, budget: int) -> Description | None:
        head = self._head()
        last = self._count(self._rest(self._order)) + 1
        self._left = budget - self._count("\n".join(head)) - last
        if self._left < 0:
            return None
        self._details = dict.fromkeys(self._order, Detail.LEFT_OUT)
        rest, self._left = self._left - self._left // 2, self._left // 2
        self._raise(self._asked_for, Detail.OBJECTS)
        self._left += rest
        filled = [area for area in self._order if self._inside[area]]
        others = sum(self._line(area, Detail.CLASSES)[1] for area in self._order if not self._details[area])
        if others <= self._left + last:
            self._left += last  # nothing is left out that a last line would have to say
        for areas, detail in (
            (filled, Detail.COLLAPSED),
            (filled, Detail.CLASSES),
            (self._order, Detail.COLLAPSED),
            (self._order, Detail.CLASSES),
            (filled, Detail.OBJECTS),
        ):
            self._raise(areas, detail)
        told = [area for area in self._order if self._details[area]]
        lines = [*head, *(self._line(area, self._details[area])[0] for area in told)]
        hidden = [area for area in self._order if not self._details[area]]
        if hidden:
            lines.append(self._rest(hidden))
        text = "\n".join(lines)
        return Description(text, self._count(text), self._details)

    def _raise(self, areas: Sequence[str], detail: Detail) -> None:
        """Describe these areas in more detail, one after the other, where it fits."""
        misses = 0
        for area in areas:
            now = self._details[area]
            if now >= detail:
                continue
            if self._left < 2:
                return
            more = self._line(area, detail)[1] - (self._line(area, now)[1] if now else 0)
            if more <= self._left:
                self._details[area] = detail
                self._left -= more
            elif (misses := misses + 1) > (_TRIES if detail > Detail.COLLAPSED else 0):
                return  # in short no less relevant one is told of instead

    def _line(self, area: str, detail: Detail) -> tuple[str, int]:
        """Return the line about an area, and its tokens with the end of the line."""
        if (area, detail) not in self._lines:
            connections = self._graph.connections_of(area)
            text = _area_text(self._graph.areas.get(area), self._contains(area, detail), connections)
            self._lines[area, detail] = text, self._count(text) + 1
        return self._lines[area, detail]

    def _contains(self, area: str, detail: Detail) -> str:
        things = self._inside[area]
        if detail is Detail.COLLAPSED and things:
            return _objects(len(things))
        if detail is Detail.CLASSES or not things:
            counts = Counter(each.object_type for each in things)
            listed = [
                f"{shown(name)} x{number}" if number > 1 else shown(name) for name, number in sorted(counts.items())
            ]
        else:
            ranked = sorted(things, key=lambda each: (-self._scores.get(each.id, 0.0), _natural(each.id)))
            listed = [_object_text(each) for each in ranked]
        return f"[{', '.join(listed)}]"

    def _head(self) -> list[str]:
        of_floor = Counter(area.floor for area in self._graph.areas.values())
        return [
            f"{{name: {shown(floor.id)}, type: Floor{_called(floor.name)}, areas: {of_floor[floor.id]}, "
            f"height: {floor.height_m:.2f}}}"
            for floor in sorted(self._graph.floors.values(), key=lambda each: each.height_m)
        ]

    def _rest(self, areas: Sequence[str]) -> str:
        objects = sum(len(self._inside[area]) for area in areas)
        return f"{{not told of: {len(areas)} area{'' if len(areas) == 1 else 's'} with {_objects(objects)}}}"


def _area_text(area: Area | None, contains: str, connections: Sequence[Connection]) -> str:
    if area is None:
        return f"{{in no area: {contains}}}"
    adjacent = ", ".join(shown(other) for other in sorted(area.adjacent, key=_natural))
    others = ((each.kind, next((end for end in each.areas if end != area.id), area.id)) for each in connections)
    ways = "".join(f", {kind} to: {shown(other)}" for kind, other in sorted(others))
    return (
        f"{{name: {shown(area.id)}, type: Area{_called(area.name)}, contains: {contains}, "
        f"adjacent nodes: [{adjacent}]{ways}, position: {_place(area.position)}}}"
    )


def _object_text(thing: SceneObject) -> str:
    """Return an object by its id; its class where the id does not say it."""
    said = [] if thing.id.rpartition("_")[0] == thing.object_type else [shown(thing.object_type)]
    if thing.state:
        said.append(shown(thing.state))
    if thing.holder:
        said.append(f"{thing.placed} {shown(thing.holder)}")
    said += [f"{shown(name)}: {shown(value)}" for name, value in sorted(thing.attributes.items())]
    return f"{shown(thing.id)} ({', '.join(said)})" if said else shown(thing.id)


def _objects(number: int) -> str:
    return f"{number} object{'' if number == 1 else 's'}"


def _called(name: str) -> str:
    return f", called: {shown(name)}" if name else ""


def _place(position: Vector) -> str:
    return f"[{', '.join(f'{value:.2f}' for value in position)}]"


def _far(area: Area | None, near: Vector | None) -> float:
    if near is None:
        return 0.0
    return math.inf if area is None else math.dist(area.position, near)


def _natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key by which node_2 comes before node_10."""
    return tuple(
        (1, int(part), "") if part.isascii() and part.isdigit() else (0, 0, part)
        for part in re.split(r"(\d{1,18})", name)
    )
