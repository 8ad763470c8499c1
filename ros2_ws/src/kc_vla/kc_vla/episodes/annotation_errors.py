"""What can be wrong with annotations."""


class AnnotationError(ValueError):
    """What was asked for cannot be; the text says why, in one line."""


class Conflict(AnnotationError):  # noqa: N818 - it is what happened, between two who did nothing wrong
    """The annotation has changed since it was looked at."""
