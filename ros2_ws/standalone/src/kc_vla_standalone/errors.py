"""The error of a wrong use of a verb."""

import os


class UsageError(Exception):
    """Shown to the user as one line; the exit code is 1."""


def check_home() -> None:
    """Raise UsageError where nothing says in which folder ROS is to write its logs."""
    if not any(os.environ.get(name) for name in ("ROS_LOG_DIR", "ROS_HOME", "HOME")):
        raise UsageError("HOME is not set: set it, or ROS_HOME, to a folder that can be written")
