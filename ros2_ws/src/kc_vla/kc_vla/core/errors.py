"""The root of the stack's errors: each has a text that says what is wrong and what to do."""


class StackError(Exception):
    """An error that the user can repair; its text is one line."""
