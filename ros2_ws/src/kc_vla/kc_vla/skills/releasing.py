"""The end of every way of putting a thing down: carried to its place, lowered, released, and the hand drawn back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kc_vla.skills.context import SkillContext
from kc_vla.skills.interface import ArmPath, SkillError, Step


def carried(context: SkillContext, path: ArmPath, where: str) -> Iterator[Step]:
    """Yield a step along which what is in the hand has to stay in it.

    Args:
        context: of the skill; something is in the hand.
        path: of the arm, the fingers closed.
        where: it is on that path, for the reason: "on the way to drawer_1".

    Raises:
        SkillError: it fell out of the hand.
    """
    assert context.held is not None
    name = context.held.thing.object_id
    yield replace(path, carries=True)
    if context.held is None:
        raise SkillError(f"{name} fell out of the hand {where}")


def lowered_and_released(context: SkillContext, lower: ArmPath, wide: float, holder_id: str) -> Iterator[Step]:
    """Yield the steps that lower what is in the hand, release it, and draw the hand back the same way.

    Args:
        context: of the skill; something is in the hand.
        lower: from over its place to it.
        wide: the fingers open so far, m.
        holder_id: what it is put on or into.

    Raises:
        SkillError: it fell out of the hand.
    """
    yield from carried(context, lower, f"over {holder_id}")
    yield context.settled("lower")
    yield context.fingers("release", wide)
    context.held = None
    yield context.along("retreat", lower.joints[::-1], wide)
