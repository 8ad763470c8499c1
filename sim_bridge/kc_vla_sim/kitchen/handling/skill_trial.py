"""One kitchen: the arm does a round of skills, and the simulator's truth judges each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from kc_vla.planning.skills import Call
from kc_vla_sim.frame import GroundTruthObject, SimulatedFrame
from kc_vla_sim.kitchen.handling.feasibility import can_be_gripped, has_room
from kc_vla_sim.kitchen.handling.kitchen_arm import KitchenArm
from kc_vla_sim.kitchen.handling.perceived_names import is_in_hand, perceived_name
from kc_vla_sim.kitchen.kinds import DRAWER, KINDS, WORKTOP

_TAKEN_M = 0.04
"""A thing was taken that is so far from where it was, m."""
_PICKS = 3
"""Things that are taken in one kitchen."""

STATE_AFTER: Mapping[str, str] = {
    "OpenObject": "opened",
    "CloseObject": "closed",
    "SwitchOn": "on",
    "SwitchOff": "off",
}
"""The skills that change the state of a piece of furniture, and to what."""


@dataclass(frozen=True)
class SkillVerdict:
    """What came of one skill.

    Attributes:
        seed: of the kitchen.
        skill: of the planner's table.
        arguments: ids that it was called with.
        said: the skill reported success.
        true: the simulator says so, too.
        reason: why it failed, as it was reported.
        seconds: of simulated time.
        possible: it could be done: the gripper opens wide enough, or there is room in the drawer.
        by: the way by which it was done.
        disturbed: things beside that the arm has moved, where that is looked at.
    """

    seed: int
    skill: str
    arguments: tuple[str, ...]
    said: bool
    true: bool
    reason: str
    seconds: float
    possible: bool = True
    by: str = "motion"
    disturbed: tuple[str, ...] = ()


class SkillTrial:
    """A round of skills in one kitchen."""

    def __init__(self, arm: KitchenArm, seed: int) -> None:
        """Begin the kitchen of a seed."""
        self._arm, self._seed = arm, seed
        arm.begin(seed)

    def play(self) -> Iterator[SkillVerdict]:
        """Yield the verdict of each skill."""
        yield self._seen("Explore", "workplace")
        yield from self._switched("stove")
        yield from self._at_microwave()
        yield from self._behind_door("cupboard")
        yield from self._at_lower_drawer()
        if "opened" not in self._state("drawer_1"):
            yield self._state_after("OpenObject", "drawer_1", "opened")
        for name in self._things()[:_PICKS]:
            taken = self._picked(name)
            yield taken
            if not self._arm.station.context.held:
                continue
            small = DRAWER in KINDS[self._truth(name).object_type].places
            yield self._put(name, "drawer_1" if small and "opened" in self._state("drawer_1") else "worktop")
            if self._arm.station.context.held:
                yield self._put(name, "worktop")
            if self._arm.station.context.held:
                break
        if "opened" in self._state("drawer_1") and not self._arm.station.context.held:
            yield self._state_after("CloseObject", "drawer_1", "closed")

    def _switched(self, name: str) -> Iterator[SkillVerdict]:
        """Yield the verdicts of switching a device, and back again."""
        calls = [("SwitchOn", "on"), ("SwitchOff", "off")]
        for skill, state in calls if "off" in self._state(name) else reversed(calls):
            yield self._state_after(skill, name, state)
            if state not in self._state(name):
                return

    def _at_microwave(self) -> Iterator[SkillVerdict]:
        """Yield the verdicts of switching the microwave while it is closed, and of its door."""
        if "opened" in self._state("microwave"):
            yield self._state_after("CloseObject", "microwave", "closed")
        if "closed" in self._state("microwave"):
            yield from self._switched("microwave")
        if "on" not in self._state("microwave"):
            yield from self._opened_and_closed("microwave")

    def _behind_door(self, name: str) -> Iterator[SkillVerdict]:
        """Yield the verdicts of taking a thing out of what has a door, and of putting it back."""
        if "opened" not in self._state(name):
            yield self._state_after("OpenObject", name, "opened")
        thing = next(iter(self._things(f"in {name}") or self._things()), None)
        if "opened" in self._state(name) and thing is not None:
            yield self._picked(thing)
            if self._arm.station.context.held:
                yield self._put(thing, name)
            if self._arm.station.context.held:
                yield self._put(thing, "worktop")
        if not self._arm.station.context.held:
            yield self._state_after("CloseObject", name, "closed")

    def _at_lower_drawer(self) -> Iterator[SkillVerdict]:
        """Yield the verdicts of the lower drawer, which waits until the upper one is closed."""
        if self._arm.station.context.held:
            return
        if "opened" in self._state("drawer_1"):
            yield self._state_after("CloseObject", "drawer_1", "closed")
        if "closed" in self._state("drawer_1"):
            yield from self._opened_and_closed("drawer_2")

    def _opened_and_closed(self, name: str) -> Iterator[SkillVerdict]:
        first, then = ("OpenObject", "opened"), ("CloseObject", "closed")
        if "opened" in self._state(name):
            first, then = then, first
        yield self._state_after(first[0], name, first[1])
        if first[1] in self._state(name):
            yield self._state_after(then[0], name, then[1])

    def _seen(self, skill: str, name: str) -> SkillVerdict:
        return self._judged(skill, (name,), lambda: True)

    def _state_after(self, skill: str, name: str, state: str) -> SkillVerdict:
        return self._judged(skill, (name,), lambda: state in self._state(name))

    def _picked(self, name: str) -> SkillVerdict:
        before, possible = np.array(self._truth(name).pose.position), can_be_gripped(self._truth(name))

        def held() -> bool:
            now = self._truth(name)
            moved = float(np.linalg.norm(np.array(now.pose.position) - before))
            return moved > _TAKEN_M and is_in_hand(self._arm, now)

        return self._judged("PickupObject", (name,), held, possible)

    def _put(self, name: str, holder: str) -> SkillVerdict:
        relation = "on" if holder == WORKTOP else "in"
        there, possible = f"{relation} {holder}", True
        if holder == "drawer_1":
            others = [each for each in self._arm.frame.detections if each.object_id not in (name, holder)]
            possible = has_room(self._truth(name), self._truth(holder), others)
        return self._judged(
            "PutObject", (name, holder), lambda: self._truth(name).attributes.get("place") == there, possible
        )

    def _judged(
        self, skill: str, arguments: tuple[str, ...], truth: Callable[[], bool], possible: bool = True
    ) -> SkillVerdict:
        called = tuple(perceived_name(self._arm, each) for each in arguments)
        result = self._arm.do(Call(skill, called))
        for _ in range(10):  # what was released comes to rest
            self._arm.stay()
        true = bool(truth())
        return SkillVerdict(
            self._seed, skill, called, result.done, true, result.reason, result.seconds, possible or true
        )

    def _things(self, place: str = "on ") -> list[str]:
        """Return things that a gripper gets around in or on a place, in an order that chance decides."""
        chance = np.random.default_rng(self._seed)
        free = [
            each.object_id
            for each in self._arm.frame.detections
            if each.object_type in KINDS
            and KINDS[each.object_type].graspable
            and each.attributes.get("place", "").startswith(place)
        ]
        return [free[number] for number in chance.permutation(len(free))]

    def _truth(self, name: str) -> GroundTruthObject:
        return next(each for each in self._arm.frame.detections if each.object_id == name)

    def _state(self, name: str) -> set[str]:
        found = self._truth(name)
        return {found.state, found.attributes.get("also", "")}


def is_done(call: Call, frame: SimulatedFrame) -> bool:
    """Return whether the furniture of a skill has the state that the skill is for."""
    found = next(each for each in frame.detections if each.object_id == call.arguments[0])
    return STATE_AFTER[call.skill] in {found.state, found.attributes.get("also", "")}
