"""Instructions in English, and the goals that they mean, for the steps of ALFRED's tasks.

Each kind of step is said in a handful of ways. The last two of each are for the split "test" alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from kc_vla_sim.household.alfred import AlfredTask
from kc_vla_sim.household.states import ThingState
from kc_vla_sim.household.tasks import GoalReferent, InstructedTask
from kc_vla_sim.household.types import kinds
from kc_vla_sim.household.world import IN

SLICE, WASH, HEAT, CHILL = "slice", "wash", "heat", "chill"
PUT, PUT_TWO, FETCH, LIGHT, EXAMINE = "put", "put two", "fetch", "light", "examine"
MAKES = {SLICE: ThingState.SLICED, WASH: ThingState.CLEANED, HEAT: ThingState.HEATED, CHILL: ThingState.COLD}
_BY_KIND = {
    "pick_clean_then_place_in_recep": WASH,
    "pick_heat_then_place_in_recep": HEAT,
    "pick_cool_then_place_in_recep": CHILL,
}
TEMPLATES: Mapping[str, tuple[str, ...]] = {
    SLICE: (
        *("slice {thing}", "cut {thing} into slices", "cut up {thing}", "slice {thing} with a knife"),
        *("cut {thing} into pieces", "take a knife and slice {thing}"),
    ),
    WASH: (
        *("wash {thing}", "clean {thing}", "rinse {thing}", "wash {thing} in the sink"),
        *("rinse {thing} off", "give {thing} a wash"),
    ),
    HEAT: (
        *("heat {thing}", "warm up {thing}", "heat {thing} in the microwave", "make {thing} hot"),
        *("heat {thing} up", "warm {thing} in the microwave"),
    ),
    CHILL: (
        *("chill {thing}", "cool {thing}", "cool down {thing}", "chill {thing} in the fridge"),
        *("make {thing} cold", "cool {thing} off in the fridge"),
    ),
    PUT: (
        *("put {thing} {prep} {holder}", "place {thing} {prep} {holder}", "set {thing} {prep} {holder}"),
        "move {thing} to {holder}",
        *("leave {thing} {prep} {holder}", "I want {thing} {prep} {holder}"),
    ),
    PUT_TWO: (
        *("put two {things} {prep} {holder}", "place two {things} {prep} {holder}", "move two {things} to {holder}"),
        "take two {things} and put them {prep} {holder}",
        *("leave two {things} {prep} {holder}", "find two {things} and put both of them {prep} {holder}"),
    ),
    FETCH: (
        *("bring me {thing}", "get {thing}", "fetch {thing}", "pick up {thing}"),
        *("get me {thing}", "grab {thing}"),
    ),
    LIGHT: (
        *("switch on {holder}", "turn on {holder}", "switch {holder} on", "turn {holder} on"),
        *("light {holder}", "have {holder} switched on"),
    ),
    EXAMINE: (
        *("examine {thing} by the light of {holder}", "look at {thing} under {holder}"),
        *("pick up {thing} and switch on {holder}", "turn on {holder} and take {thing}"),
        *("inspect {thing} in the light of {holder}", "hold {thing} under {holder} with the light on"),
    ),
    "then": (", then ", " and then ", " and ", ", after that ", ". Then ", "; when that is done, "),
}
ADJECTIVES: Mapping[ThingState, str] = {
    ThingState.CLEANED: "clean",
    ThingState.SLICED: "sliced",
    ThingState.HEATED: "hot",
    ThingState.COLD: "cold",
}
_DONE = {SLICE: "sliced", WASH: "washed", HEAT: "heated", CHILL: "cooled", PUT: "put {prep} {holder}"}
_WHAT_YOU_DID = (
    *("the thing you {did}", "what you {did}", "the thing that you {did}", "the thing you {did} before"),
    *("the item you {did}", "the thing you {did} a while ago"),
)
_DESCRIBED = (
    *("the {adjectives} {noun}", "the {noun} that is {listed}", "the {listed} {noun}", "the {noun} which is {listed}"),
    *("that {adjectives} {noun}", "our {adjectives} {noun}"),
)
_FOR_A_PURPOSE = (
    *("something to {do}", "something that I can {do}", "something I can {do}", "something one can {do}"),
    *("anything to {do}", "something that I could {do}"),
)
PURPOSES: Mapping[str, str] = {
    "drinking vessel": "drink from",
    "food": "eat",
    "reading matter": "read",
    "writing tool": "write with",
    "cutting tool": "cut with",
    "cleaning supply": "clean with",
    "clock": "tell the time by",
    "seasoning": "season food with",
    "toy": "play with",
}
"""By a word for what a thing is, what people want it for."""
_NOUNS = {
    "cutlery": "piece of cutlery",
    "cookware": "piece of cookware",
    "sports equipment": "piece of sports equipment",
    "jewellery": "piece of jewellery",
    "reading matter": "thing to read",
    "storage": "container",
}
_SAID = {
    "SinkBasin": "sink",
    "BathtubBasin": "bathtub",
    "Glassbottle": "glass bottle",
    "ToiletPaper": "toilet paper roll",
}
_MANY = {"knife": "knives", "butter knife": "butter knives", "lettuce": "heads of lettuce", "bread": "loaves of bread"}


class TaskStep(NamedTuple):
    """Part of a task that can be asked for alone.

    Attributes:
        verb: its kind, of `TEMPLATES`.
        thing: the name of what it is about: "Apple", "Book#2"; empty of a lamp alone.
        holder: the name of that which it is put on or into, or of the lamp; else empty.
        goal: the conditions.
    """

    verb: str
    thing: str
    holder: str
    goal: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the things that it speaks of and that can be carried."""
        return tuple(each for each in (self.thing, self.holder) if each and not kinds()[_type(each)].fixed)


