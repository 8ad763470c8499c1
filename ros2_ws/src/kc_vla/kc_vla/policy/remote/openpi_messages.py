"""What is said over openpi's wire beside arrays: the metadata by which a server announces what else it understands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kc_vla.policy.remote import wire
from kc_vla.policy.remote.array_columns import CONSTANT
from kc_vla.policy.remote.mapping import Key, MappingError, PolicyMapping
from kc_vla.policy.remote.wire import WireError

KEYFRAMES, FRAMES, NEW, FRAME = "keyframes/", "keyframes/frames", "keyframes/new", "frame"
"""Top-level keys, which a stock server passes over. Arrays of keyframes, stacked, are called as those of the present
with the first before it; the second is which keyframes there are, oldest first; the third, which are in this request;
the last, the present frame."""
PREVIOUS, DELAY, EXECUTION = "prev_actions", "inference_delay", "execution_horizon"
"""Likewise, for real-time chunking: the rows that run already, how many, and up to which row they bind."""
RESET = {"reset": True}
RESET_DONE = {"reset_finished": True}
_MOST_KEYFRAMES = 64


@dataclass(frozen=True)
class ServerMetadata:
    """What a server says of itself.

    Attributes:
        reset: it needs a message when an episode begins.
        rtc: it takes the actions that run while it thinks.
        keyframes: how many it takes, 0 without a memory.
        keeps: it keeps them for a connection until it is reset: each need be sent once.
        rate: actions per second; None if it does not say.
        keys: names of the arrays that it wants, and of those that it gives; None likewise.
        numbers: of arrays of state and actions by name, what their numbers mean (`numbers_of`), as far as it says.
    """

    reset: bool = False
    rtc: bool = False
    keyframes: int = 0
    keeps: bool = False
    rate: float | None = None
    keys: tuple[frozenset[str], frozenset[str]] | None = None
    numbers: Mapping[str, str] = field(default_factory=dict)

    def metadata(self) -> dict[str, Any]:
        """Return the metadata as a server says them first."""
        said: dict[str, Any] = {"protocol": "openpi", "reset": self.reset, "rtc": self.rtc}
        if self.keyframes:
            said["memory"] = {"max_keyframes": self.keyframes, "order": "oldest_first", "keeps": self.keeps}
        if self.rate is not None:
            said["fps"] = self.rate
        if self.keys is not None:
            said["keys"] = {name: sorted(keys) for name, keys in zip(("wants", "gives"), self.keys, strict=True)}
        if self.numbers:
            said["numbers"] = dict(self.numbers)
        return said

    def check(self, mapping: PolicyMapping) -> str:
        """Check that a mapping fits this server; return what a user should know of it, mostly nothing.

        Raises:
            MappingError: it is not.
        """
        if self.keys is not None and (
            wrong := [_differ(*each) for each in zip(keys_of(mapping), self.keys, strict=True)]
        ):
            told = [text for text in wrong if text]
            if told:
                raise MappingError(f"the mapping '{mapping.name}' is not for this server: {'; '.join(told)}")
        ours = numbers_of(mapping)
        for name in ours.keys() & self.numbers.keys():
            here, there = ours[name], self.numbers[name]
            if here != there and CONSTANT not in f"{here} {there}":  # what one of the two has no use for is its affair
                raise MappingError(
                    f"the mapping '{mapping.name}' is not for this server: there {name} is ({wire.line(there)}), "
                    f"in the mapping ({here})"
                )
        if self.rate is not None and self.rate != mapping.rate:
            return (
                f"the server gives {self.rate:g} actions per second, the mapping '{mapping.name}' says {mapping.rate:g}"
            )
        return ""


def announced(said: Any) -> ServerMetadata:
    """Return what the metadata of a server announces; a stock one says nothing of all this.

    Raises:
        WireError: it is no map.
    """
    if not isinstance(said, Mapping):
        raise WireError(f"it begins with {type(said).__name__} in place of a map: is it an openpi server?")
    memory, keys = said.get("memory"), said.get("keys")
    most = wire.number_in(memory, "max_keyframes") or 0
    named = None
    if isinstance(keys, Mapping) and isinstance(keys.get("wants"), list) and isinstance(keys.get("gives"), list):
        named = frozenset(map(str, keys["wants"])), frozenset(map(str, keys["gives"]))
    reset = said.get("reset") is True
    return ServerMetadata(
        reset=reset,
        rtc=said.get("rtc") is True,
        keyframes=min(int(most), _MOST_KEYFRAMES),
        keeps=reset and isinstance(memory, Mapping) and memory.get("keeps") is True,
        rate=wire.number_in(said, "fps") or None,
        keys=named,
        numbers=_texts(said.get("numbers")),
    )


def keys_of(mapping: PolicyMapping) -> tuple[frozenset[str], frozenset[str]]:
    """Return names of the arrays of a mapping: those that a server wants, and those that it gives."""
    wants = {"/".join(key) for key in (*mapping.pictures, *mapping.state)}
    return frozenset(wants), frozenset("/".join(key) for key in mapping.actions)


def numbers_of(mapping: PolicyMapping) -> dict[str, str]:
    """Return the meaning of the numbers of each array of state and actions: its parts, in order."""
    arrays = {**mapping.state, **mapping.actions}
    return {"/".join(key): ", ".join(part.described() for part in parts) for key, parts in arrays.items()}


def nested(values: Mapping[Key, Any]) -> dict[str, Any]:
    """Return values with the names of maps within maps as such maps."""
    maps: dict[str, Any] = {}
    for key, value in values.items():
        inner = maps
        for name in key[:-1]:
            inner = inner.setdefault(name, {})
        inner[key[-1]] = value
    return maps


def unnested(maps: Mapping[str, Any], above: Key = ()) -> dict[Key, Any]:
    """Return the inverse of `nested`."""
    values: dict[Key, Any] = {}
    for name, value in maps.items():
        key = (*above, name)
        values |= unnested(value, key) if isinstance(value, Mapping) else {key: value}
    return values


def _texts(said: Any) -> Mapping[str, str]:
    if not isinstance(said, Mapping):
        return {}
    return {str(name): meaning for name, meaning in said.items() if isinstance(meaning, str)}


def _differ(ours: frozenset[str], theirs: frozenset[str]) -> str:
    texts = [
        f"{who} {', '.join(sorted(names))}"
        for who, names in (("it has no", ours - theirs), ("it has", theirs - ours))
        if names
    ]
    return ", ".join(texts)
