"""How ROS 2's own launch calls the functions that a launch file gives it: measured with launch 3.4.3 of Jazzy."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Call:
    """One place for a function.

    Attributes:
        owner: class that takes it, and the module that has the class.
        parameter: keyword that takes it.
        arguments: classes of what it is called with, by position.
    """

    owner: tuple[str, str]
    parameter: str
    arguments: tuple[str, ...]


CALLS = (
    # One argument, no context; `event.text` is bytes as they were read: no line, half of one, or several.
    Call(("launch.event_handlers", "OnProcessIO"), "on_stderr", ("ProcessStderr",)),
    Call(("launch.event_handlers", "OnProcessStart"), "on_start", ("ProcessStarted", "LaunchContext")),
    Call(("launch.event_handlers", "OnProcessExit"), "on_exit", ("ProcessExited", "LaunchContext")),
    Call(("launch.event_handlers", "OnShutdown"), "on_shutdown", ("Shutdown", "LaunchContext")),
    Call(("launch.actions", "ExecuteProcess"), "on_exit", ("ProcessExited", "LaunchContext")),
    Call(("launch_ros.actions", "Node"), "on_exit", ("ProcessExited", "LaunchContext")),
    # and then `args` and `kwargs` of the action
    Call(("launch.actions", "OpaqueFunction"), "function", ("LaunchContext",)),
)
