"""Known things that a text means, the best first, with how sure that is; none where nothing fits.

A text is taken apart into a name, states, colors, what is not meant, a purpose and a relation to other things.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from kc_vla.memory.floors import without_floor
from kc_vla.memory.long_term.errors import GraphError, told
from kc_vla.memory.long_term.nodes import Vector
from kc_vla.memory.references.fits import Fit, fits
from kc_vla.memory.references.spatial import Spatial, Viewpoint, measured
from kc_vla.memory.references.spatial_phrases import SpatialPhrase, read_relation
from kc_vla.memory.searching.meaning import Meaning, Meanings
from kc_vla.memory.searching.sureness import Evidence, confidence_of
from kc_vla.memory.searching.things_by_look import ThingsByLook
from kc_vla.memory.things import KnownThing

ROBOT = "robot"
"""What a text calls the viewpoint of the one who is asked."""
_DEPTH = 3
"""Relations within one another that are followed: "the cup next to the plate on the table" has two."""
_YES, _MAYBE, _FALL = 0.5, 0.45, 0.1
"""Least score of what fits; most of what may fit; by how much the score falls from one to the next by a relation."""
_RELATED_SURE = 0.9
"""Share of the related things that are the meant ones, where both the things and the others are sure."""


class NamedAreas(Protocol):
    """Places with names: areas and floors."""

    def members(self, name: str) -> frozenset[str] | None:
        """Return the ids of the areas that are called so; None if none is.

        Raises:
            GraphError: the words are for a floor that there is not.
        """
        ...

    def middle(self, name: str) -> Vector | None:
        """Return the middle of the area that is called so, m; None if none is."""
        ...


@dataclass(frozen=True)
class TextMatch:
    """A thing that a text may mean.

    Attributes:
        thing: that is known.
        fit: whether all that is asked for is known of it.
        score: how well it fits, above 0 and up to 1; at least 0.5 where it fits.
        far_m: how far it is from ideal for the relation of the text, m; 0 without one.
        to: ids of what it stands so to; empty without a relation, and for one to the viewer.
    """

    thing: KnownThing
    fit: Fit
    score: float
    far_m: float = 0.0
    to: tuple[str, ...] = ()


@dataclass(frozen=True)
class TextAnswer:
    """What a text means.

    Attributes:
        matches: the best first; empty where nothing fits.
        confidence: share of the answers this sure whose first thing is meant, 0..1.
        note: which part of a relation is not known, where nothing fits for that; else empty.
    """

    matches: tuple[TextMatch, ...] = ()
    confidence: float = 0.0
    note: str = ""


@dataclass(frozen=True)
class _Asker:
    """What a text is compared with."""

    things: ThingsByLook
    places: NamedAreas
    viewpoint: Viewpoint | str | None
    wanted: Callable[[KnownThing], bool] | None = None


class TextSearch:
    """Finds known things by text."""

    def __init__(self, meanings: Meanings) -> None:
        """Search by what names mean.

        Args:
            meanings: finds the types that a text names.
        """
        self._meanings = meanings

    def find(
        self, things: ThingsByLook, places: NamedAreas, text: str, viewpoint: Viewpoint | str | None = None
    ) -> TextAnswer:
        """Return the things that a text means.

        Args:
            things: that are known.
            places: areas that a text may name.
            text: the description.
            viewpoint: where one looks from: a pose, or the id or name of a thing or an area.

        Raises:
            GraphError: the text needs a viewpoint that is not given or not known, or a relation needs more things, or
                it names a floor that there is not.
        """
        return self._find(_Asker(things, places, viewpoint), text, _DEPTH)

    def find_related(
        self,
        things: ThingsByLook,
        places: NamedAreas,
        phrase: SpatialPhrase,
        viewpoint: Viewpoint | None,
        wanted: Callable[[KnownThing], bool],
    ) -> TextAnswer:
        """Return the things that stand in a relation; see `find`.

        Args:
            things: that are known.
            places: areas that the phrase may name.
            phrase: with a relation.
            viewpoint: where one looks from.
            wanted: whether a thing may be what is asked for, whatever the others are.

        Raises:
            GraphError: see `find`.
        """
        return self._related(_Asker(things, places, viewpoint, wanted), phrase, _DEPTH)

    def _find(self, asker: _Asker, text: str, depth: int) -> TextAnswer:
        if (thing := _with_id(asker.things, text)) is not None:
            return TextAnswer((TextMatch(thing, Fit.YES, 1.0),), 1.0)
        phrase = read_relation(text) if depth else SpatialPhrase(text)
        if phrase.relation is None:
            return self._plain(asker, phrase.thing)
        if self._meanings.is_whole_name(text, asker.things.types):  # a thing may be called "left shoe rack by the door"
            return self._plain(asker, text)
        return self._related(asker, phrase, depth)

    def _plain(self, asker: _Asker, text: str) -> TextAnswer:
        """Return what fits a text without a relation."""
        rest, floor = without_floor(text)
        on = asker.places.members(floor) if floor and rest else None
        meaning = self._meanings.of(text if on is None else rest, asker.things.types)
        found = [
            TextMatch(thing, fit, _score(fit, meaning, thing.object_type))
            for name in meaning.named.types
            for group in asker.things.groups(name)
            if (fit := fits(meaning.reference, meaning.named, next(iter(group.values())))) is not Fit.NO
            for thing in group.values()
            if on is None or thing.area in on
        ]
        if not found:
            return TextAnswer()
        found.sort(key=lambda each: (-each.score, -each.thing.confidence, each.thing.object_id))
        sure = confidence_of(Evidence(meaning.how, found[0].fit, meaning.score, meaning.lead))
        return TextAnswer(tuple(found), sure)

    def _related(self, asker: _Asker, phrase: SpatialPhrase, depth: int) -> TextAnswer:
        assert phrase.relation is not None
        wanted, asker = asker.wanted, replace(asker, wanted=None)
        answer = self._find(asker, phrase.thing, depth - 1)
        if wanted is not None:
            answer = replace(answer, matches=tuple(each for each in answer.matches if wanted(each.thing)))
        if not answer.matches:
            return replace(answer, note=answer.note or f"nothing is known that fits {told(phrase.thing)}")
        inside = self._in_area(asker, phrase)
        if inside is not None:
            kept = tuple(each for each in answer.matches if each.thing.area in inside)
            return replace(answer, matches=kept, confidence=answer.confidence if kept else 0.0)
        others, sure = [], answer.confidence
        for text in phrase.others:
            found = self._others(asker, text, depth)
            if not found.matches:
                return TextAnswer(note=found.note or f"nothing is known that fits {told(text)}")
            best = found.matches[0].fit
            others += [each.thing for each in found.matches if each.fit is best]
            sure *= found.confidence
        viewpoint = self._viewpoint(asker, phrase, depth)
        return self._ordered(asker, phrase.relation, answer.matches, others, viewpoint, sure)

    def _others(self, asker: _Asker, text: str, depth: int) -> TextAnswer:
        middle = asker.places.middle(text)
        found = self._find(asker, text, depth - 1)
        if found.matches or middle is None:
            return found
        return TextAnswer((TextMatch(KnownThing("area", text, middle, ""), Fit.YES, 1.0),), 1.0)

    def _in_area(self, asker: _Asker, phrase: SpatialPhrase) -> frozenset[str] | None:
        """Return the areas that something is said to be in; None where it is in no area that is known."""
        if phrase.relation not in (Spatial.IN, Spatial.ON):
            return None
        return asker.places.members(phrase.others[0])

    def _viewpoint(self, asker: _Asker, phrase: SpatialPhrase, depth: int) -> Viewpoint | None:
        named = phrase.viewpoint if phrase.viewpoint not in ("", ROBOT) else asker.viewpoint
        if named is None or isinstance(named, Viewpoint):
            return named
        middle = asker.places.middle(named)
        if middle is None:
            found = self._find(replace(asker, viewpoint=None), named, depth - 1).matches
            if not found:
                raise GraphError(f"no viewpoint {told(named)} is known: name a thing or an area of the map")
            middle = found[0].thing.position
        return Viewpoint(middle)

    def _ordered(
        self,
        asker: _Asker,
        relation: Spatial,
        matches: Sequence[TextMatch],
        others: Sequence[KnownThing],
        viewpoint: Viewpoint | None,
        sure: float,
    ) -> TextAnswer:
        fit = {each.thing.object_id: each.fit for each in matches}
        holders = (
            [] if len(fit) == len(asker.things) else _holders(asker.things, [each.thing for each in matches], others)
        )
        found = measured([*(each.thing for each in matches), *holders], relation, others, viewpoint)
        found = [each for each in found if each.thing.object_id in fit]
        found.sort(key=lambda each: -fit[each.thing.object_id])  # those that stand in order stay so
        if not found:
            return TextAnswer(note=f"nothing that fits is {relation.value} that")
        scored = (
            TextMatch(
                each.thing,
                fit[each.thing.object_id],
                (_YES if fit[each.thing.object_id] is Fit.YES else 0.0) + _MAYBE / (1 + _FALL * at),
                each.far_m,
                each.to,
            )
            for at, each in enumerate(found)
        )
        return TextAnswer(tuple(scored), sure * _RELATED_SURE)


def _score(fit: Fit, meaning: Meaning, object_type: str) -> float:
    """Return a score above 0, up to 1: all that fits has a higher one than what may fit."""
    share = 1 / (1 + max(meaning.best - meaning.named.types[object_type], 0.0))
    return _YES + (1 - _YES) * share if fit is Fit.YES else _MAYBE * share


def _with_id(things: ThingsByLook, text: str) -> KnownThing | None:
    """Return the thing whose id a text is, in capitals or not."""
    if (thing := things.get(text)) is not None or "_" not in text:
        return thing
    return next((each for each in things if each.object_id.lower() == text.lower()), None)


def _holders(things: ThingsByLook, found: Sequence[KnownThing], others: Sequence[KnownThing]) -> list[KnownThing]:
    """Return what the found things are on or in, and what that is on or in, which tells what they are in."""
    known: Mapping[str, KnownThing] = {each.object_id: each for each in (*found, *others)}
    new: dict[str, KnownThing] = {}
    todo = [each.container for each in (*found, *others)]
    while todo:
        name = todo.pop()
        if name and name not in known and name not in new and (holder := things.get(name)) is not None:
            new[name] = holder
            todo.append(holder.container)
    return list(new.values())
