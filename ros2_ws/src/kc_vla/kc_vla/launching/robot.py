"""The launch argument `robot:=`, and `rig:=`, as it was called before."""

from __future__ import annotations

from collections.abc import Callable

from kc_vla.core.robot import load_robot
from kc_vla.launching.arguments import Argument
from kc_vla.launching.kinds import Checked
from kc_vla.launching.renamed import renamed


def robot_arguments(
    default: str | None, description: str, check: Callable[[str], object] = load_robot
) -> tuple[Argument, Argument]:
    """Return the arguments that name the robot; no `default`: it must be named. `check` refuses a name."""
    return renamed("rig", Argument("robot", Checked(check), default_value=default, description=description))
