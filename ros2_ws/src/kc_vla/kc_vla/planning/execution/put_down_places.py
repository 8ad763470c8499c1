"""Where to put down what is in the hand: where such things usually are and what is near, then what is found."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kc_vla.memory.references.likely_places import holders, share
from kc_vla.memory.short_term.unit import spoken
from kc_vla.memory.things import CLOSED
from kc_vla.planning.execution.beside import SURFACES, holds_things
from kc_vla.planning.execution.finding import Finder
from kc_vla.planning.execution.robot import NotFoundError, RememberingRobot

_MOST = 4
"""Places in sight, likely types and further stops of a search that are tried, each."""


def put_down_places(robot: RememberingRobot, finder: Finder, kind: str, without: Collection[str]) -> Iterator[str]:
    """Yield the ids of places for a thing, the best first; the robot looks for the next one when that is asked for.

    Args:
        robot: that holds the thing.
        finder: of places that are not in sight.
        kind: type of the thing.
        without: ids of places that will not do.

    Raises:
        EndedError: see `RememberingRobot.do`.
    """
    tried = set(without)

    def near() -> list[str]:
        return [each for each in _in_sight(robot, kind) if each not in tried]

    for place in near()[:_MOST]:
        tried.add(place)
        yield place
    likely = sorted(holders(), key=lambda each: -share(kind, each))[:_MOST]
    for name in (*map(spoken, likely), *SURFACES):
        try:
            place = finder.find(name, tried, explore=False).object_id
        except NotFoundError:
            continue
        tried.add(place)
        yield place
    for _ in range(_MOST):
        found = finder.look_around(
            {name: share(kind, name) for name in likely},
            lambda: next((robot.sight[each] for each in near()), None),
        )
        if found is None:
            return
        tried.add(found.object_id)
        yield found.object_id


def _in_sight(robot: RememberingRobot, kind: str) -> list[str]:
    """Return what is in sight and holds things, the likeliest for such a thing first."""
    there = (known for name in robot.sight if (known := robot.known(name)) is not None)
    fit = [each for each in there if not each.movable and holds_things(each.object_type) and CLOSED not in each.states]
    fit.sort(key=lambda each: (-share(kind, each.object_type), robot.grounds.distance(robot.at, each.area)))
    return [each.object_id for each in fit]