def steps_of(task: AlfredTask) -> tuple[TaskStep, ...]:
    """Return the steps of one of ALFRED's tasks, one after the other."""
    thing = task.thing
    if task.kind == "pick_two_obj_and_place":
        goal = put_step(f"{thing}#1", task.goal).goal + put_step(f"{thing}#2", task.goal).goal
        return (TaskStep(PUT_TWO, thing, task.goal, goal),)
    if task.kind == "look_at_obj_in_light":
        return TaskStep(LIGHT, "", task.lamp, (f"TOGGLEON({task.lamp})",)), hold_step(thing)
    made = ([SLICE] if task.sliced else []) + ([_BY_KIND[task.kind]] if task.kind in _BY_KIND else [])
    steps = [TaskStep(verb, thing, "", (f"STATE({thing}, {MAKES[verb]})",)) for verb in made]
    put = [(thing, task.within), (task.within, task.goal)] if task.within else [(thing, task.goal)]
    return (*steps, *(put_step(*each) for each in put))


def put_step(name: str, holder: str) -> TaskStep:
    """Put a thing on or into furniture or a vessel."""
    predicate = "INSIDE" if kinds()[holder].relation == IN else "ON"
    return TaskStep(PUT, name, holder, (f"{predicate}({name}, {holder})",))


def hold_step(name: str) -> TaskStep:
    """Fetch a thing."""
    return TaskStep(FETCH, name, "", (f"HOLDON(robot, {name})",))


