"""Compares what a memory holds with what is in the kitchen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linear_sum_assignment

from kc_vla_sim.kitchen.perceiving.remembering import RememberedObject

Vector = tuple[float, float, float]
AT_ITS_PLACE_M = 0.03
"""So near to its place an object is remembered rightly."""
BELIEVED = 0.5
"""A memory claims what it holds with at least this confidence."""
_NEAR_M = 0.15
"""What is no further from an object can be meant as that object."""
_FAR = 1e6


@dataclass(frozen=True)
class TrueObject:
    """An object of the kitchen at the end.

    Attributes:
        object_id: of the simulator.
        object_type: class.
        state: as it is.
        position: of its middle, m, in the frame of the robot's base.
        place: what it is in or on, e.g. "in drawer_1".
        movable: it is a thing, and no furniture.
        seen: images that showed it well.
        as_seen: it is, and is at the place, as when an image showed it well last.
    """

    object_id: str
    object_type: str
    state: str
    position: Vector
    place: str
    movable: bool
    seen: int
    as_seen: bool


@dataclass
class MemoryVerdict:
    """What is right and wrong in a memory.

    Attributes:
        asked: ids of the objects that it has to know: seen well, and as they were seen.
        right: of these, those at their place with their type and state.
        elsewhere, other_type, other_state, missing: the others, by what is wrong first.
        claims: how many objects it claims.
        ghosts: of these, what is nowhere: no object of the kitchen is there, or another claim means the same one.
        errors_m: distance from its place of each object that it has.
    """

    asked: list[str] = field(default_factory=list)
    right: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    other_type: list[str] = field(default_factory=list)
    other_state: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    claims: int = 0
    ghosts: list[str] = field(default_factory=list)
    errors_m: list[float] = field(default_factory=list)


def judge(truth: Sequence[TrueObject], held: Sequence[RememberedObject], movable: bool) -> MemoryVerdict:
    """Return what is right and wrong in a memory of the things, or of the furniture, of a kitchen.

    What a memory claims is matched with all objects first, those of the same type before others, each with one.
    """
    claims = [each for each in held if each.confidence >= BELIEVED]
    meant = _matched(truth, claims)
    verdict = MemoryVerdict()
    for number, each in enumerate(truth):
        if each.movable == movable and each.seen and each.as_seen:
            verdict.asked.append(each.object_id)
            _judge_one(verdict, each, claims[meant[number]] if number in meant else None)
    things = {each.object_type for each in truth if each.movable == movable}
    left = set(range(len(claims))) - set(meant.values())
    own = [number for number, each in enumerate(claims) if each.object_type in things]
    verdict.claims = len(own)
    verdict.ghosts = [claims[number].object_id for number in own if number in left]
    return verdict


def _judge_one(verdict: MemoryVerdict, true: TrueObject, claim: RememberedObject | None) -> None:
    if claim is None:
        verdict.missing.append(true.object_id)
        return
    error_m = float(np.linalg.norm(np.subtract(true.position, claim.position)))
    verdict.errors_m.append(error_m)
    if error_m > AT_ITS_PLACE_M:
        verdict.elsewhere.append(true.object_id)
    elif claim.object_type != true.object_type:
        verdict.other_type.append(true.object_id)
    elif true.state and claim.state != true.state:
        verdict.other_state.append(true.object_id)
    else:
        verdict.right.append(true.object_id)


def _matched(truth: Sequence[TrueObject], claims: Sequence[RememberedObject]) -> dict[int, int]:
    """Return which claim means which object, by their numbers."""
    if not truth or not claims:
        return {}
    gaps = np.linalg.norm(
        np.array([each.position for each in truth])[:, None] - np.array([each.position for each in claims]), axis=2
    )
    alike = np.array([[each.object_type == claim.object_type for claim in claims] for each in truth])
    costs = np.where(gaps > _NEAR_M, _FAR, gaps + np.where(alike, 0.0, _NEAR_M))
    rows, columns = linear_sum_assignment(costs)
    return {int(row): int(column) for row, column in zip(rows, columns, strict=True) if costs[row, column] < _FAR}


def claims_near(held: Sequence[RememberedObject], object_type: str, position: Vector) -> Iterator[RememberedObject]:
    """Yield what a memory claims of a type at a place."""
    for each in held:
        gap = float(np.linalg.norm(np.subtract(each.position, position)))
        if each.confidence >= BELIEVED and each.object_type == object_type and gap <= AT_ITS_PLACE_M:
            yield each
