"""Which skills an arm can do, and how each is done: by a planned motion, or by a policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum

from kc_vla.planning.skills import BY_NAME, Call
from kc_vla.skills.context import SkillContext
from kc_vla.skills.grasping import pick_up
from kc_vla.skills.interface import Skill, SkillError
from kc_vla.skills.looking import look_around, look_at
from kc_vla.skills.opening import close_thing, open_thing
from kc_vla.skills.placing import put_down
from kc_vla.skills.policy_skill import by_policy, called
from kc_vla.skills.switching import switch_off, switch_on


class SkillWay(StrEnum):
    """How a skill is done."""

    MOTION = "motion"
    """Planned from what is perceived."""
    POLICY = "policy"
    """As an instruction to the policy server."""


def _stay(context: SkillContext, area: str) -> Skill:
    yield from context.look(lambda since_s: True)
    return ""


def _around(context: SkillContext, area: str) -> Skill:
    return look_around(context)


MOTIONS: Mapping[str, Callable[..., Skill]] = {
    "GoToObject": look_at,
    "GoToPlace": _stay,
    "Explore": _around,
    "PickupObject": pick_up,
    "PutObject": put_down,
    "OpenObject": open_thing,
    "CloseObject": close_thing,
    "SwitchOn": switch_on,
    "SwitchOff": switch_off,
}
"""The skills of the planner's table that an arm does by planned motions; a fixed arm stays in its one area."""


def ways_of(named: Mapping[str, str]) -> dict[str, SkillWay]:
    """Return the way of each skill that a robot file names, such as CloseObject, or CloseObject(drawer) for drawers.

    Raises:
        SkillError: it names a skill that is none, or a motion that there is not.
    """
    found = {}
    for name, way in named.items():
        skill, bracket, thing = name.partition("(")
        row = BY_NAME.get(skill)
        if row is None or (bracket and not (thing.endswith(")") and row.arguments)):
            raise SkillError(f"the robot file names the skill '{name[:40]}': there are {', '.join(sorted(BY_NAME))}")
        if way == SkillWay.MOTION and row.name not in MOTIONS:
            raise SkillError(f"the robot file wants a motion for {name}: there is one for {', '.join(MOTIONS)}")
        found[row.name + bracket + thing] = SkillWay(way)
    return found


def begin_skill(call: Call, context: SkillContext, ways: Mapping[str, SkillWay] | None = None) -> Skill:
    """Return a skill of the planner's table, ready to be run.

    Args:
        call: of the planner.
        context: of the arm.
        ways: by which way each skill is done, or a skill on a thing that is called so; of what is left out, `MOTION`.

    Raises:
        SkillError: there is no such skill, or this arm cannot do it.
    """
    row = BY_NAME.get(call.skill)
    if row is None or len(row.arguments) != len(call.arguments):
        raise SkillError(f"{str(call)[:80]!r} is no call of the skill table")
    thing = called(call.arguments[0], context.scene) if call.arguments else ""
    known = ways or {}
    way = known.get(f"{row.name}({thing})", known.get(row.name, SkillWay.MOTION))
    if way is SkillWay.POLICY:
        return by_policy(context, Call(row.name, call.arguments))
    make = MOTIONS.get(row.name)
    if make is None:
        raise SkillError(f"this arm cannot do {row.name}: it has no motion for it, and no policy is named for it")
    return make(context, *call.arguments)
