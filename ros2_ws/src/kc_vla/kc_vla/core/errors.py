"""The root of the stack's errors: each has a text that says what is wrong and what to do."""


class StackError(Exception):
    """Something that the user can mend, told in one line."""
