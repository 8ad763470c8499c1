"""The event that ends a launch."""

from ..event import Event


class Shutdown(Event):
    """The launch is going down."""

    name = "launch.events.Shutdown"

    def __init__(self, *, reason: str = "reason not given", due_to_sigint: bool = False) -> None:
        self.reason = reason
        self.due_to_sigint = due_to_sigint
