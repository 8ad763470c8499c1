"""Looks for a thing: at one place after the other, and into what is shut."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from kc_vla.memory.things import CLOSED, ObservedThing
from kc_vla.planning.execution.opened_doors import OpenedDoors
from kc_vla.planning.execution.results import EXPLORE
from kc_vla.planning.execution.robot import RememberingRobot
from kc_vla.planning.execution.search_places import Search, SearchStop

LOOKS = 2
"""Before a thing is taken for gone: a detector may miss it once."""


class Explorer:
    """The search of one robot for things that it does not remember."""

    def __init__(self, robot: RememberingRobot, doors: OpenedDoors) -> None:
        """Prepare to explore.

        Args:
            robot: that explores.
            doors: that it opens.
        """
        self._robot, self._doors = robot, doors

    def explore(
        self,
        text: str,
        types: Mapping[str, float],
        there: Callable[[], ObservedThing | None],
        within: Collection[str] | None = None,
    ) -> tuple[ObservedThing | None, int]:
        """Look at one place after the other, the likely and near ones first.

        Args:
            text: what is looked for, as it was said.
            types: that it may be of, with weights.
            there: the thing, where it is in sight.
            within: ids of the areas to look in, such as those of a floor; None for all.

        Returns:
            The thing, None where it is nowhere; and how many places were looked at.

        Raises:
            EndedError: see `RememberingRobot.do`.
        """
        robot = self._robot
        search = Search(types, robot.memory, robot.grounds, within)
        for _ in range(robot.limits.stops):
            self._take_in(search)
            stop = search.next(robot.at, robot.now_s)
            if stop is None:
                break
            robot.explorations += 1
            robot.say(EXPLORE, f"looking for {text!r} {stop.told(robot.grounds)}")
            self._stop(stop)
            search.done(stop)
            seen = there()
            for _ in range(LOOKS - 1):
                if seen is None:
                    robot.look()
                    seen = there()
            if seen is not None:
                if seen.container != stop.container:
                    self._doors.tidy()
                return seen, search.looked
            self._take_in(search)
            self._doors.tidy()
        return None, search.looked

    def _take_in(self, search: Search) -> None:
        """Have a search know what is seen now. The camera of an arm that stands still shows some of its one area."""
        robot = self._robot
        search.saw("" if robot.stands_still else robot.at, filter(None, map(robot.known, robot.sight)))

    def look_into(self, container: str, wanted: str = "") -> None:
        """Open what is shut and in sight; it is closed again at once where it has not the thing that is wanted."""
        robot = self._robot
        if self._doors.refuses("OpenObject", container):
            return
        if robot.sight[container].area != robot.at:
            robot.do("GoToObject", container)
        if not self._doors.turn("OpenObject", container):
            self._doors.opened(container)
            if wanted and wanted not in robot.sight:
                self._doors.tidy()

    def _stop(self, stop: SearchStop) -> None:
        robot = self._robot
        if not stop.container:
            robot.do("Explore", stop.area)
            return
        if robot.at != stop.area:
            robot.do("GoToPlace", stop.area)
        for _ in range(LOOKS):
            container = robot.known(stop.container)
            if container is not None and CLOSED in container.states:
                self.look_into(stop.container)
                return
            robot.look()
