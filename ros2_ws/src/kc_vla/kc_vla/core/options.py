"""Options of a row of a table: a frozen dataclass whose fields say type, meaning, unit, default and bounds.

Parameters of nodes, checks of files, and tables of the documentation follow from the fields.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from difflib import get_close_matches
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from kc_vla.core.untrusted import parsed_yaml

T = TypeVar("T")
_TYPES = (bool, int, float, str)
_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
_LIST_WORDS = {float: "a list of numbers", str: "a list of texts"}


class OptionError(ValueError):
    """An option is unknown or has a wrong value; the text names it and says what is allowed."""


@dataclass(frozen=True)
class OptionRule:
    """What one option may be.

    Attributes:
        name: name of the option.
        kind: type of its value, or of the items of a list: bool, int, float, str, or a dataclass of options.
        meaning: one line, with the unit.
        default: its value where none is given; None where one must be.
        low, high: bounds of a number, both included.
        choices: the only values of a text; an empty one stands for none.
        is_list: whether the value is a list of items of that kind, numbers or texts.
    """

    name: str
    kind: type[Any]
    meaning: str
    default: Any
    low: float | None
    high: float | None
    choices: tuple[str, ...]
    is_list: bool = False

    @property
    def allowed(self) -> str:
        """What is allowed, in a few words; empty if everything of the type is."""
        if is_dataclass(self.kind):
            return "with " + ", ".join(rule.name for rule in rules_of(self.kind))
        if self.choices:
            return "one of " + ", ".join(filter(None, self.choices))
        if self.low is None and self.high is None:
            return ""
        return f"{'' if self.low is None else f'{self.low:g}'}..{'' if self.high is None else f'{self.high:g}'}"

    def check(self, given: Any) -> Any:
        """Return the value: a whole number as a float where one is wanted, a mapping as its dataclass.

        Raises:
            OptionError: It is of another type, or out of bounds.
        """
        if is_dataclass(self.kind):
            if not isinstance(given, Mapping):
                raise OptionError(f"option '{self.name}' is {given!r}: it must be a mapping {self.allowed}")
            return read_options(self.kind, given, f"option '{self.name}'")
        if self.is_list:
            if not isinstance(given, list | tuple):
                raise OptionError(
                    f"option '{self.name}' is {given!r}: it must be {_LIST_WORDS[self.kind]} - {self.meaning}"
                )
            return tuple(map(self._check_item, given))
        return self._check_item(given)

    def _check_item(self, given: Any) -> Any:
        value: Any = _as_float(given) if self.kind is float and type(given) is int else given
        if type(value) is not self.kind:
            wanted = f"it must be {_WORDS[self.kind]} - {self.meaning}{_cause(self, value)}"
            raise OptionError(f"option '{self.name}' is {value!r}: {wanted}")
        if isinstance(value, float) and not math.isfinite(value):
            raise OptionError(f"option '{self.name}' is {value}: it must be finite - {self.meaning}")
        low, high = self.low, self.high
        inside = (low is None or value >= low) and (high is None or value <= high)
        if not inside or (self.choices and value not in self.choices):
            raise OptionError(f"option '{self.name}' is {value!r}: allowed is {self.allowed} - {self.meaning}")
        return value


def option(
    meaning: str,
    default: Any = MISSING,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: Sequence[str] = (),
    secret: bool = False,
) -> Any:
    """Return a dataclass field that is an option.

    Args:
        meaning: one line, with the unit.
        default: its value where none is given; without one the option must be given.
        low, high: bounds of a number, both included.
        choices: the only values of a text.
        secret: `repr` leaves its value out.
    """
    metadata = {"meaning": meaning, "low": low, "high": high, "choices": tuple(choices)}
    return field(default=default, repr=not secret, metadata=metadata)


@dataclass(frozen=True)
class NoOptions:
    """The options of a row that has none."""


def rules_of(kind: type[Any]) -> tuple[OptionRule, ...]:
    """Return what each option of a dataclass may be.

    Raises:
        TypeError: A field is not made by `option`, or has a type that an option cannot have: it is bool, int, float,
            str, tuple[float, ...], tuple[str, ...] or a dataclass of options.
    """
    hints = get_type_hints(kind)
    rules = []
    for item in fields(kind):
        of, is_list = _item_type(hints[item.name])
        if "meaning" not in item.metadata or of is None:
            raise TypeError(f"{kind.__name__}.{item.name}: make it with option(), of type bool, int, float or str")
        default = None if item.default is MISSING else item.default
        rules.append(OptionRule(item.name, of, default=default, is_list=is_list, **item.metadata))
    return tuple(rules)


def _item_type(hint: Any) -> tuple[type[Any] | None, bool]:
    """Return the type of the items of a list, or that of a single value, and whether it is a list; None for others."""
    if get_origin(hint) is tuple:
        of, *rest = get_args(hint)
        return (of if of in _LIST_WORDS and rest == [...] else None), True
    return (hint if hint in _TYPES or is_dataclass(hint) else None), False


def parse_options(text: str) -> dict[str, Any]:
    """Return the options by name that a person wrote in one line of YAML; none for an empty text.

    Raises:
        OptionError: It is no mapping.
    """
    try:
        given = parsed_yaml(text) if text.strip() else {}
    except ValueError as error:
        raise OptionError(f"{text!r} is no YAML ({error}): write options as {{address: 192.168.1.5}}") from error
    if not isinstance(given, Mapping):
        raise OptionError(f"{text!r} names no options: write them as {{address: 192.168.1.5}}")
    return {str(name): value for name, value in given.items()}


def read_options(kind: type[T], given: Mapping[str, Any], where: str) -> T:
    """Return the options as an instance of their dataclass.

    Args:
        kind: the dataclass.
        given: their values by name, as a file has them.
        where: they stand, for messages.

    Raises:
        OptionError: One is not known, is missing, has a wrong type, or lies out of bounds; or the dataclass, in its
            `__post_init__`, refuses them together.
    """
    rules = {rule.name: rule for rule in rules_of(kind)}
    for name in given:
        if name not in rules:
            near = get_close_matches(str(name).lower(), rules, 1)
            known = f"it may have {', '.join(rules)}" if rules else "it has no options"
            raise OptionError(
                f"{where}: there is no option {str(name)!r}: {f'did you mean {near[0]!r}?' if near else known}"
            )
    values = {}
    for name, rule in rules.items():
        if name in given:
            try:
                values[name] = rule.check(given[name])
            except OptionError as error:
                raise OptionError(f"{where}: {error}") from error
        elif rule.default is None:
            raise OptionError(f"{where}: option '{name}' is missing - {rule.meaning}")
    try:
        return kind(**values)
    except OptionError as error:  # the dataclass checks what one option says of another
        raise OptionError(f"{where}: {error}") from error


def options_in(text: str, where: str) -> dict[str, Any]:
    """Return the options that a text of YAML gives, as in `{rate: 5.0}`; none where it is empty.

    Args:
        text: as a parameter or a launch argument has it.
        where: it stands, for messages.

    Raises:
        OptionError: It is no mapping.
    """
    try:
        given = parsed_yaml(text) if text else {}
    except ValueError as error:
        raise OptionError(f"{where} is {text!r}: {error}") from error
    if not isinstance(given, Mapping):
        raise OptionError(f"{where} is {text!r}: write options as {{name: value}}")
    return dict(given)


def known_options(kind: type[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of some values whose name is that of an option.

    Args:
        kind: the dataclass of the options.
        values: by name, of which any row may have some.
    """
    return {rule.name: values[rule.name] for rule in rules_of(kind) if rule.name in values}


def _as_float(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _cause(rule: OptionRule, value: Any) -> str:
    """The likely cause of a wrong type."""
    if isinstance(value, str) and rule.kind in (int, float, bool):
        return ": write it without quotes"
    if rule.kind is str and isinstance(value, int | float):
        return f": write '{value}' in quotes"
    return ""
