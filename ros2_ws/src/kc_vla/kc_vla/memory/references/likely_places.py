"""What is likely on or in what: how often ALFRED's annotated plans pick a type up from which receptacle.

Of its development scenes alone; `python -m kc_vla_sim.household.likely` counts them. A type that they do not name is
taken for those that are of the same kind (`kc_vla.memory.recall.knowledge`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

from kc_vla.memory.long_term.detections import plain_type
from kc_vla.memory.recall.knowledge import senses
from kc_vla.memory.short_term.unit import spoken

FILE = Path(__file__).with_name("data") / "likely.tsv"
FLOOR = "Floor"
_CALLED = {
    "cupboard": "Cabinet",
    "worktop": "CounterTop",
    "counter": "CounterTop",
    "sink": "SinkBasin",
    "stove": "StoveBurner",
    "sponge": "DishSponge",
}
"""Names of the table for types that detectors call otherwise, in small letters."""
_LEAST = 1.0
"""Added to every count: what was never seen somewhere may be there."""


@cache
def table() -> Mapping[str, Mapping[str, float]]:
    """Return for each known type from what it was picked up, and how often."""
    lines = (line.split("\t") for line in FILE.read_text(encoding="utf-8").splitlines())
    return {name: {holder: float(count) for holder, count in json.loads(row).items()} for name, row in lines}


@cache
def vocabulary() -> tuple[str, ...]:
    """Return the types that homes are known to have."""
    return tuple(table())


@cache
def holders() -> frozenset[str]:
    """Return the types that things were seen on or in."""
    return frozenset(holder for row in table().values() for holder in row) - {FLOOR}


@lru_cache(maxsize=4096)
def known_as(object_type: str) -> str:
    """Return the name that the table has for a type, such as "Drawer" for "drawer"; the type where it has none."""
    name = plain_type(object_type)
    return _CALLED.get(name) or _plain_names().get(name, object_type)


@cache
def _plain_names() -> Mapping[str, str]:
    return {plain_type(name): name for name in (*table(), *holders())}


@lru_cache(maxsize=4096)
def share(object_type: str, holder: str) -> float:
    """Return how likely a thing of a type is on or in a holder of another, 0..1, over all holders that are known."""
    row, holder = _row(known_as(object_type)), known_as(holder)
    return (row.get(holder, 0.0) + _LEAST) / (sum(row.values()) + _LEAST * (len(holders()) + 1))


@lru_cache(maxsize=4096)
def _row(object_type: str) -> Mapping[str, float]:
    if table().get(object_type):
        return table()[object_type]
    kinds = {sense.kinds.split(", ")[0] for sense in senses(spoken(object_type))[:1]} - {""}
    alike = [row for name, row in table().items() if row and kinds & _kinds(name)]
    return {holder: sum(row.get(holder, 0.0) for row in alike) / len(alike) for row in alike for holder in row}


@cache
def _kinds(object_type: str) -> frozenset[str]:
    return frozenset(sense.kinds.split(", ")[0] for sense in senses(spoken(object_type))[:1])
