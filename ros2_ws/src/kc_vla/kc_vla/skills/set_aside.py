"""Frees the one hand for a moment: what it holds is put onto the worktop, and taken again afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kc_vla.skills.boxes import UprightBox
from kc_vla.skills.context import SkillContext
from kc_vla.skills.grasping import pick_up
from kc_vla.skills.interface import SkillError, Step
from kc_vla.skills.placing import SURFACE, put


def with_free_hand(context: SkillContext, work: Iterator[Step], clear: Sequence[UprightBox] = ()) -> Iterator[Step]:
    """Yield the steps of some work for which the hand has to be free.

    Args:
        context: of the skill.
        work: steps that use the hand.
        clear: boxes that what is put aside stays out of: the work moves something there.

    Raises:
        SkillError: the work failed, or what was held could not be put aside or taken again.
    """
    context.need_known_hand()
    held = context.held
    if held is None:
        yield from work
        return
    name = held.thing.object_id
    context.keep_clear = clear
    try:
        yield from put(context, name, SURFACE)
    except SkillError as failure:
        raise SkillError(f"the hand cannot be freed: {failure}") from None
    finally:
        context.keep_clear = ()
    yield from work
    try:
        yield from pick_up(context, name)
    except SkillError as failure:
        raise SkillError(f"{name} was put aside and cannot be taken again: {failure}") from None
