"""The questions of `kc-vla eval recall`, each with a memory to ask: the unit that is meant, near misses, and others.

How the questions of both series were made, and divided by object, is in `data/README.md`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kc_vla.core.untrusted import parsed_yaml, read_text
from kc_vla.memory.evaluation.halves import halves
from kc_vla.memory.evaluation.wording import Wording
from kc_vla.memory.short_term.unit import ObjectState, Position, Unit, state_of

KINDS = ("exact", "composite", "vague")
SERIES = ("first", "second")
UNITS = 20
"""Number of units in the memory that is asked."""
_PLACES = ("on the table", "on the counter", "on the shelf", "on the floor", "on the desk", "in the cabinet")
_COLOURS = ("red", "blue", "green", "white", "black", "brown")
_COLOUR_TOLD = 0.5
"""Share of the units whose color the detector reports, where nobody asks for it."""
_DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Question:
    """A question to a memory.

    Attributes:
        text: the instruction.
        kind: of `KINDS`.
        split: of `halves.SPLITS`.
        units: of the memory, in chance order.
        answer: id of the unit that is meant.
        series: of `SERIES`.
        asked: what is asked for beside the type: of `state`, `colour`, `place`; empty but for a composite one.
    """

    text: str
    kind: str
    split: str
    units: tuple[Unit, ...]
    answer: str
    series: str = SERIES[0]
    asked: tuple[str, ...] = ()


def read_questions() -> list[Question]:
    """Return all questions, the same at each call."""
    objects: dict[str, Any] = parsed_yaml(read_text(_DATA / "recall.yaml"))
    second: dict[str, Any] = parsed_yaml(read_text(_DATA / "recall_second.yaml"))
    known = {each["ask"] for about in objects.values() for kind in KINDS for each in _asked(about[kind])}
    questions = []
    for split, names in halves(list(objects)).items():
        about = {name: objects[name] for name in names}
        wording = Wording(second["composite"], split)
        for name in names:
            made = {"composite": wording.questions(name, about[name], known), "vague": _asked(second["vague"][name])}
            for series, asked in zip(SERIES, (about[name], made), strict=True):
                questions += [
                    _question(each, kind, split, name, about, series)
                    for kind in KINDS
                    if kind in asked
                    for each in _asked(asked[kind])
                ]
    return questions


def _asked(given: str | Iterable[str | dict[str, Any]]) -> list[dict[str, Any]]:
    each_of = [given] if isinstance(given, str) else given
    return [{"ask": each} if isinstance(each, str) else each for each in each_of]


def _question(
    asked: Mapping[str, Any], kind: str, split: str, object_type: str, objects: Mapping[str, Any], series: str
) -> Question:
    seed = hashlib.sha256(asked["ask"].encode()).digest()
    chance = np.random.default_rng(list(seed[:8]))
    wanted = {name: asked[name] for name in ("state", "colour", "place") if name in asked}
    scene = _Scene(chance, objects)
    answer = scene.add(object_type, wanted)
    if kind == "composite":
        for name in wanted:
            scene.add(object_type, {**wanted, name: scene.another(object_type, name, asked)})
        others = [other for other in objects if other != object_type and scene.may_have(other, wanted)]
        if others:
            scene.add(str(chance.choice(others)), wanted)
    left_out = {object_type, *asked.get("also", ())}
    rest = [other for other in objects if other not in left_out and other not in scene.types]
    for other in chance.permutation(rest)[: UNITS - len(scene.units)]:
        scene.add(str(other), {})
    order = chance.permutation(len(scene.units))
    units = tuple(scene.units[index] for index in order)
    return Question(asked["ask"], kind, split, units, answer, series, tuple(wanted) if kind == "composite" else ())


class _Scene:
    """Units by chance, with what was wished of them."""

    def __init__(self, chance: np.random.Generator, objects: Mapping[str, Any]) -> None:
        self._chance, self._objects = chance, objects
        self.units: list[Unit] = []

    @property
    def types(self) -> set[str]:
        return {unit.object_type for unit in self.units}

    def add(self, object_type: str, wanted: Mapping[str, str]) -> str:
        """Put a unit there; return its id. What is not wanted is drawn."""
        about = self._objects[object_type]
        state = wanted.get("state") or str(self._chance.choice(["none", *about["states"]]))
        place = wanted.get("place") or str(self._chance.choice(_PLACES))
        told = "colour" in wanted or (about["colours"] and self._chance.random() < _COLOUR_TOLD)
        colour = wanted.get("colour") or (str(self._chance.choice(about["colours"])) if told else "")
        attributes = {"colour": colour, "place": place} if told else {"place": place}
        object_id = f"{object_type}-{len(self.units)}"
        x, y, z = (float(each) for each in self._chance.uniform(-5, 5, 3))
        seen = Position(x, y, z), float(len(self.units))
        self.units.append(Unit(object_type, object_id, *seen, state_of(state), attributes=attributes))
        return object_id

    def another(self, object_type: str, name: str, asked: Mapping[str, str]) -> str:
        """Return another state, color or place than the one that is asked for."""
        if name == "state" and "not" in asked:
            return asked["not"]
        own = self._objects[object_type]
        choices = {
            "state": [ObjectState.NONE.value, *own["states"]],
            "colour": own["colours"] if len(own["colours"]) > 1 else _COLOURS,
            "place": _PLACES,
        }[name]
        return str(self._chance.choice([each for each in choices if each != asked[name]]))

    def may_have(self, object_type: str, wanted: Mapping[str, str]) -> bool:
        """Return whether an object of this type could be in that state and have that color."""
        about = self._objects[object_type]
        return wanted.get("state", "none") in ("none", *about["states"]) and (
            "colour" not in wanted or wanted["colour"] in about["colours"]
        )
