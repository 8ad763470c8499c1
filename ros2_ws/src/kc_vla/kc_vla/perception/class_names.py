"""Names of the classes that a detector numbers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kc_vla.core.untrusted import one_line, parsed_yaml, read_text
from kc_vla.perception.detectors import DetectorError

MOST_CLASSES = 10_000
_MOST_LETTERS = 100
_MOST_BYTES = 1 << 20


class ClassNames:
    """What numbered classes are called; a class with a name keeps it.

    Attributes:
        unknown: the last number that has no name here; empty while there was none.
    """

    def __init__(self, names: Mapping[int, str]) -> None:
        self._names, self.unknown = dict(names), ""

    @property
    def known(self) -> tuple[str, ...]:
        """Return the names, in the order of their numbers."""
        return tuple(self._names[number] for number in sorted(self._names))

    def learn(self, names: Mapping[int, str]) -> None:
        """Take further names, as a detector publishes them."""
        if len(self._names) + len(names) <= MOST_CLASSES:
            self._names |= {number: _plain(name) for number, name in names.items()}
            self.unknown = ""

    def of(self, class_id: str) -> str:
        """Return the name of a class, in lower case; that of a number without a name is "class 39"."""
        given = _plain(class_id)
        if not (given.isascii() and given.isdigit()):
            return given
        if (found := self._names.get(int(given))) is not None:
            return found
        self.unknown = given
        return f"class {given}"


def names_of(names: tuple[str, ...], file: str) -> ClassNames:
    """Return the names that options give.

    Args:
        names: in their order from 0 on.
        file: with a name in each line, a YAML list, or a mapping of numbers, perhaps below `names`; empty: none.

    Raises:
        DetectorError: the file cannot be read, or holds something else.
    """
    found: Any = list(names)
    if file:
        path = Path(file).expanduser()
        try:
            text = read_text(path, _MOST_BYTES)
            found = parsed_yaml(text) if path.suffix in (".yaml", ".yml") else text.splitlines()
        except (OSError, ValueError) as error:
            raise DetectorError(f"names_file {file} cannot be read: {error}") from error
    if isinstance(found, dict) and isinstance(found.get("names"), dict | list):
        found = found["names"]
    numbered = found if isinstance(found, dict) else dict(enumerate(found)) if isinstance(found, list) else {}
    right = all(type(number) is int and isinstance(name, str) for number, name in numbered.items())
    if len(numbered) > MOST_CLASSES or not right or (file and not numbered):
        raise DetectorError(f"names_file {file} has no names: write one a line, or as Ultralytics' data.yaml does")
    return ClassNames({number: _plain(name) for number, name in numbered.items()})


def _plain(name: str) -> str:
    return one_line(name[: 4 * _MOST_LETTERS]).strip().lower()[:_MOST_LETTERS]
