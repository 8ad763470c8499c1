"""Base of everything that the event handlers of a launch can react to."""


class Event:
    """Something that happened; handlers match on its class."""

    name = "launch.Event"
