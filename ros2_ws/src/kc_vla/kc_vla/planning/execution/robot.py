"""A body with its memories: every skill goes through here, is counted and reported, and what is seen is remembered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from kc_vla.core.errors import StackError
from kc_vla.memory.intake import MOST_DETECTIONS
from kc_vla.memory.long_term.errors import GraphError
from kc_vla.memory.navigation_map import NavigationMap
from kc_vla.memory.robot.interface import SceneObservation
from kc_vla.memory.robot.robot_memory import RobotMemory
from kc_vla.memory.things import DROPPED, HELD, KnownThing, ObservedThing, known_of, wrong_with
from kc_vla.planning.execution.results import SKILL, ExecutionStep, Tell
from kc_vla.planning.execution.robot_clock import RobotClock
from kc_vla.planning.interface import CallResult, SkillRobot
from kc_vla.planning.skills import AREA, BY_NAME, Call

_MOST_NOTES, _MOST_TYPES, _SUREST = 20, 20_000, 5
_PASSING = frozenset({"also", "place", "state"})
"""Attributes that pass: other states, and where a thing is."""


class ExecutionError(StackError):
    """An instruction, or a step of it, cannot be carried out; the text says in one line why."""


class EndedError(ExecutionError):
    """Nothing more is to be done for an instruction: a person interrupted it, or it took too long."""


class NotFoundError(ExecutionError):
    """Something is nowhere to be found."""


@dataclass(frozen=True)
class Limits:
    """No instruction is carried out without end.

    Attributes:
        calls: of skills, for one instruction.
        replans: plans beyond the first.
        recalled: places that are gone to because a memory says so, for one thing.
        stops: places that are explored for one thing.
        feedback: for comparison: without, what is not where it was remembered is given up, no other thing is tried and
            no other plan made, and the memories do not learn what proved wrong.
    """

    calls: int = 400
    replans: int = 3
    recalled: int = 6
    stops: int = 150
    feedback: bool = True


class RememberingRobot:
    """A robot with its memories, which counts and reports every skill and remembers what is seen.

    Attributes:
        memories: what it remembers.
        grounds: where it can go.
        limits: of an instruction.
        at: the area in which it stands; empty where it does not know.
        begun_at: the area in which it stood when the instruction began: upstairs and downstairs are as seen from there.
        clock: its time, after all that it remembers.
        sight: what it sees now, by id; what is in its hand it knows without seeing it.
        held: what it holds.
        dropped: ids of what fell out of the hand, as the gripper knows, and was not seen since.
        calls, walked_m, explorations: of this instruction.
    """

    def __init__(
        self,
        body: SkillRobot,
        memories: RobotMemory,
        grounds: NavigationMap,
        at: str = "",
        tell: Tell | None = None,
        limits: Limits | None = None,
        lasting: Callable[[], float] | None = None,
    ) -> None:
        """Put a robot together; `begin` starts an instruction.

        Args:
            body: does the skills.
            memories: what it remembers.
            grounds: where it can go.
            at: the area in which it stands; empty where that is not known.
            tell: gets each step.
            limits: of an instruction.
            lasting: the clock that stamps what else fills the memories; see `RobotClock`.
        """
        self._body, self._tell = body, tell
        self.memory, self.grounds, self.limits, self.at = memories, grounds, limits or Limits(), at
        self.clock = RobotClock(memories.latest_s, lasting)
        self.sight: dict[str, ObservedThing] = {}
        self.held: ObservedThing | None = None
        self.dropped: set[str] = set()
        self._seen_elsewhere = 0
        """Looks on end that saw what is held on or in something else."""
        self.interrupted: Callable[[], str] = str
        self._notes: dict[str, None] = {}
        self._types: dict[str, tuple[str, int]] = {}
        self.begin()

    @property
    def now_s(self) -> float:
        """Return the time by which the memories are stamped, s."""
        return self.clock.now_s

    def begin(self) -> None:
        """Begin an instruction."""
        self.calls, self.walked_m, self.explorations = 0, 0.0, 0
        self.begun_at = self.at
        self._notes.clear()

    @property
    def stands_still(self) -> bool:
        """Return whether there is only one place where it can stand: it is an arm, and its one hand does everything."""
        return len(self.grounds.areas) == 1

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what was seen and left out, each reason once."""
        return tuple(self._notes)

    def say(self, kind: str, text: str) -> None:
        """Report a step."""
        if self._tell is not None:
            self._tell(ExecutionStep(kind, text, self.clock.told_s))

    def look(self) -> None:
        """Look, and remember what is seen; twice where what is held seems to be elsewhere."""
        self._take(self._body.look())
        if self._seen_elsewhere:
            self._take(self._body.look())

    def known(self, object_id: str) -> KnownThing | None:
        """Return a thing that is in sight; None if it is not in sight."""
        seen = self.sight.get(object_id)
        return None if seen is None else known_of(seen, self.now_s)

    def all_known(self) -> dict[str, KnownThing]:
        """Return everything that is in sight or remembered, by id, as it is known best."""
        found = {each.object_id: each for each in self.memory.things()}
        return found | {name: known_of(seen, self.now_s) for name, seen in self.sight.items()}

    def areas_on(self, floor: str) -> frozenset[str] | None:
        """Return the areas of a floor that words name; None for no words.

        Raises:
            NotFoundError: the map has no such floor.
        """
        if not floor:
            return None
        try:
            return self.grounds.on_floor(floor, self.begun_at)
        except GraphError as error:
            raise NotFoundError(str(error)) from error

    def confirm(self, object_id: str) -> None:
        """Note in the memory that a recalled thing was found at its place."""
        if self.limits.feedback:
            self.clock.tick()
            self.memory.confirm(object_id)

    def refute(self, object_id: str) -> None:
        """Note in the memory that a look at the place of a recalled thing did not find it."""
        if self.limits.feedback:
            self.clock.tick()
            self.memory.refute(object_id, SceneObservation((), self.at, self.now_s))

    def do(self, skill: str, *arguments: str) -> str:
        """Do a skill; return why it failed, an empty text where it did not.

        Raises:
            EndedError: see `attempt`.
        """
        happened = self.attempt(skill, *arguments)
        return "" if happened.done else happened.reason

    def attempt(self, skill: str, *arguments: str) -> CallResult:
        """Do a skill; return what came of it, with a reason if it failed.

        Raises:
            EndedError: a person interrupted it, or the instruction took as many calls as it may.
        """
        self._go_on()
        call = Call(skill, arguments)
        self.calls += 1
        happened = self._body.do(call)
        if not (happened.done or happened.reason):
            happened = replace(happened, reason="it did not succeed, and nobody said why")
        self.clock.went(happened.seconds)
        self.walked_m += happened.walked_m
        if happened.done:
            self._moved(call, happened)
        took = skill == "PickupObject" and happened.done  # a detector may need a moment to see that
        handles = happened.done and AREA not in BY_NAME[skill].arguments and skill != "GoToObject"
        seen = happened.seen if happened.done else self._body.look()
        self._take(seen, took, arguments[0] if handles else "", happened.held)
        if skill == "OpenObject" and self.limits.feedback:
            self.memory.tried_to_open(arguments[0], happened.done)
        self.say(SKILL, f"{call}: {'done' if happened.done else happened.reason} ({happened.seconds:.1f} s)")
        self._go_on()
        return happened

    def _moved(self, call: Call, happened: CallResult) -> None:
        if AREA in BY_NAME[call.skill].arguments:
            self.at = call.arguments[0]
        elif call.skill == "GoToObject":
            self.at = next((each.area for each in happened.seen if each.object_id == call.arguments[0]), self.at)
        elif call.skill == "PickupObject":
            self.held = self.sight.get(call.arguments[0])
        elif call.skill in ("PutObject", "ThrowObject"):
            self.held = None

    def _take(
        self, seen: Sequence[ObservedThing], took: bool = False, handled: str = "", hand: str | None = None
    ) -> None:
        found: list[ObservedThing] = []
        for each in islice(seen, MOST_DETECTIONS):
            if wrong := wrong_with(each):
                self.note(wrong)
            elif each.relation == DROPPED:  # the gripper knows that surely, but not where the thing is
                self._dropped(each.object_id)
            else:
                found.append(replace(each, object_type=self._called(each)))
        self.held = next((each for each in found if each.relation == HELD), self.held)
        if self.held is not None and hand == "":  # what was put down while nobody saw it is somewhere around
            self.note(f"{self.held.object_id} is not in the hand any more")
            self.dropped.add(self.held.object_id)
            found = [each for each in found if each.object_id != self.held.object_id or each.relation != HELD]
            self.held = None
        elsewhere = self.held is not None and not took and any(_stands(each, self.held) for each in found)
        self._seen_elsewhere = self._seen_elsewhere + 1 if elsewhere else 0
        if self.held is not None and self._seen_elsewhere > 1:  # a detector may err, or need a moment
            self._seen_elsewhere = 0
            self.note(f"{self.held.object_id} is not in the hand any more: a person took it, or it fell")
            self.held = None
        if self.held is not None:
            known = self._remembered(self.held.object_id) | dict(self.held.attributes)
            area = self.at or self.held.area
            held = self.held = replace(self.held, attributes=known, relation=HELD, container="", area=area)
            found = [held if each.object_id == held.object_id else each for each in found]
            if held not in found:
                found.append(held)
        self.sight = {each.object_id: each for each in found}
        self.dropped -= set(self.sight)
        self.clock.tick()
        for line in self.memory.observe(SceneObservation(found, self.at, self.now_s, self.sight.get(handled))):
            self.note(line)

    def _dropped(self, object_id: str) -> None:
        """Note that the gripper does not hold a thing any more."""
        if self.held is not None and self.held.object_id == object_id:
            self.note(f"{object_id} fell out of the hand")
            self.held = None
        self.dropped.add(object_id)

    def _remembered(self, object_id: str) -> dict[str, str]:
        """Return what stays so of a thing, such as its color: who holds it may not see that."""
        known = self.memory.thing(object_id)
        told = {} if known is None else known.attributes
        return {name: text for name, text in told.items() if text and name not in _PASSING}

    def _called(self, seen: ObservedThing) -> str:
        """Return the type that a thing was seen as more often than not: a detector may misname it at times."""
        name, count = self._types.pop(seen.object_id, (seen.object_type, 0))
        count = min(count + 1, _SUREST) if name == seen.object_type else count - 1
        self._types[seen.object_id] = (name, count) if count > 0 else (seen.object_type, 1)
        if len(self._types) > _MOST_TYPES:
            del self._types[next(iter(self._types))]
        return self._types[seen.object_id][0]

    def note(self, line: str) -> None:
        """Have the result say something, once."""
        if len(self._notes) < _MOST_NOTES:
            self._notes[line] = None

    def _go_on(self) -> None:
        if wrong := self.interrupted():
            raise EndedError(wrong)
        if self.calls >= self.limits.calls:
            raise EndedError(f"{self.calls} skills were tried, the most that an instruction may take: say it in parts")


def _stands(seen: ObservedThing, held: ObservedThing) -> bool:
    """Return whether what was held is seen on or in something else."""
    return seen.object_id == held.object_id and seen.relation not in ("", HELD)
