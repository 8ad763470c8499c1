"""What a launch argument can be: each kind refuses what the graph cannot use, with what to give in its place."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

_LONGEST_NUMBER = 40
"""Characters: a longer text is no number that a graph is started with."""


@dataclass(frozen=True)
class Kind:
    """What a launch argument can be."""

    @property
    def choices(self) -> list[str] | None:
        """Return the allowed words; None where they are not counted."""
        return None

    def read(self, value: str) -> str:
        """Return the value in the spelling that the nodes read; ValueError says why it cannot be used."""
        return value


@dataclass(frozen=True)
class AnyText(Kind):
    """Any text: what a person says, a password, a name that nobody lists."""


@dataclass(frozen=True)
class NotEmpty(Kind):
    """Any text but an empty one."""

    def read(self, value: str) -> str:
        """Return the text unchanged; raise ValueError if it is empty."""
        if not value.strip():
            raise ValueError("give a name")
        return value


@dataclass(frozen=True)
class OneOf(Kind):
    """One of several words."""

    words: tuple[str, ...]

    @property
    def choices(self) -> list[str] | None:
        """Return the allowed words."""
        return list(self.words)


@dataclass(frozen=True)
class Switch(Kind):
    """Yes or no, in each spelling that a condition of a launch file accepts; nodes read `true` and `false` alone."""

    @property
    def choices(self) -> list[str] | None:
        """Return the two words."""
        return ["true", "false"]

    def read(self, value: str) -> str:
        """Return `true`, `false`, or a word that the declaration refuses."""
        word = value.strip().lower()
        return {"1": "true", "0": "false"}.get(word, word)


@dataclass(frozen=True)
class Number(Kind):
    """A number as YAML writes it, within bounds that are included.

    Attributes:
        low: the least, None where there is none.
        high: the largest, None where there is none.
        whole: no number with a decimal point.
        word: allowed in place of a number; empty: none is.
    """

    low: float | None = None
    high: float | None = None
    whole: bool = False
    word: str = ""

    def read(self, value: str) -> str:
        """Return the value unchanged if it is valid; raise ValueError otherwise."""
        if self.word and value == self.word:
            return value
        number = typed(value)
        wanted = (int,) if self.whole else (int, float)
        if type(number) not in wanted or not self._holds(number):
            raise ValueError(f"give {self.meaning}")
        return value

    @property
    def meaning(self) -> str:
        """Return what is wanted, in words."""
        name = "a whole number" if self.whole else "a number such as 1.0"
        bounds = "" if self.low is None else f" of {self.low:g} or more"
        bounds = bounds if self.low is None or self.high is None else f" from {self.low:.12g} to {self.high:.12g}"
        return name + bounds + (f", or {self.word}" if self.word else "")

    def _holds(self, number: float) -> bool:
        low = float("-inf") if self.low is None else self.low
        high = float("inf") if self.high is None else self.high
        return low <= number <= high and number not in (float("inf"), float("-inf"))


PORT = Number(0, 65535, whole=True)
"""A TCP port; 0 is any free one."""


@dataclass(frozen=True)
class ExistingPath(Kind):
    """Something on disk that is there already.

    Attributes:
        what: `file`, `folder`, or empty for either.
        needed: an empty value, which means none, is refused.
    """

    what: str = ""
    needed: bool = False

    def read(self, value: str) -> str:
        """Return the value unchanged if it is valid; raise ValueError otherwise."""
        if not value and not self.needed:
            return value
        path = Path(value).expanduser()
        there = {"file": path.is_file, "folder": path.is_dir}.get(self.what, path.exists)
        if not value or not there():
            other = f"it is no {self.what}" if value and path.exists() else f"there is no such {self.what or 'path'}"
            raise ValueError(other)
        return value


@dataclass(frozen=True)
class NewPath(Kind):
    """A file or folder that the graph makes where it is not there.

    Attributes:
        what: `file`, `folder` or `socket`.
        needed: an empty value, which means none, is refused.
    """

    what: str
    needed: bool = True

    def read(self, value: str) -> str:
        """Return the value unchanged if it is valid; raise ValueError otherwise."""
        if not value:
            if self.needed:
                raise ValueError(f"name a {self.what}")
            return value
        path = Path(value).expanduser()
        if path.exists() and path.is_dir() != (self.what == "folder"):
            raise ValueError(f"it is there already and is no {self.what}")
        above = next((each for each in path.absolute().parents if each.exists()), None)
        if above is not None and not above.is_dir():
            raise ValueError(f"{above} is no folder")
        return value


@dataclass(frozen=True)
class HostAddress(Kind):
    """A name or number of this machine, at which a server listens."""

    def read(self, value: str) -> str:
        """Return the value unchanged if it is valid; raise ValueError otherwise."""
        try:
            if ipaddress.ip_address(value).is_unspecified:
                raise ValueError("name one address of this machine")
        except ValueError:
            if re.fullmatch(r"[\d.:]+", value) or not re.fullmatch(r"[\w-]+(\.[\w-]+)*\.?", value, re.ASCII):
                raise ValueError("give one address of this machine, such as 127.0.0.1") from None
        return value


@dataclass(frozen=True)
class ServerUrl(Kind):
    """The address of a server, with one of several schemes; empty means the usual one."""

    schemes: tuple[str, ...]

    def read(self, value: str) -> str:
        """Return it as it is; the text of an error never repeats it, as it may hold a password."""
        if not value:
            return value
        try:
            parts = urlsplit(value)
            good = parts.scheme in self.schemes and bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            good = False
        if not good:
            raise ValueError(f"give an address such as {' or '.join(f'{each}://host:8000' for each in self.schemes)}")
        return value


@dataclass(frozen=True)
class CanInterfaceName(Kind):
    """The name of a network interface; of an emulated bus, a path."""

    path: bool = False

    def read(self, value: str) -> str:
        """Return the value unchanged if it is valid; raise ValueError otherwise."""
        if not (self.path and "/" in value) and not re.fullmatch(r"[^\s/:]{1,15}", value):
            raise ValueError("give the name of a CAN interface, such as can0")
        return value


@dataclass(frozen=True)
class Checked(Kind):
    """What a function takes that refuses others with a ValueError or an error of the stack.

    Attributes:
        check: called with the value.
        empty: an empty value is not checked.
    """

    check: Callable[[str], Any]
    empty: bool = False

    def read(self, value: str) -> str:
        """Return the value unchanged if it is valid; raise ValueError otherwise."""
        if value or not self.empty:
            self.check(value)
        return value


def typed(value: str) -> Any:
    """Return what ROS takes a text for, as a parameter of a node."""
    try:
        return yaml.safe_load(value) if len(value) <= _LONGEST_NUMBER else value
    except (yaml.YAMLError, ValueError):
        return value
