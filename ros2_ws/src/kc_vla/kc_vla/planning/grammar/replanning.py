"""The rest of a plan after a step of it failed: what was done is left out, and what stood in the way is seen to."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kc_vla.memory.references.fits import Fit
from kc_vla.memory.references.names import ORDINALS, is_id, same
from kc_vla.memory.things import ObservedThing
from kc_vla.planning.checking import in_hand_after
from kc_vla.planning.grammar.devices import is_knife
from kc_vla.planning.grammar.lexicon import KNIFE
from kc_vla.planning.in_hand import another, fit
from kc_vla.planning.interface import PlanningError, Request, TriedCall
from kc_vla.planning.skills import ANYWHERE, BY_NAME, Call

_MOST_SAME = 3
"""Times that a call may fail for one reason."""
_SO_ALREADY = re.compile(
    r"\b(?:is|are|was|were) (?:already (?:{0})\b|(?:{0}) already\b)".format(
        "open|opened|closed|shut|on|off|(?:switched|turned) (?:on|off)|sliced|cut|broken|clean|empty|held|"
        "in (?:the |your )?hand"
    )
)
"""What a skill is for is so; "already full", or "already holds", is what stands in its way."""
_HANDS = ("PickupObject", "PutObject", "ThrowObject")


def _is_call(call: Call) -> bool:
    return call.skill in BY_NAME and len(call.arguments) == len(BY_NAME[call.skill].arguments) and all(call.arguments)


def what_is_left(plan: Sequence[Call], request: Request) -> tuple[Call, ...]:
    """Return the calls that are still to be done, of a plan from the beginning.

    Raises:
        PlanningError: nothing else can be tried.
    """
    tried = [done for done in request.tried if _is_call(done.call)]
    failed = tried[-1] if tried and tried[-1].reason else None
    if failed and sum(each == failed for each in tried) >= _MOST_SAME:
        raise PlanningError(f"{failed.call} failed {_MOST_SAME} times: {failed.reason}")
    at, stands_for = _done(plan, tried)
    left = [Call(call.skill, tuple(stands_for.get(name, name) for name in call.arguments)) for call in plan[at:]]
    if failed:
        names = {given: name for name, given in stands_for.items()}
        left = _without_obstacle(left, failed, names)
    left = _with_hand(left, request)
    if not left:
        raise PlanningError("nothing is left to be done: all of the plan succeeded, or was so already")
    return tuple(left)


def matched(plan: Sequence[Call], tried: Sequence[TriedCall]) -> int:
    """Return how many calls of a plan are done."""
    return _done(plan, [done for done in tried if _is_call(done.call)])[0]


def _done(plan: Sequence[Call], tried: Sequence[TriedCall]) -> tuple[int, dict[str, str]]:
    """Return how many calls of the plan are done, and what its names were found to stand for."""
    at, stands_for = 0, dict[str, str]()
    for done in tried:
        next_at = at
        while next_at < len(plan) and not _is_of(done.call, plan[next_at], stands_for) and _optional(plan[next_at]):
            next_at += 1
        if next_at == len(plan) or not _is_of(done.call, plan[next_at], stands_for):
            continue
        if not done.reason or _is_so_already(done.reason):
            at = next_at + 1
        elif done is not tried[-1] or re.search("in sight|is broken|there is no|full|large", done.reason):
            continue  # another thing may do
        stands_for.update(zip(plan[next_at].arguments, done.call.arguments, strict=True))
    return at, stands_for


def _is_of(done: Call, planned: Call, stands_for: dict[str, str]) -> bool:
    """Return whether a call that was tried can be that of the plan.

    It has the same names, or ids that these may stand for.
    """
    if BY_NAME[done.skill] != BY_NAME[planned.skill]:
        return False
    return all(
        given == name
        or stands_for.get(name, "") == given
        or name == ANYWHERE
        or (name not in stands_for and (is_id(given) or same(name, given) or given == f"{ORDINALS[1]} {name}"))
        for name, given in zip(planned.arguments, done.arguments, strict=True)
    )


def _optional(call: Call) -> bool:
    """Return whether a call need not be planned: going somewhere, and doors, are done on the way."""
    return call.skill in ("GoToObject", "GoToPlace", "OpenObject", "CloseObject")


def _is_so_already(reason: str) -> bool:
    return bool(_SO_ALREADY.search(reason))


def _without_obstacle(left: list[Call], failed: TriedCall, names: dict[str, str]) -> list[Call]:
    """Leave out, or put before, what the reason of a failure asks for."""
    call, reason = failed.call, failed.reason
    planned = bool(left) and BY_NAME[left[0].skill] == BY_NAME[call.skill]
    if _is_so_already(reason):
        return left
    if planned and call.skill in ("GoToObject", "GoToPlace"):
        return left[1:]  # it only told where to look
    wanted_there = planned and call.skill == "PutObject" and left[0].arguments[1] != ANYWHERE
    if wanted_there and ("is full" in reason or "too large" in reason):
        raise PlanningError(f"{call} cannot be done: {reason}")
    if "closed" in reason and "open it first" in reason:
        return [Call("OpenObject", (_subject(reason, "closed") or call.arguments[-1],)), *left]
    if "switch it off first" in reason:
        return [Call("SwitchOff", call.arguments[:1]), *left]
    if "close it first" in reason:
        return [Call("CloseObject", (_subject(reason, "open") or call.arguments[0],)), *left]
    if "no knife" in reason:
        return [Call("PickupObject", (KNIFE,)), *left]
    if planned and "is broken" in reason:
        given = left[0].arguments[0]
        name = names.get(given, given)
        other = f"{ORDINALS[1]} {re.sub(r'_?[0-9]+$', '', name)}"
        return [Call(each.skill, tuple(other if one == given else one for one in each.arguments)) for each in left]
    return left


def _subject(reason: str, state: str) -> str:
    """Return what a failure says to be in a state, the fridge in "Fridge_1 is closed: open it first"; empty if none."""
    named = reason.split(f" is {state}")[0].strip()
    return named if len(named.split()) <= 3 else ""


def _with_hand(left: list[Call], request: Request) -> list[Call]:
    """Return the calls adapted to the hand: what it holds is not picked up, what is in the way is put down."""
    in_hand, taken = request.in_hand, _taken(request.tried)
    before = "" if in_hand is None else in_hand.object_id
    for at, call in enumerate(left):
        held = in_hand_after(left[:at], before)
        known = in_hand if held == before else None
        name = call.arguments[0]
        is_it = name == held or (known is not None and name == taken) or _is_held(name, held, known)
        if call.skill == "PickupObject" and held:
            if is_it:
                return left[:at] + left[at + 1 :]
            return [*left[:at], Call("PutObject", (held, ANYWHERE)), *left[at:]]
        if call.skill in ("PutObject", "ThrowObject"):
            if not held:
                return [*left[:at], Call("PickupObject", (name,)), *left[at:]]
            if not is_it and known is not None and another(name, known):
                return [*left[:at], Call("PutObject", (held, ANYWHERE)), Call("PickupObject", (name,)), *left[at:]]
            return left
        if call.skill == "SliceObject" and not is_knife(held if known is None else known.object_type):
            take = [Call("PutObject", (held, ANYWHERE))] if held else []
            return [*left[:at], *take, Call("PickupObject", (KNIFE,)), *left[at:]]
    return left


def _taken(tried: Sequence[TriedCall]) -> str:
    """Return the name by which what is in the hand was picked up; empty where that was not tried."""
    name = ""
    for done in tried:
        if _is_call(done.call) and not done.reason and done.call.skill in _HANDS:
            name = done.call.arguments[0] if done.call.skill == "PickupObject" else ""
    return name


def _is_held(name: str, held: str, known: ObservedThing | None) -> bool:
    return bool(held) and (same(name, held) if known is None else fit(name, known) is not Fit.NO)
