"""Homes that search phrases are put to, made by a seed: furniture, and things side by side on or in it.

What stands where is laid out here slot by slot, so that which thing is left of another one is known without computing
relations.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from kc_vla.memory.long_term.graph import SceneGraph
from kc_vla.memory.long_term.nodes import Area, Floor, SceneObject, Vector
from kc_vla.memory.long_term.relations import stand

SCENES = 12
_SLOT_M = 0.4
_SMALL = (0.1, 0.1, 0.1)
_LEFT_OUT = 0.15
"""Share of the things of each kind that a home does not have, but for the first one."""


@dataclass(frozen=True)
class _Furniture:
    """A piece of furniture against the north wall of its room: seen from the south, x grows to the right."""

    object_type: str
    size: Vector
    relation: str = ""
    slots: int = 0


_ROOMS: dict[str, tuple[_Furniture, ...]] = {
    "kitchen": (
        _Furniture("Fridge", (0.8, 0.8, 1.8), "in", 4),
        _Furniture("CounterTop", (2.4, 0.6, 0.9), "on", 5),
        _Furniture("Sink", (0.6, 0.5, 0.9), "in", 2),
        _Furniture("DiningTable", (2.0, 0.9, 0.8), "on", 5),
        _Furniture("Microwave", (0.5, 0.4, 1.1), "in", 1),
        _Furniture("Cabinet", (1.2, 0.5, 0.9), "in", 4),
    ),
    "living room": (
        _Furniture("Sofa", (2.0, 0.9, 0.6), "on", 3),
        _Furniture("CoffeeTable", (1.6, 0.6, 0.5), "on", 4),
        _Furniture("Shelf", (1.6, 0.4, 1.2), "on", 4),
        _Furniture("FloorLamp", (0.3, 0.3, 1.6)),
        _Furniture("Television", (1.2, 0.2, 1.2)),
    ),
    "bedroom": (
        _Furniture("Bed", (1.8, 2.0, 0.6), "on", 2),
        _Furniture("Desk", (2.0, 0.7, 0.8), "on", 5),
        _Furniture("Dresser", (1.2, 0.5, 1.0), "in", 3),
        _Furniture("ArmChair", (0.8, 0.8, 0.9)),
    ),
    "bathroom": (
        _Furniture("Bathtub", (1.6, 0.8, 0.6), "in", 2),
        _Furniture("SideTable", (1.2, 0.5, 0.7), "on", 3),
        _Furniture("Toilet", (0.5, 0.7, 0.8)),
        _Furniture("GarbageCan", (0.4, 0.4, 0.5), "in", 2),
    ),
}
_THINGS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "Mug": (("red", "blue", "white"), ("cleaned", "dirty", "filled")),
    "Cup": (("green", "white"), ("cleaned", "dirty")),
    "Plate": (("white", "blue"), ("cleaned", "dirty")),
    "Bowl": (("brown", "white"), ("dirty", "filled")),
    "Apple": (("red", "green"), ("cleaned", "dirty", "sliced")),
    "Bread": (("brown",), ("sliced", "")),
    "Tomato": (("red",), ("sliced", "")),
    "Egg": (("white",), ("cooked", "")),
    "Fork": (("silver",), ("cleaned", "dirty")),
    "ButterKnife": (("silver",), ("dirty", "cleaned")),
    "Pan": (("black",), ("heated", "dirty")),
    "Kettle": (("silver",), ("filled", "")),
    "WineBottle": (("green",), ("filled", "")),
    "Book": (("red", "black"), ("opened", "closed")),
    "Laptop": (("black", "silver"), ("on", "off")),
    "CellPhone": (("black", "white"), ("on", "off")),
    "Newspaper": (("white",), ("",)),
    "Pencil": (("yellow",), ("",)),
    "RemoteControl": (("black",), ("",)),
    "Pillow": (("white", "blue"), ("",)),
    "Candle": (("white", "red"), ("on", "off")),
    "Vase": (("blue", "green"), ("filled", "broken")),
    "KeyChain": (("silver",), ("",)),
    "Watch": (("black",), ("",)),
    "DeskLamp": (("black", "white"), ("on", "off")),
    "AlarmClock": (("black",), ("",)),
    "SoapBottle": (("blue",), ("used up", "filled")),
    "SoapBar": (("green",), ("",)),
    "Cloth": (("red", "white"), ("dirty", "cleaned")),
    "ToiletPaper": (("white",), ("used up", "")),
    "SprayBottle": (("green",), ("filled",)),
    "TissueBox": (("blue",), ("",)),
    "TennisRacket": (("blue",), ("",)),
    "BaseballBat": (("brown",), ("",)),
    "BasketBall": (("orange",), ("",)),
}


@dataclass(frozen=True)
class SearchScene:
    """A home.

    Attributes:
        graph: that is asked.
        rows: ids of the things of each piece of furniture from left to right, by its id, as seen by one who stands
            before it.
        robot: where the robot stands: in the middle of the kitchen.
    """

    graph: SceneGraph
    rows: dict[str, tuple[str, ...]]
    robot: Vector


def make_scene(seed: int) -> SearchScene:
    """Return the home of a seed, the same at each call."""
    chance = random.Random(seed)
    floor, areas, objects, rows = Floor("ground", 0.0), [], list[SceneObject](), dict[str, tuple[str, ...]]()
    names = list(_ROOMS)
    slots: list[tuple[str, str, Vector, str]] = []
    for at, name in enumerate(names):
        beside = {f"node_{other + 1}": 6.0 for other in (at - 1, at + 1) if 0 <= other < len(names)}
        middle = (0.0, -8.0 * at, 0.0)
        areas.append(Area(f"node_{at + 1}", floor.id, middle, beside, name))
        x = -4.0
        for each in chance.sample(_ROOMS[name], len(_ROOMS[name])):
            width, _, height = each.size
            holder = f"{each.object_type}_1"
            place = (round(x + width / 2, 3), middle[1] + 2.0, height / 2)
            objects.append(
                SceneObject(holder, each.object_type, place, each.size, f"node_{at + 1}", False, source_id=holder)
            )
            x += width + 0.9
            rows[holder] = ()
            for slot in range(each.slots):
                far = (slot - (each.slots - 1) / 2) * min(_SLOT_M, (width - 0.2) / max(each.slots - 1, 1))
                z = height + 0.05 if each.relation == "on" else height / 2
                slots.append((holder, each.relation, (round(place[0] + far, 3), place[1], z), f"node_{at + 1}"))
    wanted = [
        (kind, colour, state)
        for kind, (colours, states) in _THINGS.items()
        for number, (colour, state) in enumerate(_paired(colours, states, chance))
        if not number or chance.random() > _LEFT_OUT
    ]
    chance.shuffle(wanted)
    chance.shuffle(slots)
    counts: dict[str, int] = {}
    for (kind, colour, state), (holder, relation, place, area) in zip(wanted, slots, strict=False):
        counts[kind] = counts.get(kind, 0) + 1
        said = {"colour": colour, "place": f"{relation} {holder}"}
        name = f"{kind}_{counts[kind]}"
        thing = SceneObject(name, kind, place, _SMALL, area, True, state, said, source_id=name)
        objects.append(stand(thing, (), {each.id: each for each in objects}.get))
        rows[holder] = (*rows[holder], name)
    left = {each.id: each.position[0] for each in objects}
    sorted_rows = {holder: tuple(sorted(row, key=left.__getitem__)) for holder, row in rows.items()}
    return SearchScene(SceneGraph(f"home_{seed}", [floor, *areas, *objects], 1), sorted_rows, (0.0, 0.0, 1.2))


def _paired(colours: tuple[str, ...], states: tuple[str, ...], chance: random.Random) -> list[tuple[str, str]]:
    """Return as many things of a kind as it has colors or states, whichever are more."""
    count = max(len(colours), len(states))
    turn = chance.randrange(count)
    return [(colours[at % len(colours)], states[(at + turn) % len(states)]) for at in range(count)]
