"""Launch arguments with another name than before: the former one is read for one more version, with a line."""

from __future__ import annotations

from collections.abc import Callable

from launch import LaunchContext

from kc_vla.core.deprecation import deprecated
from kc_vla.core.robot import load_robot
from kc_vla.launching.arguments import Argument, ArgumentError
from kc_vla.launching.kinds import Checked


def renamed(former: str, argument: Argument) -> tuple[Argument, Argument]:
    """Return the argument of the former name, and then that of today, as a launch file declares them.

    Args:
        former: name of before.
        argument: argument with the name of today.
    """
    return _FormerArgument(former, argument), argument


class _FormerArgument(Argument):
    """An argument that is read in place of another one, which is declared after it."""

    def __init__(self, name: str, today: Argument) -> None:
        super().__init__(
            name,
            Checked(lambda value: _check(today, value), empty=True),
            default_value="",
            description=f"deprecated: it is called {today.name}",
        )
        self._today = today.name

    def execute(self, context: LaunchContext) -> None:
        """Set the launch configuration, and that of the argument of today.

        Raises:
            ArgumentError: The value cannot be used, or the two arguments have different ones.
        """
        super().execute(context)
        given, today = context.launch_configurations, self._today
        value = given[self.name]
        if not value:
            return
        if given.get(today, value) != value:
            both = f"{self.name}:={value} and {today}:={given[today]}"
            raise ArgumentError(f"{both}: name the {today} once, by {today}:=")
        deprecated(f"{self.name}:={value} is called {today}:={value}")
        given[today] = value


def robot_arguments(
    default: str | None, description: str, check: Callable[[str], object] = load_robot
) -> tuple[Argument, Argument]:
    """Return the arguments that name the robot; no `default`: it must be named. `check` refuses a name."""
    return renamed("rig", Argument("robot", Checked(check), default_value=default, description=description))


def _check(argument: Argument, value: str) -> None:
    """Refuse what an argument cannot be. Raises: ValueError, or what its kind raises."""
    if argument.choices and value not in argument.choices:
        raise ValueError(f"it is one of {', '.join(argument.choices)}")
    argument.kind.read(value)