class Speaker:
    """Says steps; how is drawn."""

    def __init__(self, chance: np.random.Generator, test: bool) -> None:
        self._chance = chance
        self._test = test

    def task(
        self,
        steps: Sequence[TaskStep],
        known: Mapping[str, int],
        means: Mapping[str, GoalReferent],
        said: Mapping[str, str],
    ) -> InstructedTask:
        """Return the steps as one task.

        Args:
            steps: one after the other.
            known: the earlier task in which each thing was spoken of first: it is "the" same one.
            means: what is meant by other names.
            said: how those are said, where not as "a" thing of their type in the color that is meant.
        """
        names = dict.fromkeys(name for step in steps for name in step.names)
        meant = {name: GoalReferent(known[name]) for name in names if name in known} | dict(means)
        there = {name: f"the {spoken_name(name)}" for name in names if name in known} | dict(said)
        goal = ", ".join(dict.fromkeys(condition for step in steps for condition in step.goal))
        if len(steps) == 2 and steps[0].verb == LIGHT:
            steps = [TaskStep(EXAMINE, steps[1].thing, steps[0].holder, ())]
        elif len(steps) > 1 and steps[-2].verb in MAKES and self._chance.random() < 0.25:
            adjectives = ", ".join(ADJECTIVES[MAKES[step.verb]] for step in steps[:-1])
            there[steps[-1].thing] = with_article(f"{adjectives} {spoken_name(steps[-1].thing)}")
            steps = steps[-1:]
        clauses = []
        main = steps[0].thing
        for step in steps:
            for name in step.names:
                colour = means[name].colour if name in means else ""
                there.setdefault(name, with_article(f"{colour} {spoken_name(name)}".strip()))
            clauses.append(self._clause(step, there))
            there |= {name: "it" if name == main else f"the {spoken_name(name)}" for name in step.names}
        then = self._pick(TEMPLATES["then"])
        return InstructedTask(
            then.join((", ".join(clauses[:-1]), clauses[-1])) if clauses[1:] else clauses[0], goal, meant
        )

    def described(self, meaning: GoalReferent) -> str:
        """Return what is meant, in words: "the clean, red food"."""
        adjectives = [ADJECTIVES[state] for state in meaning.states] + ([meaning.colour] if meaning.colour else [])
        noun = _NOUNS.get(meaning.word, meaning.word)
        if not adjectives:
            return f"the {noun}"
        return self._pick(_DESCRIBED).format(
            adjectives=", ".join(adjectives), noun=noun, listed=" and ".join(adjectives)
        )

    def what_you_did(self, step: TaskStep) -> str:
        """Return the thing of an earlier step: "the thing you washed"."""
        return self._pick(_WHAT_YOU_DID).format(did=_DONE[step.verb].format(**_holder(step)))

    def for_a_purpose(self, word: str) -> str:
        """Return any thing that serves: "something to drink from"."""
        return self._pick(_FOR_A_PURPOSE).format(do=PURPOSES[word])

    def _clause(self, step: TaskStep, there: Mapping[str, str]) -> str:
        many = spoken_name(step.thing) if step.thing else ""
        words = {"thing": there.get(step.thing, ""), "things": _plural(many), **_holder(step)}
        if step.holder in there:
            words["holder"] = there[step.holder]
        return self._pick(TEMPLATES[step.verb]).format(**words)

    def _pick(self, ways: Sequence[str]) -> str:
        return ways[int(self._chance.integers(len(ways) if self._test else len(ways) - 2))]


def did(step: TaskStep) -> tuple[str, ...]:
    """Return what was done, for telling whether `what_you_did` names one thing; empty where nobody says so."""
    return (step.verb, step.holder) if step.verb in _DONE else ()


def _holder(step: TaskStep) -> dict[str, str]:
    if not step.holder:
        return {}
    prep = "in" if kinds()[step.holder].relation == IN else "on"
    return {"prep": prep, "holder": f"the {spoken_name(step.holder)}"}


def _type(name: str) -> str:
    return name.partition("#")[0]


def spoken_name(name: str) -> str:
    """Return the name of a type as instructions say it: "sink" for "SinkBasin"."""
    return _SAID.get(_type(name), kinds()[_type(name)].spoken)


def with_article(words: str) -> str:
    """Return a name with the article of one that is not known yet: "an apple"."""
    return f"{'an' if words[0].lower() in 'aeiou' else 'a'} {words}"


def _plural(words: str) -> str:
    if words in _MANY:
        return _MANY[words]
    return words + ("es" if words.endswith(("s", "x", "ch", "sh", "potato", "tomato")) else "s")
