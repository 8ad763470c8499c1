"""Draws from a seed what a second hand moves in a kitchen, and an instruction that depends on how things stood before.

Positions are in the frame of the arm's base, m.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

import numpy as np

from kc_vla_sim.kitchen.errands import GRASPED_WIDTH, spot_in
from kc_vla_sim.kitchen.footprints import Footprint
from kc_vla_sim.kitchen.kinds import KINDS, SINK, TRAY, WORKTOP, ThingKind
from kc_vla_sim.kitchen.layout import REACH, draw_layout
from kc_vla_sim.kitchen.placed import KitchenLayout, PlacedThing

T = TypeVar("T")
HOLDERS = (TRAY, SINK, WORKTOP)
"""Where a thing is put; each is seen by the cameras and reached by the arm."""
_IN_WORDS = {TRAY: "onto the tray", SINK: "into the sink", WORKTOP: "onto the worktop"}
_RELATIONS = {TRAY: "on", SINK: "in", WORKTOP: "on"}
_HEIGHTS = (0.04, 0.12)
"""What is flatter is hard to take, and what is taller tips over, m."""
_SCALES = (0.92, 1.0)
"""Things are so much smaller than usual."""
_CLEARANCE = 0.05
"""Around a thing on the worktop, for the fingers, m."""
_FROM_FURNITURE = 0.06
"""From the middle of the row to what stands behind it, for the hand, m."""
_ROW_X, _ROW_Y, _ROW_APART = (0.34, 0.4), (-0.12, 0.12), (0.13, 0.16)
_RING, _ANGLES = (0.36, 0.5), (-1.2, 1.2)
_MOVED = 0.1
"""A thing is moved at least so far, m."""
_TRIES, _DRAWS = 200, 12
_STREAM = 0x6265666F
"""Beside the episode's seed, what seeds a rearrangement."""


class RearrangementKind(StrEnum):
    """What an instruction depends on."""

    BACK = "back"
    """Where a thing was: it is to go back there."""
    MIDDLE = "middle"
    """Which of three equal things was in the middle of their row."""
    ORDER = "order"
    """Which of three equal things was moved first, or last."""


@dataclass(frozen=True)
class HandMove:
    """What the second hand does once.

    Attributes:
        thing_id: what it takes.
        position: where the middle of the thing is in the end, m.
        turn: by which it is turned about the vertical, rad.
    """

    thing_id: str
    position: tuple[float, float, float]
    turn: float = 0.0


@dataclass(frozen=True, eq=False)
class Rearrangement:
    """An episode: a kitchen, what a second hand does in it, and what the arm is to do then.

    Attributes:
        seed: of the episode.
        kind: what the instruction depends on.
        layout: of the kitchen, before anything is moved.
        moves: of the second hand, one after the other.
        instruction: that depends on how things stood before.
        guess: an instruction without that, for a robot that does not know: of a thing any one will do.
        thing_id: that is to be moved.
        place: where it is to be then: "on tray".
        candidates: ids of the things that could be meant.
    """

    seed: int
    kind: RearrangementKind
    layout: KitchenLayout
    moves: tuple[HandMove, ...]
    instruction: str
    guess: str
    thing_id: str
    place: str
    candidates: tuple[str, ...]


class NoRoomError(Exception):
    """A kitchen has no room for what was drawn; another draw may."""


def draw_rearrangement(seed: int, kind: RearrangementKind, reach: float = REACH) -> Rearrangement:
    """Draw an episode of a kind; the same seed and kind give the same one.

    Args:
        seed: of the episode and of its kitchen.
        kind: what the instruction depends on.
        reach: of the arm, m.

    Raises:
        NoRoomError: there is none, after many draws.
    """
    kitchen = draw_layout(seed, reach)
    chance = np.random.default_rng((_STREAM, seed, list(RearrangementKind).index(kind)))
    easy = [each for each in KINDS.values() if _is_easy(each)]
    for number in chance.permutation(len(easy)).tolist():
        for _ in range(_DRAWS):
            try:
                return _DRAWN[kind](_Draw(seed, chance, kitchen, easy[number]))
            except NoRoomError:
                continue
    raise NoRoomError(f"the kitchen of seed {seed} has no room for an episode '{kind}'")


