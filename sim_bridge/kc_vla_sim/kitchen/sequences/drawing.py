"""Draws a sequence of instructions from what is in a kitchen: the same seed has the same sequence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kc_vla_sim.kitchen.errands import GRASPED_WIDTH
from kc_vla_sim.kitchen.footprints import Footprint
from kc_vla_sim.kitchen.furniture import StorageSpace
from kc_vla_sim.kitchen.layout import draw_layout
from kc_vla_sim.kitchen.placed import KitchenLayout, PlacedFurniture, PlacedThing
from kc_vla_sim.kitchen.sequences.goals import KitchenGoal, PlaceGoal
from kc_vla_sim.kitchen.sequences.hand_room import hand_has_room
from kc_vla_sim.kitchen.sequences.targets import DRAWER_TARGET, HIDING, TAKEN_FROM, TARGETS, PutTarget
from kc_vla_sim.kitchen.sequences.wording import VAGUE_NAMES, InstructionWords, VagueName

SIMPLE, COMPOSITE, COMPLEX = KINDS_OF_INSTRUCTIONS = ("simple", "composite", "complex")
FEWEST, MOST = 3, 6
"""Instructions of one sequence."""
_STREAM = 0x73657175
"""Beside the seed of the kitchen, what seeds its sequence."""
_NEAR, _FAR = 0.30, 0.66
"""Distances from the base's axis between which instructions are about things on the worktop, m."""
_OFTEN_NEEDED, _OFTEN_STORED, _OFTEN_BEFORE, _OFTEN_BOTH = 0.6, 0.7, 0.7, 0.3
_AROUND = 0.03
"""A place has room for a thing where so much more is free along each side of it, m."""
_GRID = 0.01
"""Between two places that are tried, m."""
_MOST_USES = 2
"""So often a thing is spoken of by its name in one sequence."""


@dataclass(frozen=True)
class KitchenInstruction:
    """An instruction, and when it is done.

    Attributes:
        text: for the robot.
        kind: of `KINDS_OF_INSTRUCTIONS`.
        goals: that hold afterwards.
        hidden: something that it is about is in a drawer that was closed at the beginning, or that the robot closed.
        again: something that it is about was put away by the robot before.
        things: how many it has to move.
    """

    text: str
    kind: str
    goals: tuple[KitchenGoal, ...]
    hidden: bool = False
    again: bool = False
    things: int = 1


@dataclass(frozen=True)
class KitchenSequence:
    """The instructions for one kitchen.

    Attributes:
        seed: of the kitchen.
        instructions: one after the other.
    """

    seed: int
    instructions: tuple[KitchenInstruction, ...]


@dataclass(frozen=True)
class _Move:
    """A thing that is to be put somewhere: its name and its ids, by which it can be meant."""

    words: str
    ids: frozenset[str]
    target: PutTarget
    hidden: bool
    again: bool
    named: bool = True

    @property
    def goal(self) -> KitchenGoal:
        return PlaceGoal(self.ids, self.target.places)


def draw_sequence(seed: int) -> KitchenSequence:
    """Return the sequence of the kitchen with a seed."""
    return KitchenSequence(seed, tuple(_SequenceDraw(draw_layout(seed), seed).instructions()))


