"""The error of a wrong use of a verb."""


class UsageError(Exception):
    """Shown to the user as one line; the exit code is 1."""
