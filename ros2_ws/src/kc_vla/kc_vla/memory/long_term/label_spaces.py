"""The names of classes in a scene graph of spark_dsg: its label spaces, one for a layer, in the graph's metadata."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

_LAYER = re.compile(r"_?l(\d{1,9})(?:p(\d{1,9}))?", re.IGNORECASE)
_NONE = 0xFFFFFFFF
"""The label of a node that has none."""
_NUMBER = re.compile(r"[\s(]*\d+\)?")
"""What is behind the letter of a name such as O(3) or O3, which numbers a node and says nothing of its class."""
UNKNOWN = "unknown"


class LabelSpaces:
    """What the labels of each layer mean; a graph without label spaces has no names."""

    def __init__(self, metadata: Any) -> None:
        """Read those in the metadata of a graph: lists of pairs, mappings, or lists of `label` and `name`."""
        spaces = metadata.get("labelspaces", metadata.get("labelspace")) if isinstance(metadata, Mapping) else None
        self._layers: dict[tuple[int, int] | None, dict[int, str]] = {}
        named = {key: space for key, space in spaces.items() if _layer(key)} if isinstance(spaces, Mapping) else {}
        for key, space in named.items():
            self._layers.setdefault(_layer(key), {}).update(_labels(space))
        if spaces is not None and not named:  # one for all layers
            self._layers[None] = _labels(spaces)

    def name(self, layer: int, partition: int, label: int) -> str:
        """Return what a label means in a layer; empty where no label space of that layer, or of all, says so."""
        places: list[tuple[int, int] | None] = [(layer, partition)]
        places += sorted(key for key in self._layers if key is not None and key[0] == layer)
        return next((name for key in [*places, None] if (name := self._layers.get(key, {}).get(label, ""))), "")

    def called(self, own: str, symbol: str, layer: int, partition: int, label: int) -> str:
        """Return a node's own name where it says more than its `symbol`, else what its label means; may be empty."""
        told = own.strip()
        numbered = _NUMBER.fullmatch(told.removeprefix(symbol[:1]))
        return told if told and not numbered else self.name(layer, partition, label)


def class_in_words(label: int) -> str:
    """Return what a class without a name is called."""
    return UNKNOWN if label == _NONE else f"class {label}"


def _layer(key: object) -> tuple[int, int] | None:
    found = _LAYER.fullmatch(str(key))
    return (int(found[1]), int(found[2] or 0)) if found else None


def _labels(space: Any) -> dict[int, str]:
    """Return the names by label of one space, in any of the forms; what is in none of them is left out."""
    if isinstance(space, Mapping):
        inner = next((space[key] for key in ("label_names", "labels", "names") if key in space), None)
        if inner is not None and not isinstance(inner, str):
            return _labels(inner)
        return _pairs(space.items())
    if not isinstance(space, list):
        return {}
    if all(isinstance(each, str) for each in space):
        return _pairs(enumerate(space))
    rows = [(each.get("label"), each.get("name")) if isinstance(each, Mapping) else each for each in space]
    return _pairs(row for row in rows if isinstance(row, list | tuple) and len(row) == 2)


def _pairs(rows: Iterable[Any]) -> dict[int, str]:
    found = {}
    for one, other in rows:
        label, name = (other, one) if isinstance(other, int) else (one, other)  # some write the name first
        text = str(label).strip()
        if text.isdecimal() and len(text) < 12 and isinstance(name, str) and name.strip():
            found[int(text)] = name.strip()
    return found