class _SequenceDraw:
    """Draws one sequence; keeps where things are if all instructions so far were done."""

    def __init__(self, layout: KitchenLayout, seed: int) -> None:
        self._chance = np.random.default_rng((_STREAM, seed))
        self._words = InstructionWords(self._chance)
        self._layout, self._seed = layout, seed
        self._place = {each.thing_id: f"{each.relation} {each.holder}" for each in layout.things}
        self._names = _names(layout.things)
        self._usable = [each for each in layout.things if each.thing_id in self._names and self._can_be_taken(each)]
        self._moved: dict[str, PutTarget] = {}
        self._room: dict[tuple[str, str], bool] = {}
        self._uses: Counter[str] = Counter()
        self._closed = {name for name in ("drawer_1",) if not any(_openings(layout, name))}

    def instructions(self) -> Iterator[KitchenInstruction]:
        """Yield the instructions; fewer where nothing is left that can be asked for."""
        count = int(self._chance.integers(FEWEST, MOST + 1))
        extra = self._chance.choice(KINDS_OF_INSTRUCTIONS, count - FEWEST).tolist()
        rest = [COMPOSITE, COMPLEX, *extra]
        kinds = [SIMPLE, *(rest[number] for number in self._chance.permutation(len(rest)))]
        for kind in kinds:
            made = {SIMPLE: self._simple, COMPOSITE: self._composite, COMPLEX: self._complex}[kind]()
            if made is not None:
                yield made

    def _simple(self) -> KitchenInstruction | None:
        move = self._next_move()
        return None if move is None else _instruction(self._words.put(move.words, move.target), SIMPLE, move)

    def _composite(self) -> KitchenInstruction | None:
        first = self._next_move()
        second = None if first is None else self._next_move(without=first.ids)
        if first is None or second is None:
            return None if first is None else _instruction(self._words.put(first.words, first.target), SIMPLE, first)
        if first.target == second.target:
            text = self._words.put_both(first.words, second.words, first.target)
        else:
            said = (self._words.put(each.words, each.target) for each in (first, second))
            text = self._words.joined(*said)
        return _instruction(text, COMPOSITE, first, second)

    def _complex(self) -> KitchenInstruction | None:
        move = (self._left_before() if self._chance.random() < _OFTEN_BEFORE else None) or self._vague()
        move = move or self._left_before()
        return None if move is None else _instruction(self._words.put(move.words, move.target, False), COMPLEX, move)

    def _next_move(self, without: frozenset[str] = frozenset()) -> _Move | None:
        """Draw a thing with a name and a place for it; what was put away is needed again rather often."""
        free = [
            each for each in self._usable if each.thing_id not in without and self._uses[each.thing_id] < _MOST_USES
        ]
        stored = [each for each in free if self._moved.get(each.thing_id) == DRAWER_TARGET]
        if stored and self._chance.random() < _OFTEN_NEEDED:
            return self._moved_by_name(stored, [each for each in TARGETS if not each.hides])
        if self._chance.random() < _OFTEN_STORED and (move := self._moved_by_name(free, [DRAWER_TARGET])) is not None:
            return move
        return self._moved_by_name(free, [each for each in TARGETS if not each.hides])

    def _moved_by_name(self, things: Sequence[PlacedThing], targets: Sequence[PutTarget]) -> _Move | None:
        pairs = [(each, target) for each in things for target in targets if self._fits(each, target)]
        if not pairs:
            return None
        thing, target = pairs[int(self._chance.integers(len(pairs)))]
        name = thing.thing_id
        self._uses[name] += 1
        return self._moved_to(f"the {self._names[name]}", frozenset({name}), target)

    def _left_before(self) -> _Move | None:
        """Draw a place for what the robot put into the drawer."""
        left = [name for name, target in self._moved.items() if target == DRAWER_TARGET]
        thing = next((each for each in self._usable if left[-1:] == [each.thing_id]), None)
        targets = [each for each in TARGETS if not each.hides and thing is not None and self._fits(thing, each)]
        if thing is None or not targets:
            return None
        target = targets[int(self._chance.integers(len(targets)))]
        return self._moved_to(self._words.left_before(DRAWER_TARGET), frozenset({thing.thing_id}), target, named=False)

    def _vague(self) -> _Move | None:
        """Draw something by what it is for, and a place where no such thing is."""
        pairs = [(name, target) for name in VAGUE_NAMES for target in TARGETS if self._can_serve(name, target)]
        if not pairs:
            return None
        name, target = pairs[int(self._chance.integers(len(pairs)))]
        serving = self._serving(name)
        self._usable = [each for each in self._usable if each.thing_id not in serving]  # nobody knows which one it is
        hidden = all(self._is_hidden(each) for each in serving if self._place[each] in TAKEN_FROM)
        self._moved |= {next(iter(sorted(serving))): target}
        return _Move(self._words.vague(name), serving, target, hidden, False, named=False)

    def _can_serve(self, name: VagueName, target: PutTarget) -> bool:
        serving = self._serving(name)
        fitting = [each for each in self._usable if each.thing_id in serving and self._fits(each, target)]
        return bool(fitting) and not any(self._place[each] in target.places for each in serving)

    def _serving(self, name: VagueName) -> frozenset[str]:
        return frozenset(each.thing_id for each in self._layout.things if each.kind.name in name.types)

    def _moved_to(self, words: str, ids: frozenset[str], target: PutTarget, named: bool = True) -> _Move:
        (name,) = ids
        hidden, again = self._is_hidden(name), name in self._moved
        self._place[name] = f"{target.relation} {target.holders[0]}"
        self._moved.pop(name, None)
        self._moved[name] = target
        if target.hides:
            self._closed.add(target.holders[0])
        return _Move(words, ids, target, hidden, again, named)

    def _is_hidden(self, name: str) -> bool:
        place = self._place[name]
        return place in HIDING and (place.partition(" ")[2] in self._closed or name in self._moved)

    def _can_be_taken(self, thing: PlacedThing) -> bool:
        size = thing.body.size
        near = thing.holder == "drawer_1" or _NEAR < float(np.hypot(thing.x, thing.y)) < _FAR
        at_hand = f"{thing.relation} {thing.holder}" in TAKEN_FROM
        can_be = thing.kind.graspable and min(size[:2]) < GRASPED_WIDTH and near and at_hand
        return can_be and hand_has_room(self._layout, thing)

    def _fits(self, thing: PlacedThing, target: PutTarget) -> bool:
        """Return whether a thing is elsewhere, and whether the place still has room for it."""
        if self._place[thing.thing_id] in target.places or list(self._moved.values()).count(target) >= target.most:
            return False
        if not target.meant:
            return True
        key = thing.thing_id, target.meant
        if key not in self._room:
            self._room[key] = self._has_room(thing, target)
        return self._room[key]

    def _has_room(self, thing: PlacedThing, target: PutTarget) -> bool:
        """Return whether a place has room for a thing beside what is there at the beginning."""
        placed, space = next(each for each in self._layout.spaces() if each[1].holder == target.meant)
        x, y, z = thing.body.size
        there = [_within(placed, space, each) for each in self._layout.things if each.holder == target.meant]
        sides = (x + _AROUND, y + _AROUND)
        return z <= space.extent[2] and any(_is_free(space, there, each) for each in (sides, sides[::-1]))


