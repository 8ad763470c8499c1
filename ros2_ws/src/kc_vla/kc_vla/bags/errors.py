"""What can go wrong with a bag. Every message is one line that says what is wrong and what to do."""

from __future__ import annotations

_MOST_LETTERS = 1000


class BagError(Exception):
    """Any trouble with a bag."""

    def __init__(self, text: str) -> None:
        """Keep `text` to one line: it may quote what a damaged file holds."""
        super().__init__(one_line(text))


class BagWriteError(BagError):
    """The bag cannot be written (further). What was written before stays readable."""


class BagReadError(BagError):
    """The bag cannot be read at all."""


class BagMissingError(BagReadError):
    """There is no bag at the path."""


class BagEmptyError(BagReadError):
    """The folder or the file holds nothing."""


class BagForeignError(BagReadError):
    """The file is something else than a bag of ROS 2 messages."""


class BagBusyError(BagReadError, BagWriteError):
    """Another process writes the bag at this moment."""


class Damage(Exception):  # noqa: N818 - it ends a reading, it is no failure of the caller
    """A file can be read no further, and the text says why ("is ..."); it does not leave the reader."""

    def __init__(self, text: str) -> None:
        """Keep `text` to one line, as `BagError` does."""
        super().__init__(one_line(text))


class ReportError(BagError):
    """A file of the report cannot be written."""


def one_line(text: str) -> str:
    """Return `text` in one line not longer than one can read: what would move a terminal's cursor is shown escaped."""
    return "".join(map(_shown, text[:_MOST_LETTERS]))


def _shown(letter: str) -> str:
    if letter.isprintable():
        return letter
    return " " if letter.isspace() else letter.encode("unicode_escape").decode()
