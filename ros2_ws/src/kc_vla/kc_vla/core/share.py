"""The files that come with the stack: launch files, robot files, models."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from kc_vla.core.errors import StackError


class NotInstalledError(StackError):
    """The stack's own files are not where they belong."""


def share(folder: str) -> Path:
    """Return a folder of the installed package: where ROS 2 has it, or else where pip put it.

    Raises:
        NotInstalledError: The package is not installed, or lacks that folder.
    """
    root = _where_ros_has_it() or _where_pip_put_it()
    if root is None:
        raise NotInstalledError("the package kc_vla is not installed here: source env.sh")
    if not (root / folder).is_dir():
        raise NotInstalledError(f"{root / folder} is missing: build the package kc_vla again (./setup.sh)")
    return root / folder


def _where_ros_has_it() -> Path | None:
    try:
        from ament_index_python.packages import PackageNotFoundError as UnknownToRos
        from ament_index_python.packages import get_package_share_directory
    except ModuleNotFoundError:  # pip installs the stack on machines without ROS 2, too
        return None
    try:
        return Path(get_package_share_directory("kc_vla"))
    except UnknownToRos:
        return None


def _where_pip_put_it() -> Path | None:
    """Return share/kc_vla of the wheel: pip notes where it has put each file of a wheel."""
    try:
        files = distribution("kc_vla").files or []
    except PackageNotFoundError:
        return None
    found = next((file for file in files if file.parts[-3:] == ("share", "kc_vla", "package.xml")), None)
    return Path(str(found.locate())).resolve().parent if found is not None else None
