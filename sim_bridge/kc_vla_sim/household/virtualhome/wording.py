"""The rule that makes an instruction of a goal: VirtualHome's goals are symbols, and these words are of nobody.

The conditions come in the order in which a person would do them: what is to be put somewhere, what is to be closed,
switched, opened, where to go, what to take, before what to stand. Things are called by their class, and where a home
has several by the number, too, that the goal means ("the 1001 plate"); detectors report it as they report a color.
"""

from __future__ import annotations

from kc_vla_sim.household.virtualhome.goals import ROBOT, Goal, VirtualHomeCondition
from kc_vla_sim.household.virtualhome.scene import VirtualHomeScene

_SAID = {
    "CLOSED": (1, "close the {}"),
    "OFF": (2, "turn off the {}"),
    "ON": (2, "turn on the {}"),
    "OPEN": (3, "open the {}"),
}
_ROBOT_SAID = {
    "INSIDE": (4, "go to the {}"),
    "HOLDS_RH": (5, "pick up the {}"),
    "CLOSE": (6, "go to the {}"),
    "FACING": (7, "go to the {}"),
}
_ROBOT_LACKS = {
    "ON": "sit or lie down",
    "SITTING": "sit or lie down",
    "LYING": "sit or lie down",
    "HOLDS_LH": "hold something in the left hand",
}
_PLUGS = {"PLUGGED_IN": "plug in", "PLUGGED_OUT": "unplug"}
_PUT = {"ON": "put the {} on the {}", "INSIDE": "put the {} in the {}"}
_OTHER = "bring about {}"


def instruction(goal: Goal, scene: VirtualHomeScene) -> str:
    """Return the instruction in one sentence; empty where nothing of it can be asked for."""
    said: dict[str, int] = {}
    for each in goal.conditions:
        order, text = _told(each, scene)
        if text and text not in said:
            said[text] = order
    return ", then ".join(sorted(said, key=lambda text: said[text]))


def lacking(goal: Goal, scene: VirtualHomeScene) -> tuple[str, ...]:
    """Return the kinds of what the goal needs and the skill table has not; what is so already is not needed."""
    found = {each: kind for each in goal.conditions if (kind := _lacks(each, scene))}
    return tuple(sorted({kind for each, kind in found.items() if not each.holds(scene.state)}))


def actions(goal: Goal) -> tuple[str, ...]:
    """Return the kinds of what its program does beside, that the skill table has not.

    None of them has a state to judge by.
    """
    return tuple(each.lower().replace("|", " or ") for each in goal.actions)


def _told(condition: VirtualHomeCondition, scene: VirtualHomeScene) -> tuple[int, str]:
    if _lacks(condition, scene):
        return 0, ""
    words = [scene.words(each) for each in condition.ids if each != ROBOT]
    if condition.thing == ROBOT:
        order, text = _ROBOT_SAID[condition.what]
    elif condition.other is None:
        order, text = _SAID.get(condition.what, (0, ""))
    else:
        order, text = 0, _PUT[condition.what]
    return order, text.format(*words)


def _lacks(condition: VirtualHomeCondition, scene: VirtualHomeScene) -> str:
    what, other = condition.what, condition.other
    if condition.thing == ROBOT:
        return _ROBOT_LACKS.get(what, "" if what in _ROBOT_SAID else _OTHER.format(what))
    if other is None:
        return _PLUGS.get(what, "" if what in _SAID else _OTHER.format(what))
    if other == ROBOT or "BODY_PART" in scene.nodes[other]["properties"]:
        return "put something on oneself"
    return "" if what in _PUT else _OTHER.format(what)
