"""Where an instruction can have a thing put: one row each. A place that the arm learns to reach is another row."""

from __future__ import annotations

from dataclasses import dataclass

from kc_vla_sim.kitchen.kinds import WORKTOP


@dataclass(frozen=True)
class PutTarget:
    """A place as instructions name it.

    Attributes:
        said: its name in an instruction.
        relation: "in" or "on", as the simulator reports where a thing is.
        prepositions: that an instruction can use.
        holders: ids of all that the name may mean.
        meant: the holder that has to have room; empty for the worktop, which always has.
        most: things that one sequence has there at the same time, beside those of the beginning.
        hides: what is in it is not seen while it is closed.
    """

    said: str
    relation: str
    prepositions: tuple[str, ...]
    holders: tuple[str, ...]
    meant: str
    most: int = 1
    hides: bool = False

    @property
    def places(self) -> frozenset[str]:
        """Return where a thing is then, as the simulator reports it."""
        return frozenset(f"{self.relation} {each}" for each in self.holders)


DRAWER_TARGET = PutTarget("drawer", "in", ("into", "in"), ("drawer_1", "drawer_2"), "drawer_1", hides=True)
TARGETS = (
    PutTarget("tray", "on", ("onto", "on"), ("tray",), "tray"),
    DRAWER_TARGET,
    PutTarget("sink", "in", ("into", "in"), ("sink",), "sink"),
    PutTarget("worktop", "on", ("onto", "on"), (WORKTOP,), "", most=3),
)
TAKEN_FROM = frozenset({"on worktop", "on tray", "in sink", "in drawer_1"})
"""Where the things are that instructions are about: the hand reaches into these from above."""
HIDING = frozenset({"in drawer_1"})
"""Those of them that can be closed."""
