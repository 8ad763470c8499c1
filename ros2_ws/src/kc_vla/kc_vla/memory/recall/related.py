"""Units that stand in a relation to others: "the thing left of the blue mug" is not the mug."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from kc_vla.memory.long_term.errors import GraphError
from kc_vla.memory.long_term.relations import told_place
from kc_vla.memory.recall.described import Described
from kc_vla.memory.recall.instruction import understand
from kc_vla.memory.references.spatial import DIRECTIONAL, REACH_M, Spatial, Viewpoint, related
from kc_vla.memory.references.spatial_phrases import SpatialPhrase, relation_of
from kc_vla.memory.short_term.unit import Unit
from kc_vla.memory.things import KnownThing

PLAUSIBLE = 0.3
"""A unit whose score is so much below the best one is not what has the relation."""
CALLED_SO = frozenset({Described.SO, Described.UNTOLD})
RELATED, NO_VIEWPOINT = 0.95, 0.5
"""Share of answers whose first thing has the relation that a person means; and where it is not known from where one
looks, so that the nearest thing is taken."""


@lru_cache(maxsize=1024)
def relation_in(text: str) -> SpatialPhrase | None:
    """Return the relation in an instruction that is computed from poses; None where there is none.

    Where something shall be brought, is no relation that it has: "put the mug next to the sink".
    """
    return relation_of(understand(text).meaning)


def in_relation(
    units: Sequence[Unit], phrase: SpatialPhrase, others: Sequence[Unit], viewpoint: Viewpoint | None
) -> tuple[list[Unit], str]:
    """Return the units that stand in a relation to others, the best first, and what was taken for granted, in words.

    Without a viewpoint the nearest things are returned for a relation that needs one.

    Args:
        units: to choose from.
        phrase: with a relation.
        others: that it is to, in the frame of the first of them.
        viewpoint: where one looks from.
    """
    assert phrase.relation is not None
    frame = (others or units)[0].position.frame
    by_id = {each.object_id: each for each in units if each.position.frame == frame}
    things = [_known(each) for each in by_id.values()]
    known = [_known(each) for each in others if each.position.frame == frame]
    relation, note = phrase.relation, ""
    if relation in DIRECTIONAL and viewpoint is None:
        note = f"{relation.value!r} depends on where one looks from, which is not known: the nearest is taken"
        if not known:
            return [], note
        relation = Spatial.NEAREST
        things = [each for each in things if _close(each, known)]
    try:
        found = related(things, relation, known, viewpoint)
    except GraphError as error:  # of "between" there is but one, or nobody says what it is nearest to
        return [], str(error)
    return [by_id[each.object_id] for each in found], note


def _close(thing: KnownThing, others: Sequence[KnownThing]) -> bool:
    return any(
        sum((a - b) ** 2 for a, b in zip(thing.position, one.position, strict=True)) <= REACH_M**2 for one in others
    )


def _known(unit: Unit) -> KnownThing:
    relation, container = told_place(unit.attributes) or ("", "")
    x, y, z, _ = unit.position
    return KnownThing(
        unit.object_type,
        unit.object_id,
        (x, y, z),
        unit.area,
        container=container,
        relation=relation,
        seen_s=unit.stamp,
    )
