"""What is reported about a thing that was taken for what is named: what is not known of it, and what is a guess."""

from __future__ import annotations

from kc_vla.memory.references.fits import held_by, unknown_of
from kc_vla.memory.references.naming import is_called
from kc_vla.memory.references.reference import COLD, Reference
from kc_vla.memory.short_term.unit import ObjectState, spoken
from kc_vla.memory.things import KnownThing, ObservedThing
from kc_vla.planning.execution.robot import RememberingRobot

_BINS = ("garbage can", "bin")
_SURELY_SEEN = frozenset(
    {ObjectState.BROKEN, ObjectState.SLICED, ObjectState.DIRTY, ObjectState.FILLED, ObjectState.HEATED}
)
"""States that a thing in sight is not in unless they are reported; that a thing was washed is not to be seen."""


def in_bin(thing: KnownThing) -> bool:
    """Return whether a thing was thrown away."""
    return bool(thing.container) and any(held_by(name, thing.container) for name in _BINS)


def thrown_away(robot: RememberingRobot, source: str, tool: bool) -> set[str]:
    """Return the ids of what lies in a bin without the robot having put it there, unless any one will do anyway.

    Args:
        robot: whose memories and sight are looked at.
        source: id of the bin that it is to be taken out of; empty where nothing was said.
        tool: any one will do.
    """
    thrown = (each for each in robot.all_known().values() if in_bin(each) and each.container != source)
    return {each.object_id for each in thrown if tool or not robot.memory.was_handled(each.object_id)}


def told_of(robot: RememberingRobot, reference: Reference, seen: ObservedThing, source: str) -> str:
    """Have the result say what is a guess of a thing that was found; return why it will not do, if it does not.

    Args:
        robot: that found it.
        reference: what was looked for.
        seen: what was found.
        source: id of where it was said to be; empty where nothing was said.
    """
    known = robot.known(seen.object_id)
    if known is None or reference.pronoun:
        return ""
    if not is_called(reference, seen.object_type):
        robot.note(f"{reference.text!r} was taken to mean {spoken(seen.object_type)}")
    if in_bin(known) and known.container != source:
        robot.note(f"{seen.object_id} was taken out of {known.container}: no other {reference.text} is known")
    if source and reference.carried and known.container and known.container != source:
        robot.note(f"{reference.text!r} was found {known.relation} {known.container}, and not in or on {source}")
    named = robot.memory.namer.named(reference, [seen.object_type], loose=True)
    if reference.done or not (missing := unknown_of(reference, named, known)):
        return ""
    asked = {state for state in reference.states if state.value not in known.states}
    if COLD in reference.also - known.states or (asked == reference.states and asked & _SURELY_SEEN):
        return f"{seen.object_id} is not {missing}"
    robot.note(f"{seen.object_id} was taken for {reference.text!r}: nothing is known of '{missing}'")
    return ""
