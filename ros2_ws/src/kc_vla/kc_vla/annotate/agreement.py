"""How far the annotations of several people agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from kc_vla.episodes.annotation_log import Mark, Track


@dataclass(frozen=True)
class AuthorPair:
    """Two people's keyframes of one bag.

    Attributes:
        authors: who.
        same: keyframes of the same phase, at most `within` frames apart.
        apart: phases that both have, further apart than that.
        only: phases that only one of them has.
        furthest: of the phases that both have, frames; 0 where there is none.
    """

    authors: tuple[str, str]
    same: int
    apart: tuple[int, ...]
    only: tuple[int, ...]
    furthest: int

    @property
    def share(self) -> float:
        """Return the share of agreed phases among all that either person has, 0..1; it is 1 where there is none."""
        all_of_them = self.same + len(self.apart) + len(self.only)
        return self.same / all_of_them if all_of_them else 1.0


def agreement(tracks: Mapping[str, Track], within: int) -> list[AuthorPair]:
    """Compare every two people, frame 0 aside, which nobody chooses."""
    authors = sorted(tracks)
    return [_pair((a, b), tracks[a].marks, tracks[b].marks, within) for a, b in combinations(authors, 2)]


def _pair(authors: tuple[str, str], first: Sequence[Mark], second: Sequence[Mark], within: int) -> AuthorPair:
    one, other = ({mark.phase: mark.frame for mark in marks if mark.frame > 0} for marks in (first, second))
    both = sorted(one.keys() & other.keys())
    distances = {phase: abs(one[phase] - other[phase]) for phase in both}
    return AuthorPair(
        authors,
        sum(distance <= within for distance in distances.values()),
        tuple(phase for phase in both if distances[phase] > within),
        tuple(sorted(one.keys() ^ other.keys())),
        max(distances.values(), default=0),
    )
