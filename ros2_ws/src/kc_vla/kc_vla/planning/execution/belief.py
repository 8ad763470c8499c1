"""What a robot believes of its home, as plain values: for pages, bags and people, beside what is true."""

from __future__ import annotations

from typing import Any

from kc_vla.memory.things import KnownThing
from kc_vla.planning.execution.robot import RememberingRobot

_MOST = 2000
"""Things, the newest: a message has an end."""


def belief(robot: RememberingRobot) -> dict[str, Any]:
    """Return what the robot believes of itself and of each thing that it remembers or sees, as JSON can hold it.

    Of itself it believes where it stands and what it holds. For the thread that carries instructions out.
    """
    known, memories = dict[str, KnownThing](), dict[str, list[str]]()
    for part in robot.memory.parts:
        for each in part.things():
            known.setdefault(each.object_id, each)
            memories.setdefault(each.object_id, []).append(part.name)
    known |= {name: thing for name in robot.sight if (thing := robot.known(name)) is not None}
    newest = sorted(known.values(), key=lambda each: -each.seen_s)[:_MOST]
    return {
        "at": robot.at,
        "holds": "" if robot.held is None else robot.held.object_id,
        "seconds": round(robot.now_s, 3),
        "known": len(known),
        "things": {each.object_id: _told(each, memories.get(each.object_id, [])) for each in newest},
    }


def _told(thing: KnownThing, memories: list[str]) -> dict[str, Any]:
    return {
        "type": thing.object_type,
        "position": [round(float(each), 3) for each in thing.position],
        "states": sorted(thing.states),
        "place": [thing.relation, thing.container or thing.area],
        "seen": round(thing.seen_s, 3),
        "confidence": round(thing.confidence, 3),
        "movable": thing.movable,
        "by": thing.source,
        "size": [round(float(each), 3) for each in thing.size],
        "memories": memories,
    }
