"""What is known of types of objects: looks, parts, uses and kinds, from WordNet (Miller, 1995), of 20,000 words.

It was made for no instruction and no robot: a type that it does not name is as it would be without it.
"""

from __future__ import annotations

import gzip
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

_TABLE = Path(__file__).parent / "data" / "objects.tsv.gz"


class Sense(NamedTuple):
    """One meaning of a word for a thing.

    Attributes:
        words: that have this meaning.
        said: what the thing is, looks like and is used for.
        kinds: what kind of thing it is, the nearest first.
        parts: of it.
    """

    words: str
    said: str
    kinds: str
    parts: str

    def sentence(self, name: str) -> str:
        """Return all of it in words, of an object of that name."""
        kinds = f", a kind of {self.kinds}" if self.kinds else ""
        parts = f", with {self.parts}" if self.parts else ""
        return f"{name}: {self.said}{kinds}{parts}"


@lru_cache(maxsize=4096)
def senses(name: str) -> tuple[Sense, ...]:
    """Return what an object of this type can be, the most frequent meaning first; empty where nothing is known.

    Of a name of several words that is not known, the last ones count: a dish sponge is a sponge.
    """
    words = name.split()
    for first in range(len(words)):
        rest = words[first:]
        for known in (" ".join(rest), "".join(rest), "-".join(rest), " ".join(rest).removesuffix("s")):
            if (line := _table().get(known)) is not None:
                return tuple(Sense(*each.split("|")) for each in line.split("\t"))
    return ()


@lru_cache(maxsize=1)
def _table() -> dict[str, str]:
    with gzip.open(_TABLE, "rt", encoding="utf-8") as file:
        return dict(line.rstrip("\n").split("\t", 1) for line in file)
