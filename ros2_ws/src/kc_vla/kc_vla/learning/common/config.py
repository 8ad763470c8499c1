"""Settings of a training run: out of a TOML file and single changes, into the dataclass of whatever is trained."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from kc_vla.learning.common.errors import LearningError

T = TypeVar("T")
ARITHMETICS = ("auto", "fp32", "bf16")
"""In which training multiplies; "auto" is the faster one."""
_TOO_MUCH = 1e9


class ConfigError(LearningError):
    """A setting that does not exist or has a value that it cannot have."""


def read_settings(path: Path | None, changes: Mapping[str, str], base: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of `base`, with those of a TOML file, and single `changes` by dotted name, in their place.

    Raises:
        ConfigError: no such file, or it is no TOML.
    """
    values = dict(base)
    if path is not None:
        try:
            values |= tomllib.loads(path.read_text())
        except OSError as error:
            raise ConfigError(f"no settings read from {path}: {error.strerror}") from error
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(f"{path} is no TOML: {error}") from error
    for name, text in changes.items():
        *groups, last = name.split(".")
        inner = values
        for group in groups:
            inner = inner.setdefault(group, {})
        inner[last] = _parse(text)
    return values


def settings_as(
    kind: type[T], values: Mapping[str, Any], choices: Mapping[str, tuple[str, ...]], least: Mapping[str, float]
) -> T:
    """Return settings as the dataclass `kind`, whose own defaults stand for what `values` does not have.

    Args:
        kind: of texts, whole numbers, numbers, truth values, and groups of them, which are dataclasses, too.
        values: as `read_settings` gives them.
        choices: of a text, by its dotted name; any text will do for one that has none there.
        least: of a number, by its dotted name; 0 where it has none there.

    Raises:
        ConfigError: no such setting, or a value that the setting cannot have; the message names it.
    """
    return _fill(kind, values, "", choices, least)


def _fill(
    kind: type[T],
    values: Mapping[str, Any],
    prefix: str,
    choices: Mapping[str, tuple[str, ...]],
    least: Mapping[str, float],
) -> T:
    hints = get_type_hints(kind)
    known = [f.name for f in fields(kind)]  # type: ignore[arg-type]
    given: dict[str, Any] = {}
    for name, value in values.items():
        if name not in known:
            raise ConfigError(f"no setting '{prefix}{name}': choose one of {', '.join(known)}")
        wanted, full = hints[name], f"{prefix}{name}"
        if isinstance(value, Mapping) and isinstance(wanted, type) and is_dataclass(wanted):
            given[name] = _fill(wanted, value, f"{full}.", choices, least)
        else:
            given[name] = _checked(full, value, wanted, choices.get(full, ()), least.get(full, 0))
    return kind(**given)


def _checked(name: str, value: Any, wanted: type, choices: tuple[str, ...], low: float) -> Any:
    if wanted is float and type(value) is int:
        value = float(value)
    if type(value) is not wanted:
        raise ConfigError(f"setting '{name}' is {value!r}: it must be of type {wanted.__name__}")
    if isinstance(value, str):
        if choices and value not in choices:
            raise ConfigError(f"setting '{name}' is {value!r}: choose one of {', '.join(choices)}")
    elif isinstance(value, int | float) and not low <= value < _TOO_MUCH:
        raise ConfigError(f"setting '{name}' is {value}: it must be a number from {low}")
    return value


def _parse(text: str) -> Any:
    """Return a value as TOML has it; a word without quotes is a text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
