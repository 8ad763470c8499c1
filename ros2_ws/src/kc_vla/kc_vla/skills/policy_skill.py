"""A skill as an instruction to a policy, judged by what is seen like a planned one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kc_vla.memory.long_term.detections import IMMOVABLE, plain_type
from kc_vla.planning.skills import Call
from kc_vla.skills.context import SkillContext
from kc_vla.skills.held_thing import HeldThing
from kc_vla.skills.interface import PolicyStage, Skill, SkillError
from kc_vla.skills.perceived import CLOSED, OPENED, PerceivedThing
from kc_vla.skills.perceived_scene import PerceivedScene

_SECONDS = 30.0
"""A policy gets so long for a skill, s."""
_TAKEN_M = 0.06
"""What is further than this from where it was has been taken, m."""
_WORDS = {
    "PickupObject": "pick up the {0}",
    "PutObject": "put the {0} into the {1}",
    "OpenObject": "open the {0}",
    "CloseObject": "close the {0}",
    "SwitchOn": "switch the {0} on",
    "SwitchOff": "switch the {0} off",
}
_BESIDE_M, _ABOVE_M = 0.2, 0.03
"""One drawer is above another that is no further beside it than the first, and lower by the second, m."""


def skill_instruction(call: Call, scene: PerceivedScene) -> str:
    """Return the instruction with which a policy is asked for a skill, such as "close the drawer".

    What stands still is called by its type, as a kitchen has one of it; a drawer beneath another one is "lower". What
    is carried is called by its color, too.

    Args:
        call: of the planner.
        scene: what is perceived.

    Raises:
        SkillError: no policy can be asked for the skill, or one of its things was not perceived.
    """
    if call.skill not in _WORDS:
        raise SkillError(f"no policy can be asked for {call.skill}: choose 'motion' for it in the robot file")
    return _WORDS[call.skill].format(*(_called(scene.need(each), scene) for each in call.arguments))


def called(object_id: str, scene: PerceivedScene) -> str:
    """Return how a policy is asked for a thing, such as "drawer"; empty where it was not perceived."""
    found = scene.find(object_id)
    return "" if found is None else _called(found, scene)


def by_policy(context: SkillContext, call: Call) -> Skill:
    """Have a policy do a skill, until it is seen to be done."""
    words = skill_instruction(call, context.scene)
    things = [context.scene.need(each) for each in call.arguments]
    judged = _judge(context, call, things)
    yield PolicyStage("policy", words, context.steps(_SECONDS), judged)
    yield from context.look_for(call.arguments[0])
    if not judged():
        raise SkillError(f"the policy was asked to '{words}', and that is not seen to be done after {_SECONDS:g} s")
    if call.skill == "PickupObject":
        below = float(context.tool.position[2]) - float(context.scene.need(call.arguments[0]).bottom)
        context.held = HeldThing(things[0], context.arm.width, below, 0.0)
    elif call.skill == "PutObject":
        context.held = None
    return ""


def _judge(context: SkillContext, call: Call, things: list[PerceivedThing]) -> Callable[[], bool]:
    name, *others = call.arguments
    before = things[0]

    def now() -> PerceivedThing:
        return context.scene.need(name)

    def taken() -> bool:
        return context.grips and bool(np.linalg.norm(now().position - before.position) > _TAKEN_M)

    return {
        "PickupObject": taken,
        "PutObject": lambda: not context.grips and now().container[1] == others[0],
        "OpenObject": lambda: OPENED in now().states,
        "CloseObject": lambda: CLOSED in now().states,
        "SwitchOn": lambda: "on" in now().states,
        "SwitchOff": lambda: "off" in now().states,
    }[call.skill]


def _called(thing: PerceivedThing, scene: PerceivedScene) -> str:
    name = thing.object_type.replace("_", " ")
    if plain_type(thing.object_type) not in IMMOVABLE:
        return f"{thing.attributes.get('colour', '')} {name}".strip().replace("_", " ")
    return f"lower {name}" if any(_is_above(each, thing) for each in scene.all()) else name


def _is_above(other: PerceivedThing, drawer: PerceivedThing) -> bool:
    away = other.position - drawer.position
    beside = float(np.linalg.norm(away[:2]))
    return other.object_type == drawer.object_type == "drawer" and away[2] > _ABOVE_M and beside < _BESIDE_M
