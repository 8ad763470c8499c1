"""Whether an answer is right, refused or wrong, by what is so in the world."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from kc_vla.memory.asking.answer import MemoryAnswer
from kc_vla_sim.household.questions.expected import Expected, contents, done
from kc_vla_sim.household.questions.lived import Lived
from kc_vla_sim.household.states import state_of
from kc_vla_sim.household.types import spoken
from kc_vla_sim.household.world import IN, ON

_TIME_S, _NEAR_M, _BESIDE_M, _CLEARLY_M = 2.5, 0.5, 2.0, 0.6


class AnswerVerdict(StrEnum):
    """What an answer is worth."""

    RIGHT = "right"
    REFUSED = "refused"
    WRONG = "wrong"


def judge(answer: MemoryAnswer, expected: Expected, home: Lived, vague: bool = False) -> AnswerVerdict:
    """Return what an answer is worth.

    Args:
        answer: to a question.
        expected: of it.
        home: that it is about.
        vague: it is enough that most of what is named fits.
    """
    named = [each.object_id for each in answer.found]
    right = _JUDGES[expected.verb](answer, named, expected, home)
    if vague and not right and answer.known and expected.verb in ("which", "there"):
        fitting = expected.ids(home)
        right = bool(named) and named[0] in fitting and 2 * len(fitting & set(named)) >= len(named)
    if right:
        return AnswerVerdict.RIGHT
    return AnswerVerdict.WRONG if answer.known else AnswerVerdict.REFUSED


_Judge = Callable[[MemoryAnswer, Sequence[str], Expected, Lived], bool]


def _where(answer: MemoryAnswer, named: Sequence[str], expected: Expected, home: Lived) -> bool:
    fitting = expected.ids(home)
    if not fitting or not answer.known:
        return not answer.known and not fitting
    if not named or named[0] not in fitting:
        return False
    place, first = home.world.things[named[0]].place, answer.found[0]
    if first.area != home.world.area_of(named[0]):
        return False
    if place.relation not in (ON, IN):
        return not first.container
    kind = home.world.things[place.holder].kind
    return first.container == place.holder and spoken(kind.name).lower() in answer.text.lower()


def _which(answer: MemoryAnswer, named: Sequence[str], expected: Expected, home: Lived) -> bool:
    fitting = expected.ids(home)
    if not fitting:
        return not answer.known
    return answer.known and set(named) == fitting


def _there(answer: MemoryAnswer, named: Sequence[str], expected: Expected, home: Lived) -> bool:
    fitting = expected.ids(home)
    if not fitting:
        return not answer.known or answer.yes is False
    return answer.known and answer.yes is not False and bool(named) and named[0] in fitting


def _count(answer: MemoryAnswer, named: Sequence[str], expected: Expected, home: Lived) -> bool:
    count = len(expected.ids(home))
    return (answer.known and answer.count == count) or (not count and not answer.known)


def _contents(answer: MemoryAnswer, named: Sequence[str], expected: Expected, home: Lived) -> bool:
    holders = expected.ids(home)
    whole = [contents(home, holders, nested) for nested in (True, False)]
    single = [contents(home, [each], nested) for each in holders for nested in (True, False)]
    if any(whole):
        return answer.known and any(each and set(named) == each for each in (*whole, *single))
    looked = holders <= home.looked_into
    return (answer.known and not named) if looked else not answer.known


def _yesno(answer: MemoryAnswer, named: Sequence[str], expected: Expected, home: Lived) -> bool:
    state, things = state_of(expected.word), [home.world.things[name] for name in expected.ids(home)]
    if not things:
        return not answer.known
    if any(state in each.states for each in things):
        said = answer.yes is None and bool(named) and f": {state}" in answer.text  # "is it on or off": "on"
        return answer.known and (answer.yes is True or said)
    return not answer.known or answer.yes is False


def _states(answer: MemoryAnswer, named: Sequence[str], expected: Expected, home: Lived) -> bool:
    fitting = {name: home.world.things[name].states for name in expected.ids(home)}
    stated = {name for name, states in fitting.items() if states}
    if not stated:
        return not answer.known
    return answer.known and bool(named) and all(state in answer.text for state in fitting.get(named[0], {"?"}))


def _colour(answer: MemoryAnswer, named: Sequence[str], expected: Expected, home: Lived) -> bool:
    fitting = expected.ids(home)
    colours = {home.world.things[name].colour for name in fitting} - {""}
    if not colours:
        return not answer.known
    return answer.known and bool(named) and named[0] in fitting and home.world.things[named[0]].colour in answer.text


def _did(answer: MemoryAnswer, named: Sequence[str], expected: Expected, home: Lived) -> bool:
    when = done(home, expected.word, expected.ids(home))
    if when:
        return answer.known and answer.yes is True and bool(named) and named[0] in when
    return not answer.known or answer.yes is False


def _lastdone(answer: MemoryAnswer, named: Sequence[str], expected: Expected, home: Lived) -> bool:
    when = done(home, expected.word, expected.ids(home))
    if not when:
        return not answer.known
    latest = {name for name, time_s in when.items() if time_s == max(when.values())}
    return answer.known and bool(named) and named[0] in latest


def _when(answer: MemoryAnswer, named: Sequence[str], expected: Expected, home: Lived) -> bool:
    when = done(home, expected.word, expected.ids(home))
    if not when:
        return not answer.known
    return answer.known and answer.when_s is not None and abs(answer.when_s - max(when.values())) <= _TIME_S


def _nearest(answer: MemoryAnswer, named: Sequence[str], expected: Expected, home: Lived) -> bool:
    here = home.world.plan.areas[home.world.at].position
    far = {name: math.dist(here[:2], home.world.position(name)[:2]) for name in expected.ids(home)}
    if not far:
        return not answer.known
    return answer.known and bool(named) and far.get(named[0], math.inf) <= min(far.values()) + _NEAR_M


def _beside(answer: MemoryAnswer, named: Sequence[str], expected: Expected, home: Lived) -> bool:
    """Return whether all that is named is on that side of a thing that is meant, and not far from it."""
    targets = expected.ids(home)
    clear = {
        name for each in targets for name in home.seen_s if _is_beside(home, expected.word, name, each, _CLEARLY_M)
    }
    if not answer.known:
        return not clear
    return bool(named) and all(
        any(_is_beside(home, expected.word, name, each, _BESIDE_M) for each in targets) for name in named
    )


def _is_beside(home: Lived, side: str, name: str, target: str, most_m: float) -> bool:
    (x, y, _), (tx, ty, _) = home.world.position(name), home.world.position(target)
    if name == target or math.dist((x, y), (tx, ty)) > most_m:
        return False
    hx, hy, _ = home.world.plan.areas[home.world.at].position
    left = (tx - hx) * (y - ty) - (ty - hy) * (x - tx)
    return side == "next" or (left > 0) == (side == "left")


def _refuse(answer: MemoryAnswer, named: Sequence[str], expected: Expected, home: Lived) -> bool:
    return not answer.known


_JUDGES: Mapping[str, _Judge] = {
    "where": _where,
    "which": _which,
    "there": _there,
    "count": _count,
    "contents": _contents,
    "yesno": _yesno,
    "states": _states,
    "colour": _colour,
    "did": _did,
    "lastdone": _lastdone,
    "when": _when,
    "nearest": _nearest,
    "beside": _beside,
    "refuse": _refuse,
}
