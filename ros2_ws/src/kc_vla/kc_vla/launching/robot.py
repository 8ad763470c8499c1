"""The launch argument `robot:=`, and `rig:=`, as it was called before."""

from __future__ import annotations

from collections.abc import Callable

from launch import LaunchContext

from kc_vla.core.deprecation import deprecated
from kc_vla.core.rig import load_rig
from kc_vla.launching.arguments import Argument, ArgumentError
from kc_vla.launching.kinds import Checked


def robot_arguments(
    default: str | None, description: str, check: Callable[[str], object] = load_rig
) -> tuple[Argument, Argument]:
    """Return the arguments that name the robot; no `default`: it must be named. `check` refuses a name."""
    former = _FormerArgument(
        "rig",
        Checked(lambda name: name and check(name)),
        default_value="",
        description="deprecated: it is called robot",
    )
    return former, Argument("robot", Checked(check), default_value=default, description=description)


class _FormerArgument(Argument):
    """An argument that is read for one more version in place of `robot`, which is declared after it."""

    def execute(self, context: LaunchContext) -> None:
        """Set the launch configuration, and that of `robot`.

        Raises:
            ArgumentError: There is no such robot, or both arguments name one.
        """
        super().execute(context)
        given = context.launch_configurations
        if not given[self.name]:
            return
        if given.get("robot", given[self.name]) != given[self.name]:
            raise ArgumentError(f"rig:={given[self.name]} and robot:={given['robot']}: name the robot once, by robot:=")
        deprecated(f"rig:={given[self.name]} is called robot:={given[self.name]}")
        given["robot"] = given[self.name]