def _instruction(text: str, kind: str, *moves: _Move) -> KitchenInstruction:
    return KitchenInstruction(
        text,
        kind,
        tuple(each.goal for each in moves),
        any(each.hidden for each in moves),
        any(each.again for each in moves),
        len(moves),
    )


def _names(things: Sequence[PlacedThing]) -> dict[str, str]:
    """Return the shortest name of each thing that names it alone: its type, or its color and its type."""
    types = Counter(each.kind.name for each in things)
    colours = Counter((each.kind.name, each.colour) for each in things)
    found = {}
    for each in things:
        spoken = each.kind.name.replace("_", " ")
        if types[each.kind.name] == 1:
            found[each.thing_id] = spoken
        elif colours[each.kind.name, each.colour] == 1:
            found[each.thing_id] = f"{each.colour} {spoken}"
    return found


def _openings(layout: KitchenLayout, name: str) -> Iterator[float]:
    return (each.openings[name] for each in layout.furniture if name in each.openings)


def _within(placed: PlacedFurniture, space: StorageSpace, thing: PlacedThing) -> Footprint:
    """Return what a thing covers, in the frame of what holds it."""
    c, s = float(np.cos(placed.yaw)), float(np.sin(placed.yaw))
    x, y = thing.x - placed.x, thing.y - placed.y
    x, y = c * x + s * y, c * y - s * x
    out = placed.openings.get(space.moving, 0.0)
    return Footprint(x + out, y, thing.body.size[0], thing.body.size[1], thing.yaw - placed.yaw)


def _is_free(space: StorageSpace, there: Sequence[Footprint], sides: tuple[float, float]) -> bool:
    """Return whether a space has a free rectangle with these sides along its own, m, beside what is there."""
    taken = [(each.corners.min(axis=0).tolist(), each.corners.max(axis=0).tolist()) for each in there]
    for x in np.arange(space.low[0], space.high[0] - sides[0] + 1e-9, _GRID).tolist():
        for y in np.arange(space.low[1], space.high[1] - sides[1] + 1e-9, _GRID).tolist():
            if not any(
                low[0] < x + sides[0] and x < high[0] and low[1] < y + sides[1] and y < high[1] for low, high in taken
            ):
                return True
    return False
