"""The person and the home folder of a process: a service or a container may have neither."""

from __future__ import annotations

import getpass
import os
from pathlib import Path


def cache_home() -> Path:
    """Return the folder of all caches, after the XDG rules; OSError where nothing says where it is."""
    if named := os.environ.get("XDG_CACHE_HOME"):
        return Path(named)
    try:
        return Path.home() / ".cache"
    except RuntimeError:
        raise OSError("HOME is not set: set it, or XDG_CACHE_HOME, to a folder that can be written") from None


def check_log_folder() -> None:
    """Check that ROS will find a folder for its logs.

    Raises:
        OSError: no environment variable says where it is.
    """
    if not any(os.environ.get(name) for name in ("ROS_LOG_DIR", "ROS_HOME", "HOME")):
        raise OSError("HOME is not set: set it, or ROS_HOME, to a folder that can be written")


def user_name() -> str:
    """Return the name of the person, or the number where it has no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid{os.getuid()}"
