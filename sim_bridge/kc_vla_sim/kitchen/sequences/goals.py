"""When an instruction is done, by the simulator's truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kc_vla_sim.frame import GroundTruthObject


@dataclass(frozen=True)
class PlaceGoal:
    """One of some things is at one of some places.

    Attributes:
        things: ids of those that the instruction can mean.
        places: such as "in drawer_1".
    """

    things: frozenset[str]
    places: frozenset[str]

    def holds(self, truth: Mapping[str, GroundTruthObject]) -> bool:
        """Return whether it is so.

        Args:
            truth: every object of the kitchen by its id.
        """
        return any(truth[each].attributes.get("place", "") in self.places for each in self.things)


@dataclass(frozen=True)
class StateGoal:
    """Something is in a state.

    Attributes:
        object_id: of it.
        state: such as "opened".
    """

    object_id: str
    state: str

    def holds(self, truth: Mapping[str, GroundTruthObject]) -> bool:
        """Return whether it is so.

        Args:
            truth: every object of the kitchen by its id.
        """
        found = truth[self.object_id]
        return self.state in (found.state, found.attributes.get("also", ""))


KitchenGoal = PlaceGoal | StateGoal
