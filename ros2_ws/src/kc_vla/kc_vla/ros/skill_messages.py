"""What came of a skill, and where an arm can go, as messages."""

from __future__ import annotations

from collections.abc import Iterable

from geometry_msgs.msg import Point

from kc_vla.memory.navigation_map import NavigationMap
from kc_vla.memory.things import ObservedThing
from kc_vla.ros.skills import seen_message, set_obstacle
from kc_vla.skills.skill_run import SkillOutcome
from kc_vla_msgs.action import DoSkill
from kc_vla_msgs.msg import SceneArea


def result_message(
    outcome: SkillOutcome, seconds: float, seen: Iterable[ObservedThing], held: str | None
) -> DoSkill.Result:
    """Return how a skill ended, what is seen, and what is in the hand afterwards; `seconds` of the robot's time."""
    result = DoSkill.Result(
        done=outcome.done,
        reason=outcome.reason,
        duration=seconds,
        walked=0.0,
        seen=[seen_message(each) for each in seen],
        held=held or "",
        held_known=held is not None,
    )
    return set_obstacle(result, outcome.obstacle)


def area_messages(grounds: NavigationMap) -> list[SceneArea]:
    """Return the areas of a map."""
    messages = []
    for each in grounds.areas.values():
        x, y, z = each.position
        messages.append(
            SceneArea(
                id=each.id,
                name=each.name,
                floor=each.floor,
                position=Point(x=x, y=y, z=z),
                adjacent=list(each.adjacent),
                ways=[float(way) for way in each.adjacent.values()],
            )
        )
    return messages
