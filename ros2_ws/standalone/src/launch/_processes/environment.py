"""The environment of a launched process: the launcher's, as it was in the user's shell, plus the tag.

The ROS wheels' start-up hook re-executes every Python once, with a guard variable and with its own folders
in LD_LIBRARY_PATH. A process of another environment that inherits both would skip its own preparation and
load this environment's libraries, so both are taken out again; a Python of this environment adds them anew.
"""

import os
import sys
from collections.abc import Mapping

from . import tags

_GUARD = "_ROS_WHEELS_BOOTSTRAP_COMPLETE"
_LIBRARY_PATH = "LD_LIBRARY_PATH"


def child_environment(environment: Mapping[str, str], tag: str) -> dict[str, str]:
    """Return the environment to start a process with."""
    result = dict(environment)
    if result.pop(_GUARD, None):
        own = os.path.join(sys.prefix, "lib")
        folders = [folder for folder in result.pop(_LIBRARY_PATH, "").split(os.pathsep) if folder]
        kept = [folder for folder in folders if folder != own and not folder.startswith(own + os.sep)]
        if kept:
            result[_LIBRARY_PATH] = os.pathsep.join(kept)
    result[tags.VARIABLE] = tag
    return result