class _Draw:
    """One draw of an episode, which may fail for want of room."""

    def __init__(self, seed: int, chance: np.random.Generator, kitchen: KitchenLayout, kind: ThingKind) -> None:
        self.seed, self.chance, self.kind = seed, chance, kind
        shut = (replace(each, openings=dict.fromkeys(each.openings, 0.0)) for each in kitchen.furniture)
        self.furniture = tuple(shut)
        self.things = [
            each for each in kitchen.things if each.kind is not self.kind and each.holder not in (WORKTOP, TRAY, SINK)
        ]
        self.others = [each for each in kitchen.things if each.kind is not self.kind and each.holder == WORKTOP]
        self.reach = kitchen.reach
        self._blocked = [each.footprint.grown(_FROM_FURNITURE) for each in self.furniture]
        self._in: dict[str, list[Footprint]] = {TRAY: [], SINK: []}

    def pick(self, some: Sequence[T]) -> T:
        """Return one of some."""
        return some[int(self.chance.integers(len(some)))]

    def thing(self, number: int, kind: ThingKind | None = None, yaw: float = 0.0) -> PlacedThing:
        """Return a thing that has no place yet."""
        kind = kind or self.kind
        colour, scale = str(self.pick(kind.colours)), float(self.chance.uniform(*_SCALES))
        name = f"{kind.name}_{number}"
        return PlacedThing(name, kind, colour, kind.states[0], scale, 0.0, 0.0, 0.0, yaw, "on", WORKTOP)

    def on_worktop(self, thing: PlacedThing) -> tuple[float, float, float]:
        """Return a free place on the worktop, where nothing else will be put."""
        for _ in range(_TRIES):
            distance, angle = self.chance.uniform(*_RING), self.chance.uniform(*_ANGLES)
            try:
                return self.take(thing, float(distance * np.cos(angle)), float(distance * np.sin(angle)))
            except NoRoomError:
                continue
        raise NoRoomError

    def take(self, thing: PlacedThing, x: float, y: float) -> tuple[float, float, float]:
        """Return the place of a thing on the worktop at a point, where nothing else will be put."""
        length, width, height = thing.body.size
        spot = Footprint(x, y, length, width, thing.yaw)
        far = np.linalg.norm(spot.corners, axis=1).max() < self.reach
        if not far or spot.grown(_CLEARANCE).overlaps_any(self._blocked):
            raise NoRoomError
        self._blocked.append(spot)
        return x, y, height / 2

    def inside(self, thing: PlacedThing, holder: str) -> tuple[tuple[float, float, float], float]:
        """Return a free place in what is hollow, and the yaw of the thing there."""
        placed = next(each for each in self.furniture if each.furniture.name == holder)
        space = next(each for each in placed.furniture.spaces if each.holder == holder)
        taken = [each.grown(_CLEARANCE) for each in self._in[holder]]
        spot = spot_in(space, thing.body.size, taken, int(self.chance.integers(1 << 31)))
        if spot is None:
            raise NoRoomError
        self._in[holder].append(spot)
        return (*placed.point(spot.x, spot.y), space.low[2] + thing.body.size[2] / 2), placed.yaw + spot.yaw

    def placed(self, thing: PlacedThing, position: tuple[float, float, float], holder: str, yaw: float) -> PlacedThing:
        """Return a thing in its place, which is part of the kitchen from then on."""
        x, y, z = position
        found = replace(thing, x=x, y=y, z=z, yaw=yaw, relation=_RELATIONS[holder], holder=holder)
        self.things.append(found)
        return found

    def layout(self) -> KitchenLayout:
        """Return the kitchen, with those of its own things on the worktop that are in nobody's way."""
        for each in self.others:
            if not each.footprint.grown(_CLEARANCE).overlaps_any(self._blocked):
                self.things.append(each)
        return KitchenLayout(self.furniture, tuple(self.things), self.reach)

    def row(self) -> list[PlacedThing]:
        """Return three things in a row ahead of the arm, from right to left; their numbers are dealt by chance."""
        x, y, apart = (float(self.chance.uniform(*each)) for each in (_ROW_X, _ROW_Y, _ROW_APART))
        numbers = self.chance.permutation([1, 2, 3])
        found = []
        for number, side in zip(numbers.tolist(), (-1, 0, 1), strict=True):
            thing = self.thing(number)
            shift = self.chance.uniform(-0.008, 0.008, 2)
            at = self.take(thing, x + float(shift[0]), y + side * apart + float(shift[1]))
            found.append(self.placed(thing, at, WORKTOP, thing.yaw))
        return found


