"""Both memories, filled with what perception finds, as their nodes fill them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kc_vla.memory.embedding.interface import Embedder
from kc_vla.memory.live_scene import LiveScene
from kc_vla.memory.live_units import LiveUnits
from kc_vla.memory.short_term.memory import ShortTermMemory
from kc_vla.memory.short_term.unit import ObjectState
from kc_vla.perception.perceiver import Perceived
from kc_vla.perception.taken import taken_of

Vector = tuple[float, float, float]
MAP, FRAME = "kitchen", "robot_base"
_UNITS = 100
PLACE = "place"
"""Attribute that says what an object is in or on."""


@dataclass(frozen=True)
class RememberedObject:
    """An object as a memory has it.

    Attributes:
        object_id: of the tracker.
        object_type: class.
        state: as it was seen last; empty if none is known.
        position: of its middle, m, in the frame of the robot's base.
        confidence: that it is there, 0..1.
        place: what it is in or on, e.g. "in drawer_1"; empty where that is not known.
    """

    object_id: str
    object_type: str
    state: str
    position: Vector
    confidence: float
    place: str


class KitchenMemories:
    """A scene graph in a file, and a short-term memory."""

    def __init__(self, store: Path, embedder: Embedder) -> None:
        """Open both; `close` releases the file."""
        self._scene = LiveScene(store, MAP)
        self._units = LiveUnits(ShortTermMemory(_UNITS), embedder)

    def take(self, seen: Perceived, stamp_ns: int) -> list[str]:
        """Take in what an image showed; return what was left out and why, a line each."""
        taken = taken_of(seen, stamp_ns, "kitchen")
        refused = self._scene.take(taken, stamp_ns)
        return [*refused, *self._units.take(taken, FRAME, stamp_ns).refused]

    def long_term(self) -> Iterator[RememberedObject]:
        """Yield what the scene graph has."""
        for each in self._scene.graph().known():
            place = each.attributes.get(PLACE, "")
            yield RememberedObject(each.source_id, each.object_type, each.state, each.position, each.confidence, place)

    def short_term(self) -> Iterator[RememberedObject]:
        """Yield what the short-term memory has."""
        for each in self._units.units():
            place = each.attributes.get(PLACE, "")
            x, y, z = each.position.x, each.position.y, each.position.z
            state = each.state.value if each.state is not ObjectState.NONE else each.attributes.get("state", "")
            yield RememberedObject(each.object_id, each.object_type, state, (x, y, z), 1.0, place)

    def close(self) -> None:
        """Release the file."""
        self._scene.close()
