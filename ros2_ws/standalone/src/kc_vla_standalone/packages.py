"""Packages and executables in the ament index, with errors that a user can act on."""

from __future__ import annotations

import os
from pathlib import Path

from ament_index_python.packages import (
    PackageNotFoundError,
    get_package_prefix,
    get_package_share_directory,
    get_packages_with_prefixes,
)

from .errors import UsageError

_NO_INDEX = "AMENT_PREFIX_PATH is not set, source env.sh"


def package_prefix(package: str) -> Path:
    """Return the prefix that a package is installed in; UsageError if it is not installed."""
    try:
        return Path(get_package_prefix(package))
    except (PackageNotFoundError, ValueError, OSError) as error:
        raise UsageError(_not_found(package)) from error


def package_share(package: str) -> Path:
    """Return the share folder of a package; UsageError if it is not installed."""
    try:
        return Path(get_package_share_directory(package))
    except (PackageNotFoundError, ValueError, OSError) as error:
        raise UsageError(_not_found(package)) from error


def package_names() -> list[str]:
    """Return the names of all installed packages, sorted."""
    if not _index_is_known():
        raise UsageError(_NO_INDEX)
    return sorted(get_packages_with_prefixes())


def is_package(name: str) -> bool:
    """Return whether a package of this name is installed."""
    return _index_is_known() and name in get_packages_with_prefixes()


def executables(package: str) -> list[Path]:
    """Return the executables of a package, sorted; UsageError if it is not installed."""
    folder = package_prefix(package) / "lib" / package
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.rglob("*") if path.is_file() and os.access(path, os.X_OK))


def executable(package: str, name: str) -> Path:
    """Return the path of one executable; UsageError says which ones there are."""
    found = [path for path in executables(package) if path.name == name]
    if not found:
        names = ", ".join(path.name for path in executables(package)) or "none"
        raise UsageError(f"package '{package}' has no executable '{name}' (it has: {names})")
    return found[0]


def _index_is_known() -> bool:
    return bool(os.environ.get("AMENT_PREFIX_PATH"))


def _not_found(package: str) -> str:
    where = os.environ["AMENT_PREFIX_PATH"] if _index_is_known() else f"nothing: {_NO_INDEX}"
    return f"package '{package}' not found, searched {where}"
