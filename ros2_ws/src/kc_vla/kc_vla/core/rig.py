"""The former name of `kc_vla.core.robot`, for packages that still import it; it is read for one more version."""

from __future__ import annotations

from typing import Any

from kc_vla.core import robot
from kc_vla.core.deprecation import deprecated

_FORMER = {
    "Rig": "Robot",
    "RigError": "RobotError",
    "load_rig": "load_robot",
    "rig_of": "robot_of",
    "shipped_rigs": "shipped_robots",
}


def __getattr__(name: str) -> Any:
    """Return what `kc_vla.core.robot` has by that name, or by the name that replaced it."""
    new = _FORMER.get(name, name)
    if new not in robot.__all__:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    deprecated(f"{__name__}.{name} is called {robot.__name__}.{new}")
    return getattr(robot, new)
