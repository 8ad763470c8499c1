"""Composite questions made by rules from a table of wordings: "have you seen the mug that needs washing?".

What people say often is said in both halves of the questions; each other wording is in one of them alone, so that the
test asks in words, and about objects, that the development questions do not have.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from kc_vla.memory.evaluation.halves import halves
from kc_vla.memory.short_term.unit import spoken

_FACETS = {"state": 0.5, "colour": 0.3, "place": 0.2}
"""What is said of an object, and how often, where it can have all of it."""
_TWO, _SENT = 0.3, 0.15
"""Shares of the questions that say two of it, and that say where the object shall be brought."""
_TRIES = 100

Asked = dict[str, Any]


class Wording:
    """The wordings of one half."""

    def __init__(self, rules: Mapping[str, Any], split: str) -> None:
        self._rules, self._split = rules, split

    def questions(self, object_type: str, about: Mapping[str, Any], known: set[str]) -> Iterator[Asked]:
        """Yield as many different questions about a type as the rules say, or fewer, none of `known`.

        They are added to `known`.
        """
        chance = np.random.default_rng(list(hashlib.sha256(object_type.encode()).digest()[:8]))
        count = 0
        for _ in range(_TRIES):
            asked = self._question(chance, object_type, about)
            if asked and asked["ask"] not in known:
                known.add(asked["ask"])
                yield asked
                count += 1
            if count == self._rules["a_type"]:
                return

    def _question(self, chance: np.random.Generator, object_type: str, about: Mapping[str, Any]) -> Asked | None:
        movable = object_type not in self._rules["fixed"]
        can = {"state": bool(about["states"]), "colour": bool(about["colours"]), "place": movable}
        weights = np.array([weight * can[facet] for facet, weight in _FACETS.items()])
        if not weights.any():
            return None
        several = 2 if chance.random() < _TWO and sum(can.values()) > 1 else 1
        facets = chance.choice(list(_FACETS), several, replace=False, p=weights / weights.sum())
        asked: Asked = {}
        phrase = spoken(object_type)
        for facet in (each for each in ("colour", "state", "place") if each in facets):  # the order in which it is said
            said = getattr(self, f"_{facet}")(chance, object_type, about, asked, several > 1)
            if said is None:
                return None
            phrase = said.replace("{}", phrase)
        return {"ask": self._framed(chance, phrase, movable, asked.get("place")), **asked}

    def _framed(self, chance: np.random.Generator, phrase: str, movable: bool, place: str | None) -> str:
        sent = movable and chance.random() < _SENT
        frame = self._one(chance, self._rules["sent" if sent else "asked"])["say"]
        to = self._placed(str(chance.choice([each for each in self._rules["places"] if self._placed(each) != place])))
        return str(frame).replace("{}", phrase).replace("{to}", to)

    def _state(
        self, chance: np.random.Generator, object_type: str, about: Mapping[str, Any], asked: Asked, several: bool
    ) -> str | None:
        asked["state"] = str(chance.choice(about["states"]))
        said = self._one(chance, self._rules["states"][asked["state"]])
        if object_type not in said.get("only_of", [object_type]) or object_type in said.get("not_of", []):
            return None
        if "not" in said:
            if said["not"] not in about["states"]:
                return None
            asked["not"] = said["not"]
        return str(said["say"])

    def _colour(
        self, chance: np.random.Generator, object_type: str, about: Mapping[str, Any], asked: Asked, several: bool
    ) -> str | None:
        colours = about["colours"]
        asked["colour"] = str(chance.choice(colours))
        said = "{colour} {}" if several else str(self._one(chance, self._rules["colours"])["say"])
        if asked["colour"] == spoken(object_type) or ("{other}" in said and len(colours) != 2):
            return None  # "the orange orange"; of three colours, what is not the one is not told
        other = next((each for each in colours if each != asked["colour"]), "")
        return said.replace("{colour}", asked["colour"]).replace("{other}", other)

    def _place(
        self, chance: np.random.Generator, object_type: str, about: Mapping[str, Any], asked: Asked, several: bool
    ) -> str:
        where = str(chance.choice(self._rules["places"]))
        asked["place"] = self._placed(where)
        said = str(self._one(chance, self._rules["at"])["say"])
        return said.replace("{place}", asked["place"]).replace("{where}", f"the {where}")

    def _placed(self, where: str) -> str:
        return f"{'in' if where in self._rules['inside'] else 'on'} the {where}"

    def _one(self, chance: np.random.Generator, wordings: Mapping[str, list[Any]]) -> Mapping[str, Any]:
        """Return one of the wordings that this half may use."""
        given = [each if isinstance(each, dict) else {"say": each} for each in wordings["divided"]]
        own = set(halves([each["say"] for each in given])[self._split])
        pool = [{"say": each} for each in wordings["both"]] + [each for each in given if each["say"] in own]
        chosen: Mapping[str, Any] = pool[int(chance.integers(len(pool)))]
        return chosen
