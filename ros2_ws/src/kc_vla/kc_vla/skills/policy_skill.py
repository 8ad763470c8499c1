"""A skill as an instruction to a policy, judged by what is seen like a planned one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kc_vla.planning.skills import Call
from kc_vla.skills.context import SkillContext
from kc_vla.skills.held_thing import HeldThing
from kc_vla.skills.interface import PolicyStage, Skill, SkillError
from kc_vla.skills.perceived import CLOSED, OPENED, PerceivedThing

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


def by_policy(context: SkillContext, call: Call) -> Skill:
    """Have a policy do a skill, until it is seen to be done."""
    if call.skill not in _WORDS:
        raise SkillError(f"no policy can be asked for {call.skill}: choose 'motion' for it in the robot file")
    things = [context.scene.need(each) for each in call.arguments]
    words = _WORDS[call.skill].format(*map(_called, things))
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


def _called(thing: PerceivedThing) -> str:
    colour = thing.attributes.get("colour", "")
    return f"{colour} {thing.object_type}".strip().replace("_", " ")