def _back(draw: _Draw) -> Rearrangement:
    """Draw an episode in which a thing goes to another holder, half of the times over a third one."""
    first, *after = (HOLDERS[each] for each in draw.chance.permutation(3).tolist())
    way = [first, *(after if draw.chance.random() < 0.5 else after[:1])]
    thing = draw.thing(1)
    places = [
        (draw.on_worktop(thing), thing.yaw) if holder == WORKTOP else draw.inside(thing, holder) for holder in way
    ]
    placed = draw.placed(thing, places[0][0], first, places[0][1])
    yaws = [yaw for _, yaw in places]
    moves = [
        HandMove(placed.thing_id, place, yaw - before)
        for (place, yaw), before in zip(places[1:], yaws[:-1], strict=True)
    ]
    other = draw.thing(1, draw.pick([each for each in KINDS.values() if _is_easy(each) and each is not draw.kind]))
    beside = draw.placed(other, draw.on_worktop(other), WORKTOP, other.yaw)
    draw.things = [each for each in draw.things if each.kind is not beside.kind or each is beside]
    draw.others = [each for each in draw.others if each.kind is not beside.kind]
    moves.insert(int(draw.chance.integers(len(moves) + 1)), HandMove(beside.thing_id, draw.on_worktop(beside)))
    left = [each for each in HOLDERS if each != way[-1]]
    name = draw.kind.name.replace("_", " ")
    when = " at the start" if len(way) > 2 else ""
    return Rearrangement(
        draw.seed,
        RearrangementKind.BACK,
        draw.layout(),
        tuple(moves),
        f"put the {name} back where it was{when}",
        f"put the {name} {_IN_WORDS[draw.pick(left)]}",
        placed.thing_id,
        f"{_RELATIONS[first]} {first}",
        (placed.thing_id,),
    )


def _middle(draw: _Draw) -> Rearrangement:
    """Draw an episode in which two of three equal things change places."""
    row = draw.row()
    middle, (one, other) = row[1], (row[each] for each in draw.chance.permutation(3)[:2].tolist())
    aside = draw.on_worktop(one)
    moves = (
        HandMove(one.thing_id, aside),
        HandMove(other.thing_id, (one.x, one.y, other.z)),
        HandMove(one.thing_id, (other.x, other.y, one.z)),
    )
    return _to_holder(draw, RearrangementKind.MIDDLE, row, moves, "in the middle before someone moved them", middle)


def _order(draw: _Draw) -> Rearrangement:
    """Draw an episode in which two of three equal things are moved one after the other."""
    row = draw.row()
    moved = [row[each] for each in draw.chance.permutation(3)[:2].tolist()]
    moves = tuple(HandMove(each.thing_id, draw.on_worktop(each)) for each in moved)
    last = bool(draw.chance.random() < 0.5)
    return _to_holder(draw, RearrangementKind.ORDER, row, moves, f"moved {'last' if last else 'first'}", moved[last])


def _to_holder(
    draw: _Draw,
    kind: RearrangementKind,
    row: Sequence[PlacedThing],
    moves: tuple[HandMove, ...],
    words: str,
    meant: PlacedThing,
) -> Rearrangement:
    """Return the episode in which one of equal things is to be put onto the tray or into the sink."""
    holder, name = draw.pick((TRAY, SINK)), draw.kind.name.replace("_", " ")
    where = _IN_WORDS[holder]
    return Rearrangement(
        draw.seed,
        kind,
        draw.layout(),
        moves,
        f"put the {name} that was {words} {where}",
        f"put the {name} {where}",
        meant.thing_id,
        f"{_RELATIONS[holder]} {holder}",
        tuple(sorted(each.thing_id for each in row)),
    )


_DRAWN: dict[RearrangementKind, Callable[[_Draw], Rearrangement]] = {
    RearrangementKind.BACK: _back,
    RearrangementKind.MIDDLE: _middle,
    RearrangementKind.ORDER: _order,
}


def _is_easy(kind: ThingKind) -> bool:
    """Return whether the arm gets around things of a kind, and they stand."""
    length, width, height = kind.size(kind.colours[0], kind.states[0], _SCALES[1])
    stands = min(length, width) < GRASPED_WIDTH and _HEIGHTS[0] < height < _HEIGHTS[1]
    return kind.graspable and TRAY in kind.places and stands


def rearrangements_from(first: int, count: int) -> Iterator[tuple[int, RearrangementKind]]:
    """Yield seed and kind of so many episodes, the kinds in turn; a kitchen without room is left out.

    Args:
        first: seed of the first episode.
        count: of the episodes.
    """
    kinds = list(RearrangementKind)
    seed, found = first, 0
    while found < count:
        kind = kinds[found % len(kinds)]
        try:
            draw_rearrangement(seed, kind)
        except NoRoomError:
            seed += 1
            continue
        yield seed, kind
        seed, found = seed + 1, found + 1
