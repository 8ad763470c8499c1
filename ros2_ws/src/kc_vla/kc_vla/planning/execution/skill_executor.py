"""Does one call of a plan: finds the things that its names stand for, and does the skill with them.

Where that fails (it does not fit in, it cannot be carried) the next thing is tried that the name fits and that is
known; then room is made; then another one is looked for.
"""

from __future__ import annotations

from dataclasses import replace

from kc_vla.memory.long_term.errors import GraphError
from kc_vla.memory.references.fits import Fit, fits
from kc_vla.memory.references.names import NEXT_TO
from kc_vla.memory.references.reference import read_related
from kc_vla.planning.execution.beside import Beside
from kc_vla.planning.execution.finding import Finder
from kc_vla.planning.execution.precondition_repair import PreconditionRepair, UnmetError
from kc_vla.planning.execution.robot import NotFoundError, RememberingRobot
from kc_vla.planning.skills import ANYWHERE, AREA, BY_NAME, HOLDER, Call, Skill

_TRIES = 3
"""Things that a name fits that are tried, before room is made."""
_CARRIED = frozenset({"held", "can be picked up", "can be sliced"})
"""Needs of skills whose first thing is no furniture."""


class SkillExecutor:
    """Does calls with one robot."""

    def __init__(self, robot: RememberingRobot, finder: Finder) -> None:
        """Prepare to do calls.

        Args:
            robot: that does them.
            finder: of its things.
        """
        self._robot, self._finder, self._mender = robot, finder, PreconditionRepair(robot, finder)
        self._beside = Beside(robot, finder)
        self._tool = False

    def do(self, call: Call, following: Call | None = None) -> str:
        """Do a call; return why it failed, an empty text where it did not.

        Args:
            call: of a plan.
            following: the call after it; None for the last one.

        Raises:
            EndedError: see `RememberingRobot.do`.
        """
        skill = BY_NAME.get(call.skill)
        if skill is None or len(call.arguments) != len(skill.arguments):
            return f"{str(call)[:80]!r} is no call of the skill table"
        if AREA in skill.arguments:
            return self._go(skill, call.arguments[0])
        if HOLDER in skill.arguments and call.arguments[-1] == ANYWHERE:
            return self._free_hand(call.arguments[0])
        then = following if skill.name == "PickupObject" else None
        self._tool = then is not None and then.skill == "SliceObject"  # it is only used for that: any one will do
        if then is not None and then.skill == "PutObject" and self._robot.stands_still:
            self._open_first(then.arguments[-1])
        reason = self._with_things(skill, call.arguments)
        went = skill.name == "GoToObject" and not reason
        self._finder.source = self._finder.last_taken if went else ""
        self._finder.doors.tidy()
        return reason

    def _open_first(self, holder: str) -> None:
        """Open what something is to be put into while the hand is free, where that is in sight already."""
        if holder == ANYWHERE or NEXT_TO in holder:
            return
        try:
            self._mender.open(self._finder.find(holder, explore=False).object_id)
        except (NotFoundError, UnmetError):
            return  # the put finds that out again, and says why

    def _go(self, skill: Skill, name: str) -> str:
        """Go to an area, or to a thing that the plan names instead; return why that failed."""
        robot = self._robot
        try:
            area = robot.grounds.called(name, robot.at, robot.begun_at)
        except GraphError:
            return self._with_things(BY_NAME["GoToObject"], (name,))
        return robot.do(skill.name, area)

    def _free_hand(self, name: str) -> str:
        """Put down what is in the hand; by its name it was spoken of, so that "another" is another one."""
        held = self._robot.held
        if held is not None and (name == held.object_id or self._is(name, held.object_id)):
            self._finder.stands_for(name, held)
        return self._mender.free_hand()

    def _with_things(self, skill: Skill, arguments: tuple[str, ...]) -> str:
        """Do a skill with the thing that is meant; return why that failed.

        Others that are known follow, then the first with room made, then what exploring finds. Where a name stood for a
        holder before, others come last.
        """
        tried: list[tuple[str, ...]] = []
        reason, last = "", False
        settled = self._finder.stands_for_one(arguments[-1])
        while True:
            if last and "holder has room" in skill.needs and any(map(self._mender.made_room, tried)):
                return self._mender.do(skill, tried[0])
            try:
                without = {names[-1] for names in tried}
                names = self._things(skill, arguments, without, explore=last or not tried)
                reason = self._mender.do(skill, names)
            except (NotFoundError, UnmetError) as error:
                if last or not tried or self._only_slipped(skill, arguments, tried):
                    return reason or str(error)
                last = True
                continue
            if not reason:
                self._settle(skill, arguments, names, tried)
            if not reason or last or not self._robot.limits.feedback:
                return reason
            tried.append(names)
            last = settled or len(tried) == _TRIES
            if last and self._only_slipped(skill, arguments, tried):
                return reason
            self._finder.doors.tidy()

    def _only_slipped(self, skill: Skill, arguments: tuple[str, ...], tried: list[tuple[str, ...]]) -> bool:
        """Return whether an arm that stands still sees what it could not take: another one is nowhere to be found.

        Where any one will do, another one may be easier to take.
        """
        robot = self._robot
        if read_related(arguments[0]).indefinite:
            return False
        return skill.name == "PickupObject" and robot.stands_still and any(each[0] in robot.sight for each in tried)

    def _settle(
        self, skill: Skill, arguments: tuple[str, ...], names: tuple[str, ...], tried: list[tuple[str, ...]]
    ) -> None:
        """Note what a skill succeeded with: its name means that from now on, and not what was tried before."""
        if skill.name == "OpenObject":
            self._finder.doors.keep_open(names[0])
        if skill.name == "PickupObject" and tried:
            self._finder.stands_for_none_of(arguments[0], {each[0] for each in tried} - {names[0]})

    def _things(self, skill: Skill, arguments: tuple[str, ...], without: set[str], explore: bool) -> tuple[str, ...]:
        """Return the ids of the things that are meant.

        What has to be in the hand is picked up before what follows is looked for.
        """
        if len(arguments) == 1:
            return (self._meant(skill, arguments[0], without, explore),)
        first = self._meant(skill, arguments[0], set())
        if "held" in skill.needs:
            self._mender.take(first)
        if NEXT_TO in arguments[1]:
            return first, self._beside.find(arguments[1], {*without, first}).object_id
        return first, self._finder.find(arguments[1], {*without, first}, explore).object_id

    def _meant(self, skill: Skill, text: str, without: set[str], explore: bool = True) -> str:
        held = self._robot.held
        if (
            held is not None
            and "held" in skill.needs
            and held.object_id not in without
            and self._is(text, held.object_id)
        ):
            self._finder.stands_for(text, held)
            return held.object_id
        carried = not _CARRIED.isdisjoint(skill.needs)
        return self._finder.find(text, without, explore, carried, self._tool).object_id

    def _is(self, text: str, object_id: str) -> bool:
        """Return whether what is in the hand may be what a text means, where that is not known better."""
        known, reference = self._robot.known(object_id), replace(read_related(text), carried=True)
        if known is None or reference.further or self._finder.stands_for_another(reference, object_id):
            return False
        named = self._robot.memory.namer.named(reference, [known.object_type])
        return text == object_id or reference.pronoun or fits(reference, named, known) is Fit.YES
