"""What a look at the machine found: a line for a person, the same for a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

_NAME = 16


class Level(StrEnum):
    """How bad it is."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True)
class Finding:
    """One line.

    Attributes:
        name: of what was looked at.
        level: `WARN` where something is missed or works worse, `FAIL` where the stack does not run like this.
        what: there is, in one line.
        do: what a person can do about it; empty if nothing needs to be done.
        facts: the same for a program, as JSON has it.
    """

    name: str
    level: Level
    what: str
    do: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """Return the finding as lines for a screen."""
        told = [f"{self.level:<5} {self.name:<{_NAME}} {self.what}"]
        return told + ([f"{'':<{_NAME + 6}} -> {self.do}"] if self.do else [])

    def as_json(self) -> dict[str, Any]:
        """Return the finding as plain values for a program; `from_json` takes it back."""
        return {"name": self.name, "level": str(self.level), "what": self.what, "do": self.do, "facts": {**self.facts}}


def from_json(row: Mapping[str, Any]) -> Finding:
    """Return what `Finding.as_json` made."""
    return Finding(row["name"], Level(row["level"]), row["what"], row["do"], row["facts"])


def worst(findings: Sequence[Finding]) -> Level:
    """Return the worst level of all."""
    levels = [finding.level for finding in findings]
    return next((level for level in (Level.FAIL, Level.WARN) if level in levels), Level.OK)


def last_line(findings: Sequence[Finding]) -> str:
    """Return how many are not well."""
    levels = [finding.level for finding in findings]
    fails, warnings = levels.count(Level.FAIL), levels.count(Level.WARN)
    if not fails and not warnings:
        return "all is well"
    return f"{_many(fails, 'failure')}, {_many(warnings, 'warning')}: see each ->"


def _many(number: int, word: str) -> str:
    return f"{number or 'no'} {word}{'' if number == 1 else 's'}"
