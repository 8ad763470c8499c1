"""When the signal lamp is lit: off, on, off, on, off, in whole control steps."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LampRanges:
    """Shortest and longest duration (s) of the first four states of the lamp; the fifth, off, lasts."""

    first_off: tuple[float, float] = (2.0, 3.0)
    first_on: tuple[float, float] = (1.0, 4.0)
    second_off: tuple[float, float] = (2.0, 4.0)
    second_on: tuple[float, float] = (1.0, 4.0)

    def in_order(self) -> tuple[tuple[float, float], ...]:
        """The four ranges in the order of time."""
        return (self.first_off, self.first_on, self.second_off, self.second_on)


@dataclass(frozen=True)
class LampSchedule:
    """The four frames at which the lamp changes: lit, dark, lit, dark.

    Attributes:
        edges: ascending frame indices; frame `edges[0]` is the first that shows the lamp lit.
    """

    edges: tuple[int, int, int, int]

    def __post_init__(self) -> None:
        if len(self.edges) != 4 or not 0 < self.edges[0] < self.edges[1] < self.edges[2] < self.edges[3]:
            raise ValueError(f"a lamp schedule has four ascending frames above 0, not {self.edges}")

    @classmethod
    def from_durations(cls, steps: tuple[int, int, int, int]) -> LampSchedule:
        """The schedule whose first four states last `steps` control steps each."""
        first, second, third, fourth = steps
        return cls((first, first + second, first + second + third, first + second + third + fourth))

    def lit(self, frame: int) -> bool:
        """Whether the lamp is lit in `frame`."""
        return sum(edge <= frame for edge in self.edges) % 2 == 1

    def flashes_ended(self, frame: int) -> int:
        """How many flashes are over in `frame`: 0, 1 or 2."""
        return sum(edge <= frame for edge in self.edges[1::2])
