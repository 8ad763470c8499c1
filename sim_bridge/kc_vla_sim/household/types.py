"""The types of things: `data/types.yaml`, read and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kc_vla.core.untrusted import parsed_yaml, read_text
from kc_vla_sim.household.errors import HouseholdError, told
from kc_vla_sim.household.states import ThingState

FILE = Path(__file__).with_name("data") / "types.yaml"
ROOM_KINDS = {0: "kitchen", 200: "living room", 300: "bedroom", 400: "bathroom"}
"""By the first number, less one, of ALFRED's floor plans of that kind."""
FLOOR = "Floor"
CAN = ("pickup", "open", "switch", "fill", "slice", "break", "wash", "soil", "heat", "cook", "use up")
"""What can be done with a type. `wash`: water cleans it; `soil`: use makes it dirty; `heat`: it gets hot and cold."""
_STANDS = ("wall", "free", "above", "under")
_FIELDS = {"is", "can", "size", "holds", "stands", "rooms", "called", "colours", "likely"}
Size = tuple[float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class ThingType:
    """A type of things.

    Attributes:
        name: as ALFRED writes it: "DiningTable".
        words: for what it is, the widest first: "food", "fruit".
        can: what can be done with it, of `CAN`.
        size: width, depth and height, m.
        relation: "on" or "in", where it holds other things; else empty.
        capacity: how many things it holds.
        stands: where furniture is: "wall", "free", "above", "under", or types that it stands on; empty otherwise.
        rooms: kinds of rooms that always have it, and how many at least and at most.
        called: other names that people use.
        colours: that it comes in.
        likely: types of receptacles, or "Floor", and how likely it is found there.
    """

    name: str
    words: tuple[str, ...]
    can: frozenset[str]
    size: Size
    relation: str
    capacity: int
    stands: tuple[str, ...]
    rooms: Mapping[str, tuple[int, int]]
    called: tuple[str, ...]
    colours: tuple[str, ...]
    likely: Mapping[str, float]

    @property
    def spoken(self) -> str:
        """Return the name as people write it: "dining table"."""
        return spoken(self.name)

    @property
    def fixed(self) -> bool:
        """Return whether nobody carries it elsewhere."""
        return "pickup" not in self.can

    @property
    def first_states(self) -> frozenset[ThingState]:
        """Return the states of a thing of this kind that nobody has used yet."""
        closed = frozenset({ThingState.CLOSED}) if "open" in self.can else frozenset[ThingState]()
        return closed | (frozenset({ThingState.OFF}) if "switch" in self.can else frozenset())

    def takes(self, other: ThingType) -> bool:
        """Return whether one of the other type can be put on or in it: all of it but its longest side has to fit."""
        return bool(self.relation) and sorted(other.size)[1] <= max(self.size)


def spoken(name: str) -> str:
    """Return the name of a type as people write it: "dining table", "CD"."""
    if name.isupper():
        return name
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in name).strip()


@cache
def kinds() -> Mapping[str, ThingType]:
    """Return all types, by their names."""
    return read_kinds(FILE)


def kind_of(text: str) -> ThingType:
    """Return the type that people call so: "Fridge", "fridge", "frying pan".

    Raises:
        HouseholdError: there is none.
    """
    found = _by_any_name().get(plain(text))
    if found is None:
        raise HouseholdError(f"there is no type {told(text)}: data/types.yaml has all that there are")
    return found


def plain(text: str) -> str:
    """Return a name for comparing: "Dining Table" and "dining_table" are one."""
    return "".join(letter for letter in text.lower() if letter.isalnum())


@cache
def _by_any_name() -> Mapping[str, ThingType]:
    others = {plain(name): kind for kind in kinds().values() for name in kind.called}
    return others | {plain(name): kind for name, kind in kinds().items()}


def read_kinds(path: Path) -> Mapping[str, ThingType]:
    """Read a table of types.

    Raises:
        HouseholdError: it is none; the message names the type that is wrong.
        OSError: it cannot be read.
    """
    try:
        content = parsed_yaml(read_text(path))
    except ValueError as error:
        raise HouseholdError(f"{path}: {error}") from error
    if not isinstance(content, dict):
        raise HouseholdError(f"{path}: a type a line is wanted")
    table = {}
    for name, about in content.items():
        try:
            table[str(name)] = _kind(str(name), about)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise HouseholdError(f"{path}, type {name}: {error}") from error
    for kind in table.values():
        named = {*kind.likely, *(set(kind.stands) - set(_STANDS))} - {FLOOR}
        wrong = sorted(each for each in named if each not in table or not table[each].relation)
        if wrong:
            raise HouseholdError(f"{path}, type {kind.name}: {wrong[0]} holds nothing, or is no type")
    return table


def _kind(name: str, about: Mapping[str, Any]) -> ThingType:
    if set(about) - _FIELDS:
        raise ValueError(f"there is no field {sorted(set(about) - _FIELDS)[0]!r}")
    if set(about["can"]) - set(CAN):
        raise ValueError(f"nobody can {sorted(set(about['can']) - set(CAN))[0]!r}")
    width, depth, height = (float(each) for each in about["size"])
    if min(width, depth, height) <= 0:
        raise ValueError("a size is three lengths above 0")
    relation, capacity = about.get("holds", ("", 0))
    if relation not in ("on", "in", "") or (relation and capacity < 1):
        raise ValueError("holds is [on, N] or [in, N]")
    stands = about.get("stands", ())
    stands = (stands,) if isinstance(stands, str) else tuple(stands)
    if bool(stands) == ("pickup" in about["can"]):
        raise ValueError("either it stands somewhere or it can be picked up")
    if not stands and not about.get("likely"):
        raise ValueError("it is likely nowhere")
    rooms = {kind: (int(least), int(most)) for kind, (least, most) in about.get("rooms", {}).items()}
    if set(rooms) - set(ROOM_KINDS.values()):
        raise ValueError(f"rooms are {', '.join(ROOM_KINDS.values())}")
    return ThingType(
        name,
        tuple(about["is"]),
        frozenset(about["can"]),
        (width, depth, height),
        relation,
        int(capacity),
        stands,
        rooms,
        tuple(about.get("called", ())),
        tuple(about.get("colours", ())),
        {each: float(share) for each, share in about.get("likely", {}).items()},
    )
