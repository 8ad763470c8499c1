"""A state of a VirtualHome home, and what of it is seen: what is in the robot's room and in nothing that is closed."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from kc_vla.memory.long_term.nodes import Area
from kc_vla.memory.navigation_map import NavigationMap
from kc_vla.memory.things import ObservedThing
from kc_vla_sim.household.floor_plan import GROUND
from kc_vla_sim.household.virtualhome.goals import ROBOT
from kc_vla_sim.household.world import FLOOR, HELD, STANDS

ROOM_M = 5.0
"""From the middle of a room to that of the next: the package has no lengths, and its rooms are in a row."""
_NEAR_M, _TURN = 1.5, math.pi * (3.0 - math.sqrt(5.0))
_BUILDING = frozenset({"Rooms", "Walls", "Ceiling", "Floor", "Floors", "Doors", "Windows", "Characters"})
_CURTAINS = "curtain"
"""Parts of the building under another category: nothing is in them, and they open."""
_HANDS = ("HOLDS_RH", "HOLDS_LH")
_TOLD = {"ON": "on", "OFF": "off", "OPEN": "opened", "CLOSED": "closed"}
"""States in the words of the memories, the one that is reported first of several; no goal asks what is clean."""
_LOW = frozenset({"SITTING", "LYING"})
_DEEP = 6
NUMBER = "number"


def words_of(class_name: str) -> str:
    """Return a class in words: "coffee_filter" is "coffee filter"."""
    return " ".join(re.findall(r"[a-z0-9]+", class_name.lower()))


def type_of(class_name: str) -> str:
    """Return a class as a detector names it: "CoffeeFilter"."""
    return "".join(word.capitalize() for word in words_of(class_name).split())


class VirtualHomeScene:
    """One state.

    Attributes:
        state: nodes and edges, as the package writes it.
        nodes: by id.
    """

    def __init__(self, state: Mapping[str, Any]) -> None:
        self.state = state
        self.nodes: Mapping[int, Mapping[str, Any]] = {each["id"]: each for each in state["nodes"]}
        self._to: dict[tuple[int, str], list[int]] = {}
        for edge in state["edges"]:
            self._to.setdefault((edge["from_id"], edge["relation_type"]), []).append(edge["to_id"])
        self._count = Counter(each["class_name"] for each in state["nodes"])

    @property
    def rooms(self) -> list[int]:
        """Return the ids of the rooms, in the order in which they are in a row."""
        return sorted(name for name, node in self.nodes.items() if node["category"] == "Rooms")

    @property
    def held(self) -> list[int]:
        """Return the ids of what is in the hands."""
        return [name for hand in _HANDS for name in self._to.get((ROBOT, hand), ())]

    @property
    def sits(self) -> bool:
        """Return whether the robot sits or lies, as in some homes at the beginning."""
        return not _LOW.isdisjoint(self.nodes[ROBOT]["states"])

    @property
    def at(self) -> str:
        """Return the area in which the robot stands."""
        return area_of(self.room(ROBOT))

    def grounds(self) -> NavigationMap:
        """Return the rooms as areas, and the ways through the doors, m."""
        rooms = self.rooms
        ways: dict[int, set[int]] = {room: set() for room in rooms}
        for (_, relation), ends in self._to.items():
            if relation == "BETWEEN":
                for one in ends:
                    ways[one] |= set(ends) - {one}
        at = {room: (ROOM_M * number, 0.0, 0.0) for number, room in enumerate(rooms)}
        return NavigationMap(
            Area(
                area_of(room),
                GROUND,
                at[room],
                {area_of(other): math.dist(at[room], at[other]) for other in sorted(ways[room])},
                words_of(self.nodes[room]["class_name"]),
            )
            for room in rooms
        )

    def name(self, node: int) -> str:
        """Return the id by which the robot knows a thing: "Plate_1001"."""
        return f"{type_of(self.nodes[node]['class_name'])}_{node}"

    def words(self, node: int) -> str:
        """Return what a person calls a thing: "plate", or "1001 plate" where the home has several."""
        class_name = self.nodes[node]["class_name"]
        return f"{node} {words_of(class_name)}" if self._count[class_name] > 1 else words_of(class_name)

    def room(self, node: int) -> int:
        """Return the room of a thing or of the robot: that of what it is on or in, if it is."""
        here = node
        for _ in range(_DEEP):
            holder = self._holder(here)[1]
            if holder is None:
                break
            here = holder
        if here in self.held:
            here = ROBOT
        return next(
            (each for each in self._to.get((here, "INSIDE"), ()) if self.nodes[each]["category"] == "Rooms"),
            self.rooms[0],
        )

    def visible(self, node: int) -> bool:
        """Return whether the robot sees a thing."""
        category, class_name = self.nodes[node]["category"], self.nodes[node]["class_name"]
        if category in _BUILDING or class_name == _CURTAINS:
            return False
        return node in self.held or (not self._hidden(node) and self.room(node) == self.room(ROBOT))

    def seen(self) -> Iterator[ObservedThing]:
        """Return all that the robot sees."""
        return (self._seen(name) for name in self.nodes if self.visible(name))

    def _hidden(self, node: int) -> bool:
        here = node
        for _ in range(_DEEP):
            around = [each for each in self._to.get((here, "INSIDE"), ()) if self.nodes[each]["category"] != "Rooms"]
            if any("CLOSED" in self.nodes[each]["states"] for each in around):
                return True
            holder = self._holder(here)[1]
            if holder is None:
                return False
            here = holder
        return False

    def _holder(self, node: int) -> tuple[str, int | None]:
        for relation, told in (("INSIDE", "in"), ("ON", "on")):
            for each in self._to.get((node, relation), ()):
                if each not in (ROBOT, node) and self.nodes[each]["category"] not in _BUILDING:
                    return told, each
        return "", None

    def _seen(self, node: int) -> ObservedThing:
        about = self.nodes[node]
        room = self.rooms.index(self.room(node))
        states = [told for name, told in _TOLD.items() if name in about["states"]]
        if "CAN_OPEN" not in about["properties"]:  # of a counter, too, the package says that it is closed
            states = [told for told in states if told not in (_TOLD["OPEN"], _TOLD["CLOSED"])]
        movable = "GRABBABLE" in about["properties"]
        relation, holder = self._holder(node)
        relation = HELD if node in self.held else relation or (FLOOR if movable else STANDS)
        container = self.name(holder) if holder is not None and relation not in (HELD, FLOOR, STANDS) else ""
        attributes = {
            NUMBER: str(node) if self._count[about["class_name"]] > 1 else "",
            "also": ", ".join(states[1:]),
            "place": f"{relation} {container}" if container else "",
        }
        return ObservedThing(
            type_of(about["class_name"]),
            self.name(node),
            (
                ROOM_M * room + _NEAR_M * math.cos(_TURN * node) * math.sqrt(node % 97 / 97),
                _NEAR_M * math.sin(_TURN * node) * math.sqrt(node % 97 / 97),
                0.5,
            ),
            (0.1, 0.1, 0.1) if movable else (0.5, 0.5, 0.5),
            states[0] if states else "",
            {name: text for name, text in attributes.items() if text},
            relation,
            container,
            area_of(self.room(node)),
            movable,
        )


def area_of(room: int) -> str:
    """Return the id of a room as an area."""
    return f"room_{room}"
