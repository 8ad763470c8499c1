"""The words for what is in the kitchen, as a detector reports it: types, colors and states."""

from __future__ import annotations

from collections.abc import Mapping

from kc_vla.perception.vocabulary import DetectionVocabulary
from kc_vla_sim.kitchen.bodies import COLOURS
from kc_vla_sim.kitchen.kinds import KINDS, ThingKind

DOOR, POWER = "door", "power"
"""Groups of the states of furniture."""
_FURNITURE: Mapping[str, tuple[str, ...]] = {
    "cabinet": (),
    "drawer": (DOOR,),
    "cupboard": (DOOR,),
    "microwave": (DOOR, POWER),
    "stove": (POWER,),
    "sink": (),
    "tray": (),
}


FURNITURE_TYPES = tuple(_FURNITURE)


def kitchen_words(kinds: Mapping[str, ThingKind] = KINDS) -> DetectionVocabulary:
    """Return the words of a kitchen with these kinds of things; those that have the same states share a group."""
    states: dict[str, tuple[str, ...]] = {DOOR: ("closed", "opened"), POWER: ("off", "on")}
    groups = {kind: named for kind, named in _FURNITURE.items() if named}
    for name, kind in kinds.items():
        if len(kind.states) > 1:
            group = "_or_".join(state or "plain" for state in kind.states)
            states[group], groups[name] = kind.states, (group,)
    return DetectionVocabulary((*_FURNITURE, *kinds), tuple(COLOURS), states, groups)
