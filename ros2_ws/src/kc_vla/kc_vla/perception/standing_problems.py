"""Problems that stand until they are over, each a line about something; one of them is shown."""

from __future__ import annotations


class StandingProblems:
    """What is wrong at present, and which line of it is to be shown."""

    def __init__(self) -> None:
        """Begin with no problem."""
        self._lines: dict[str, str] = {}

    def changed(self, about: str, line: str) -> str | None:
        """Note a problem, or that there is none any more.

        Args:
            about: what it concerns, such as a topic.
            line: the problem; empty where there is none.

        Returns:
            the line to show from now on: this one, else another that still stands, else an empty one. None where
            nothing has changed.
        """
        if self._lines.get(about, "") == line:
            return None
        self._lines[about] = line
        return line or next(filter(None, self._lines.values()), "")
