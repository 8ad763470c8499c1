"""A kitchen without physics and without images, in which no skill fails that an arm can do.

What a memory is worth there depends on the planner and on the search alone; a kitchen takes a second. Only `drawer_1`
and doors open, and nothing is taken out of what the hand does not reach into, as with the simulated arm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from kc_vla.memory.things import CLOSED, HELD, OPENED, ObservedThing
from kc_vla.planning.interface import CallResult
from kc_vla.planning.skills import Call
from kc_vla.skills.perceived import is_carried
from kc_vla.skills.placing import SURFACE
from kc_vla.skills.station import AREA
from kc_vla_sim.frame import GroundTruthObject, Pose
from kc_vla_sim.kitchen.layout import draw_layout
from kc_vla_sim.kitchen.sequences.targets import TAKEN_FROM

_SECONDS = {"OpenObject": 12.0, "CloseObject": 9.0, "PickupObject": 7.0, "PutObject": 5.0, "Explore": 7.0}
"""Medians of `kc-vla eval skills`, s."""
_LOOK_S = 1.0
_STUCK = "drawer_2"
"""The bar of the upper drawer is in the way of a hand from above."""
_HOLLOW = {"drawer": "in", "sink": "in", "cupboard": "in", "microwave": "in"}


class SketchedKitchenRobot:
    """An arm that does what it is asked for at once, in a kitchen that is only drawn up."""

    def __init__(self) -> None:
        """Prepare to begin a kitchen."""
        self.each_step: Callable[[], None] | None = None
        self._objects: dict[str, GroundTruthObject] = {}
        self._held, self._now_s = "", 0.0

    @property
    def now_s(self) -> float:
        """Return the time since the kitchen began, s."""
        return self._now_s

    def begin(self, seed: int) -> None:
        """Begin the kitchen of a seed."""
        layout = draw_layout(seed)
        self._held, self._now_s, self._objects = "", 0.0, {}
        for placed in layout.furniture:
            name, kind = placed.furniture.name, placed.furniture.object_type
            state = "" if name not in placed.openings else OPENED if placed.openings[name] else CLOSED
            self._add(name, kind, (placed.x, placed.y, 0.1), placed.furniture.size, state, "", placed.furniture.colour)
            for piece in placed.furniture.moving:
                if piece.name != name:
                    state = OPENED if placed.openings[piece.name] else CLOSED
                    self._add(piece.name, piece.object_type, (placed.x, placed.y, 0.1), (0.2, 0.28, 0.1), state, name)
        for each in layout.things:
            place = f"{each.relation} {each.holder}"
            self._add(
                each.thing_id,
                each.kind.name,
                (each.x, each.y, each.z),
                each.body.size,
                each.state,
                "",
                each.colour,
                place,
            )

    def do(self, call: Call) -> CallResult:
        """Do a skill."""
        seconds = _SECONDS.get(call.skill, _LOOK_S)
        self._now_s += seconds
        reason = self._done(call)
        if self.each_step is not None:
            self.each_step()
        return CallResult(not reason, reason, seconds, 0.0, tuple(self._seen()))

    def look(self) -> Sequence[ObservedThing]:
        """Return what is seen now."""
        return self._seen()

    def cancel(self) -> None:
        """Stop nothing: a skill is over at once."""

    def truth(self) -> Mapping[str, GroundTruthObject]:
        """Return every object of the kitchen by its id."""
        return self._objects

    def close(self) -> None:
        """Release nothing."""

    def _add(
        self,
        name: str,
        kind: str,
        position: tuple[float, float, float],
        size: tuple[float, float, float],
        state: str,
        within: str = "",
        colour: str = "",
        place: str = "",
    ) -> None:
        place = place or (f"in {within}" if within else "")
        attributes = {key: text for key, text in (("colour", colour), ("place", place)) if text}
        pose = Pose(position, (0.0, 0.0, 0.0, 1.0))
        self._objects[name] = GroundTruthObject(name, kind, state, pose, size, attributes)

    def _done(self, call: Call) -> str:
        name = call.arguments[0]
        if call.skill in ("OpenObject", "CloseObject"):
            return self._turned(name, OPENED if call.skill == "OpenObject" else CLOSED)
        if call.skill == "PickupObject":
            if self._held:
                return f"{self._held} is in the hand"
            if self._place(name) not in TAKEN_FROM or self._is_shut_in(name):
                return f"{name} cannot be reached from above"
            self._held = name
            self._move(name, "")
            return ""
        if call.skill == "PutObject":
            return self._put(name, call.arguments[1])
        return "" if call.skill in ("GoToObject", "GoToPlace", "Explore") else f"this arm cannot do {call.skill}"

    def _turned(self, name: str, state: str) -> str:
        if name == _STUCK or name not in self._objects or not self._objects[name].state:
            return f"the arm cannot reach the handle of {name}"
        self._objects[name] = replace(self._objects[name], state=state)
        return ""

    def _put(self, name: str, holder: str) -> str:
        if name != self._held:
            return f"{name} is not in the hand"
        kind = holder if holder == SURFACE else self._objects[holder].object_type
        relation = _HOLLOW.get(kind, "on")
        if holder != SURFACE and self._objects[holder].state == CLOSED:
            return f"{holder} is closed"
        if kind in ("cupboard", "microwave"):
            return f"{holder} cannot be reached from above"
        self._held = ""
        self._move(name, f"{relation} {holder}")
        return ""

    def _move(self, name: str, place: str) -> None:
        found = self._objects[name]
        kept = {key: text for key, text in found.attributes.items() if key != "place"}
        self._objects[name] = replace(found, attributes=kept | ({"place": place} if place else {}))

    def _place(self, name: str) -> str:
        return self._objects[name].attributes.get("place", "") if name in self._objects else ""

    def _is_shut_in(self, name: str) -> bool:
        relation, _, holder = self._place(name).partition(" ")
        return relation == "in" and holder in self._objects and self._objects[holder].state == CLOSED

    def _seen(self) -> list[ObservedThing]:
        seen = [ObservedThing(SURFACE, SURFACE, (0.35, 0.0, 0.0), (0.7, 1.4, 0.02), "", {}, "stands", "", AREA, False)]
        for each in self._objects.values():
            movable = is_carried(each.object_type)
            if movable and self._is_shut_in(each.object_id) and each.object_id != self._held:
                continue
            relation, _, holder = self._place(each.object_id).partition(" ")
            if each.object_id == self._held:
                relation, holder = HELD, ""
            position, size = each.pose.position, each.size
            relation = relation or ("on" if movable else "stands")
            seen.append(
                ObservedThing(
                    each.object_type,
                    each.object_id,
                    position,
                    size,
                    each.state,
                    dict(each.attributes),
                    relation,
                    holder,
                    AREA,
                    movable,
                )
            )
        return seen
