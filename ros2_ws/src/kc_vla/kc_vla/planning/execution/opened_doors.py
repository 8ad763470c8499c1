"""What a robot opened on its way, and closes again: a fridge that is left open cools nothing."""

from __future__ import annotations

from collections import Counter

from kc_vla.memory.things import OPENED
from kc_vla.planning.execution.robot import RememberingRobot

_TRIES = 2
"""One failure may be chance."""
_CLOSE = "CloseObject"


class OpenedDoors:
    """The containers that one robot opened in an instruction and has to close again."""

    def __init__(self, robot: RememberingRobot) -> None:
        """Begin with no container opened.

        Args:
            robot: that opens and closes.
        """
        self._robot = robot
        self._opened: list[str] = []
        self._kept_open: set[str] = set()
        self._refused: Counter[tuple[str, str]] = Counter()

    def begin(self) -> None:
        """Begin an instruction."""
        self._opened.clear()
        self._kept_open.clear()
        self._refused.clear()

    def opened(self, object_id: str) -> None:
        """Note that something was opened on the way, or found open, and is to be closed.

        What the plan itself opened is left alone.
        """
        if object_id not in self._kept_open and object_id not in self._opened:
            self._opened.append(object_id)

    def keep_open(self, object_id: str) -> None:
        """Note that the plan opened something: it is the plan's to close it."""
        self._kept_open.add(object_id)
        self._opened = [each for each in self._opened if each != object_id]

    def refuses(self, skill: str, object_id: str) -> bool:
        """Return whether something would not open, or close, again and again in this instruction."""
        return self._refused[skill, object_id] >= _TRIES

    def turn(self, skill: str, object_id: str) -> str:
        """Do `OpenObject` or `CloseObject`; return why that failed, and keep count of it."""
        reason = self._robot.do(skill, object_id)
        self._refused[skill, object_id] += bool(reason)
        return reason

    def tidy(self) -> None:
        """Close what was opened on the way, where that is within reach; what is missed now is closed the next time.

        An arm that stands still does it when its hand is free.
        """
        robot, left = self._robot, self._opened
        if robot.stands_still and robot.held is not None:
            return
        self._opened = []
        for object_id in left:
            if object_id not in robot.sight:
                robot.look()
            known = robot.known(object_id)
            if (
                known is None or known.area != robot.at or (OPENED in known.states and self.turn(_CLOSE, object_id))
            ) and not self.refuses(_CLOSE, object_id):
                self._opened.append(object_id)
