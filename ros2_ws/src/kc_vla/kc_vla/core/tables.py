"""Tables of things that are chosen by name and that other packages extend through entry points.

A row of ours is a line of the table. A row of another package is an entry point of the table's group in that package's
metadata. Both are references such as `kc_vla.arm.piper_kind:PIPER`, and are imported when they are asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from types import MappingProxyType
from typing import Any, Generic, Protocol, TypeVar, cast

from kc_vla.core.errors import StackError
from kc_vla.core.options import OptionError, known_options, read_options

R = TypeVar("R")
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class RowWithOptions(Protocol):
    """A row that names the dataclass of its options."""

    @property
    def options(self) -> type[Any]:
        """Return the frozen dataclass of its options."""


W = TypeVar("W", bound=RowWithOptions)


class TableError(StackError, ValueError):
    """A name that is in no row, or a row that cannot be loaded; the text says which package has to change."""


@dataclass(frozen=True)
class Listed(Generic[R]):
    """A row as a list of the table shows it.

    Attributes:
        name: by which it is chosen.
        package: distribution that it comes from.
        row: itself; None where it cannot be loaded.
        error: why it cannot be loaded; empty if it can.
    """

    name: str
    package: str
    row: R | None
    error: str = ""


class OpenTable(Generic[R]):
    """Rows by name: ours, and those of other packages."""

    def __init__(
        self,
        group: str,
        what: str,
        kind: type[R],
        own: Mapping[str, str],
        refusal: type[Exception] | None = None,
    ) -> None:
        """Describe the table; nothing is imported.

        Args:
            group: group of the entry points, e.g. "kc_vla.arms".
            what: name of a row in messages, e.g. "arm driver".
            kind: class of which every row is an instance.
            own: our rows, "module:attribute" by name.
            refusal: error that `options_of` and `making` raise; None: a `TableError` or an `OptionError`.
        """
        self.group, self.what = group, what
        self._kind, self._own, self._refusal = kind, dict(own), refusal

    def names(self) -> tuple[str, ...]:
        """Return the names of all rows, ours first, the others sorted; nothing is imported."""
        return (*self._own, *sorted({point.name for point in self._others()} - self._own.keys()))

    def get(self, name: str) -> R:
        """Return the row of that name.

        Raises:
            TableError: There is none, two packages have one, or it cannot be loaded. Other rows are not affected.
        """
        if name in self._own:
            module, _, attribute = self._own[name].partition(":")
            row: R = getattr(import_module(module), attribute)
            return row
        found = [point for point in self._others() if point.name == name]
        if not found:
            near = get_close_matches(name, self.names(), 1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(self.names())}"
            raise TableError(
                f"no {self.what} '{name}': {hint} (a package adds one with an entry point of the group '{self.group}')"
            )
        if len({point.value for point in found}) > 1:
            packages = ", ".join(sorted(map(_package, found)))
            raise TableError(f"two {self.what}s have the name '{name}', of the packages {packages}: uninstall one")
        return self._loaded(found[0])

    def options_of(
        self: OpenTable[W],
        name: str,
        given: Mapping[str, Any] = _NOTHING,
        shared: Mapping[str, Any] = _NOTHING,
        where: str = "",
    ) -> Any:
        """Return the options of a row, an instance of its `options`.

        Args:
            name: name of the row.
            given: values of options by their names; they replace the shared ones.
            shared: values of which the row takes those that are options of its own.
            where: place of the options, for messages; empty: the row.

        Raises:
            TableError: There is no such row, or its package cannot be loaded. A table with a `refusal` raises that.
            OptionError: The row cannot have these options. A table with a `refusal` raises that.
        """
        try:
            kind = self.get(name).options
            return read_options(kind, {**known_options(kind, shared), **given}, where or f"{self.what} '{name}'")
        except (TableError, OptionError) as error:
            if self._refusal is None:
                raise
            raise self._refusal(str(error)) from error

    @contextmanager
    def making(self, name: str) -> Iterator[None]:
        """Surround what a row makes something with.

        Raises:
            TableError: The row imports what is not installed. A table with a `refusal` raises that.
        """
        try:
            yield
        except ImportError as error:
            refusal = self._refusal or TableError
            raise refusal(f"{self.what} '{name}' needs what is not installed here: {error}") from error

    def rows(self) -> Iterator[Listed[R]]:
        """Load every row and return each, with the reason where one cannot be loaded."""
        for name in self.names():
            others = [point for point in self._others() if point.name == name]
            package = "kc_vla" if name in self._own else ", ".join(sorted({_package(point) for point in others}))
            try:
                yield Listed(name, package, self.get(name))
            except TableError as error:
                yield Listed(name, package, None, str(error))
            for point in others if name in self._own else ():
                yield Listed(
                    name,
                    _package(point),
                    None,
                    f"{self.what} '{name}' of package '{_package(point)}' has the name of one of ours: rename it there",
                )

    def _others(self) -> list[EntryPoint]:
        return list(_of_others(self.group))

    def _loaded(self, point: EntryPoint) -> R:
        of = f"{self.what} '{point.name}' of package '{_package(point)}'"
        try:
            row = point.load()
        except (Exception, SystemExit) as error:  # whatever another package raises when it is imported
            why = f"{type(error).__name__}: {error}".splitlines()[0]
            raise TableError(
                f"{of} cannot be loaded from {point.value}: {why}: repair or uninstall the package"
            ) from error
        if not isinstance(row, self._kind):
            raise TableError(f"{of}: {point.value} is a {type(row).__name__}, and must be a {self._kind.__name__}")
        return row


def added_names(group: str) -> tuple[str, ...]:
    """Return the names that other packages add to the table of a group, sorted; nothing is imported."""
    return tuple(sorted({point.name for point in _of_others(group)}))


def _of_others(group: str) -> EntryPoints:
    return _installed(tuple(sys.path)).select(group=group)


@lru_cache(maxsize=4)  # a launch file asks 20 times, and the metadata of all packages are read for each answer
def _installed(path: tuple[str, ...]) -> EntryPoints:
    """Return the entry points of all packages on the path."""
    return cast("EntryPoints", entry_points())  # of Python 3.11 it is another class with the same `select`


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "?"
