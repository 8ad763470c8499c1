"""The files that come with the stack: launch files, rigs, models."""

from __future__ import annotations

from pathlib import Path

from kc_vla.core.errors import StackError


class NotInstalledError(StackError):
    """The stack's own files are not where they belong."""


def share(folder: str) -> Path:
    """A folder of the installed package.

    Raises:
        NotInstalledError: it is not installed, or without that folder.
    """
    from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

    try:
        path = Path(get_package_share_directory("kc_vla")) / folder
    except PackageNotFoundError:
        raise NotInstalledError("the package kc_vla is not installed here: source env.sh") from None
    if not path.is_dir():
        raise NotInstalledError(f"{path} is missing: build the package kc_vla again (./setup.sh)")
    return path
