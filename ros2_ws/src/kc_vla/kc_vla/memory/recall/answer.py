"""What a memory answers: units, how sure it is that the first is meant, and their text for a prompt."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from kc_vla.memory.recall.described import Described
from kc_vla.memory.short_term.unit import ObjectState, Position, Unit, UnitError, plain, spoken


@dataclass(frozen=True)
class Filters:
    """What a unit must be to be recalled at all; what is not given is not asked.

    Attributes:
        types: one of these: "ButterKnife", "butter_knife" and "butter knife" are the same.
        states: one of these.
        area: in this one.
        near: within `radius` of this point, in its frame ...
        radius: ... m.
        most_age: seen at most so long before `now`, s.
        now: s; with `most_age`.

    Raises:
        UnitError: half of a pair is missing, or a number makes no sense.
    """

    types: frozenset[str] = frozenset()
    states: frozenset[ObjectState] = frozenset()
    area: str = ""
    near: Position | None = None
    radius: float | None = None
    most_age: float | None = None
    now: float | None = None

    def __post_init__(self) -> None:
        if (self.near is None) != (self.radius is None):
            raise UnitError("a filter by place needs both a point and a radius, m")
        if (self.most_age is None) != (self.now is None):
            raise UnitError("a filter by age needs both the greatest age and the time now, s")
        if isinstance(self.types, str) or not all(isinstance(each, ObjectState) for each in self.states):
            raise UnitError("a filter takes a set of types, as texts, and a set of states, as ObjectState")
        object.__setattr__(self, "types", frozenset(spoken(each) for each in self.types))
        numbers = [each for each in (self.radius, self.most_age, self.now) if each is not None]
        if not all(math.isfinite(each) for each in numbers) or min([self.radius or 0, self.most_age or 0]) < 0:
            raise UnitError("radius and age of a filter have to be finite and not negative")

    def accept(self, unit: Unit) -> bool:
        """Return whether a unit may be recalled."""
        return (
            (not self.types or unit.name in self.types)
            and (not self.states or unit.state in self.states)
            and (not self.area or unit.area == self.area)
            and (self.near is None or self.radius is None or _within(unit.position, self.near, self.radius))
            and (self.most_age is None or self.now is None or self.now - unit.stamp <= self.most_age)
        )


EVERYTHING = Filters()


@dataclass(frozen=True)
class RecalledUnit:
    """A unit that was recalled, and its score: of use within one answer only."""

    unit: Unit
    score: float


@dataclass(frozen=True)
class RecallAnswer:
    """What a memory has on an instruction.

    Attributes:
        instruction: that was asked.
        found: the units, the likeliest first.
        confidence: share of the answers this sure whose first unit is what was meant, 0..1, before anybody ranked them
            again; see `ConfidenceCalibration`.
        left_out: units that were likely enough and did not fit into the tokens.
        notes: what went otherwise than it was set to, in words, for people.
        described: how the first unit compares with what was said of what is meant, before anybody ranked them again.
    """

    instruction: str
    found: tuple[RecalledUnit, ...]
    confidence: float
    left_out: int = 0
    notes: tuple[str, ...] = ()
    described: Described = Described.UNNAMED

    def text(self) -> str:
        """Return the units in words, a line each."""
        return "\n".join(line_of(each.unit) for each in self.found)


def line_of(unit: Unit) -> str:
    """Return a unit in one line of a prompt; what it says of itself cannot become a line of its own."""
    x, y, z, frame = unit.position
    return f"{unit.sentence()} (id {plain(unit.object_id)}, at {x:.2f}, {y:.2f}, {z:.2f} m in {plain(frame)})"


def tokens_of(text: str) -> int:
    """Return about how many tokens a text takes in a language model at most.

    Four letters, three digits, or a sign make one.
    """
    parts = re.findall(r"[A-Za-z]+|\d+|[^\w\s]|[^\W\d]|_", text)
    return sum(
        -(-len(part) // 4)
        if part.isascii() and part.isalpha()
        else -(-len(part.encode()) // (3 if part.isdigit() else 1))
        for part in parts
    )


def _within(position: Position, near: Position, radius: float) -> bool:
    return position.frame == near.frame and math.dist(position[:3], near[:3]) <= radius
