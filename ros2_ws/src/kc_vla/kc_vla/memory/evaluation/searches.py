"""The phrases of `kc-vla eval search`, each with a home and the ids of what fits."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kc_vla.core.untrusted import parsed_yaml, read_text
from kc_vla.memory.evaluation.halves import SPLITS
from kc_vla.memory.evaluation.search_scenes import SCENES, SearchScene, make_scene
from kc_vla.memory.long_term.nodes import SceneObject
from kc_vla.memory.long_term.relations import gap_m
from kc_vla.memory.references.spatial import Viewpoint
from kc_vla.memory.short_term.unit import spoken

KINDS = ("exact", "states", "exclusions", "relations", "vague", "nothing")
_DATA = Path(__file__).parent / "data" / "searches.yaml"
_TIE_M = 0.2
"""Things whose distances differ by less are equally near."""


@dataclass(frozen=True)
class SearchPhrase:
    """A phrase that is searched for.

    Attributes:
        text: the phrase.
        kind: of `KINDS`.
        split: of `halves.SPLITS`, by home.
        series: "first" was written before the method, "second" after it.
        scene: the home.
        fits: ids of what may be found first; empty where nothing may be found.
        viewpoint: where the one who asks stands.
    """

    text: str
    kind: str
    split: str
    series: str
    scene: SearchScene
    fits: frozenset[str]
    viewpoint: Viewpoint


def read_searches() -> list[SearchPhrase]:
    """Return all phrases, each with a home of one half, the same at each call."""
    written: dict[str, list[tuple[str, str, dict[str, Any]]]] = parsed_yaml(read_text(_DATA))
    scenes = [make_scene(seed) for seed in range(SCENES)]
    halves = {split: scenes[at :: len(SPLITS)] for at, split in enumerate(SPLITS)}
    found = []
    for series, phrases in written.items():
        for number, (kind, text, wanted) in enumerate(phrases):
            for split, homes in halves.items():
                turned = homes[number % len(homes) :] + homes[: number % len(homes)]
                found.append(_search(text, kind, split, series, wanted, turned, random.Random(f"{text} {split}")))
    return found


def _search(
    text: str,
    kind: str,
    split: str,
    series: str,
    wanted: dict[str, Any],
    homes: list[SearchScene],
    chance: random.Random,
) -> SearchPhrase:
    for scene in homes:
        choices = list(_filled(scene, wanted, text))
        if choices:
            names, fits, before = chance.choice(choices)
            return SearchPhrase(text.format(**names), kind, split, series, scene, fits, _before(scene, before))
    raise ValueError(f"no home has what {text!r} asks for: repair searches.yaml")


def _before(scene: SearchScene, place: str) -> Viewpoint:
    """Return where one stands before a piece of furniture; where the robot stands if none is meant."""
    if not place:
        return Viewpoint(scene.robot, (0.0, 1.0, 0.0))
    x, y, _ = scene.graph.objects[place].position
    return Viewpoint((x, y - 1.2, 1.2), (0.0, 1.0, 0.0))


_Filled = tuple[dict[str, str], frozenset[str], str]
"""Names of things in a phrase, ids of what fits, and the furniture before which one stands."""


def _filled(scene: SearchScene, wanted: dict[str, Any], text: str) -> Iterator[_Filled]:
    """Yield each way in which a phrase can be said of a home."""
    objects = scene.graph.objects
    if "at" in wanted:
        holder = f"{wanted['at']}_1"
        meant = frozenset(name for name in scene.rows[holder] if _is(objects[name], wanted))
        yield from [({}, meant, "")] if meant else []
    elif {"nearest", "farthest"} & set(wanted):
        yield from _far(scene, "nearest" in wanted)
    elif {"left_of", "right_of", "beside", "between"} & set(wanted):
        yield from _in_rows(scene, next(iter(wanted)))
    elif not wanted:
        yield {}, frozenset(), ""
    else:
        meant = frozenset(each.id for each in objects.values() if _is(each, wanted))
        yield from [({}, meant, "")] if meant else []


def _is(thing: SceneObject, wanted: dict[str, Any]) -> bool:
    colour = thing.attributes.get("colour")
    return (
        thing.object_type in wanted.get("type", [thing.object_type])
        and ("colour" not in wanted or colour == wanted["colour"])
        and ("not_colour" not in wanted or colour != wanted["not_colour"])
        and ("state" not in wanted or thing.state in wanted["state"])
        and thing.state not in wanted.get("not_state", [])
    )


def _in_rows(scene: SearchScene, relation: str) -> Iterator[_Filled]:
    """Yield neighbors in rows whose description is that of no other thing."""
    names = _only(scene)
    for holder, row in scene.rows.items():
        for at, each in enumerate(row):
            before, after = row[max(at - 1, 0) : at], row[at + 1 : at + 2]
            fits = {"left_of": before, "right_of": after, "beside": before + after, "between": (each,)}[relation]
            if relation == "between" and before and after and {*before, *after} <= set(names):
                yield {"x": names[before[0]], "y": names[after[0]]}, frozenset(fits), holder
            elif relation != "between" and fits and each in names:
                yield {"x": names[each]}, frozenset(fits), holder


def _only(scene: SearchScene) -> dict[str, str]:
    """Return a description of each thing that is the only one of its type and color."""
    said = {
        each.id: f"{each.attributes['colour']} {spoken(each.object_type)}"
        for each in scene.graph.objects.values()
        if each.movable
    }
    every = list(said.values())
    return {name: text for name, text in said.items() if every.count(text) == 1}


def _far(scene: SearchScene, nearest: bool) -> Iterator[_Filled]:
    things = list(scene.graph.objects.values())
    for place in (each for each in things if not each.movable):
        for kind in dict.fromkeys(each.object_type for each in things if each.movable):
            far: dict[str, float] = {each.id: gap_m(each, place) for each in things if each.object_type == kind}
            best = min(far.values()) if nearest else max(far.values())
            fits = frozenset(name for name, gap in far.items() if abs(gap - best) < _TIE_M)
            if len(fits) < len(far):
                yield {"t": spoken(kind), "f": spoken(place.object_type)}, fits, ""
