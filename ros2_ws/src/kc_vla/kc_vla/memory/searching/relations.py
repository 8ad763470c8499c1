"""Known things that a reference identifies by others: "the mug left of the lamp", in sight or remembered.

Texts are read and poses are compared as in searches by text; the thing itself is named as in any other reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kc_vla.memory.asking.surroundings import HomeSurroundings
from kc_vla.memory.references.fits import Fit, fits
from kc_vla.memory.references.naming import Named, Namer
from kc_vla.memory.references.reference import Reference
from kc_vla.memory.references.spatial import Spatial, Viewpoint
from kc_vla.memory.searching.meaning import Meanings
from kc_vla.memory.searching.text_search import TextAnswer, TextMatch, TextSearch
from kc_vla.memory.searching.things_by_look import ThingsByLook
from kc_vla.memory.things import KnownThing

_EQUAL_M, _EQUAL_SHARE, _OTHER_SHARE = 0.05, 0.1, 1.0
"""How much farther from ideal a second thing may be to be meant as well: in m, as a share of that of the first, and as
a share where it stands so to another thing: nobody knows which of two plates is meant."""


@dataclass(frozen=True)
class RelatedThings:
    """What a reference with a relation means.

    Attributes:
        matches: the things that stand so, the best first; empty where none is known.
        rivals: those that are as good as the first one, with it; empty where it is the only one.
        note: which part is not known, where there are no matches.
    """

    matches: tuple[TextMatch, ...] = ()
    rivals: tuple[KnownThing, ...] = ()
    note: str = ""

    @property
    def best(self) -> TextMatch | None:
        """Return the best match; None where there is none."""
        return self.matches[0] if self.matches else None


class RelationSearch:
    """Finds things by how they stand to others."""

    def __init__(self, namer: Namer) -> None:
        """Search by what names mean.

        Args:
            namer: of a robot.
        """
        self._namer, self._search = namer, TextSearch(Meanings(namer.embedder, namer))

    def find(
        self, reference: Reference, things: Sequence[KnownThing], around: HomeSurroundings, loose: bool = False
    ) -> RelatedThings:
        """Return the things that stand to others as a reference says.

        Args:
            reference: with a relation.
            things: that are in sight or remembered, each once.
            around: the areas, and where the viewer stands.
            loose: also what only ends like the name: a butter knife for a knife.

        Raises:
            GraphError: the relation needs a viewpoint, or others, that are not known.
        """
        bare = reference.bare
        named = self._namer.named(bare, (each.object_type for each in things), loose) if bare.words else None
        answer = self._find(bare, reference, named, things, around)
        return RelatedThings(answer.matches, _rivals(reference, answer.matches), answer.note)

    def _find(
        self,
        bare: Reference,
        reference: Reference,
        named: Named | None,
        things: Sequence[KnownThing],
        around: HomeSurroundings,
    ) -> TextAnswer:
        assert reference.relation is not None

        def wanted(thing: KnownThing) -> bool:
            return (thing.movable or not bare.carried) and (named is None or fits(bare, named, thing) > Fit.NO)

        here = around.areas.get(around.at)
        viewpoint = None if here is None else Viewpoint(here.position)
        return self._search.find_related(ThingsByLook(things), around, reference.relation, viewpoint, wanted)


def _rivals(reference: Reference, matches: Sequence[TextMatch]) -> tuple[KnownThing, ...]:
    """Return the things that are meant as well as the first one, with it; none where any will do."""
    if len(matches) < 2 or reference.indefinite or reference.relation is None:
        return ()
    first = matches[0]
    as_good = [each.thing for each in matches if each.fit is first.fit and each.far_m <= _bound(first, each, reference)]
    return tuple(as_good) if len(as_good) > 1 else ()


def _bound(first: TextMatch, other: TextMatch, reference: Reference) -> float:
    assert reference.relation is not None
    same = first.to == other.to or reference.relation.relation in (Spatial.NEAREST, Spatial.FARTHEST)
    return first.far_m + max(_EQUAL_M, abs(first.far_m) * (_EQUAL_SHARE if same else _OTHER_SHARE))
