"""Does a skill with things that were found, and repairs what the skill table says is missing for it.

What a skill needs is looked at before, in the order of the table, in what is in sight: what is not in sight is brought
there, what is out of reach gone to, what is closed opened, a hand that is full emptied. What is so already need not be
done again. What only the body can know (is it too large, can it be carried) shows when it fails.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from enum import Enum

from kc_vla.memory.references.naming import tier_of
from kc_vla.memory.references.reference import read
from kc_vla.memory.things import CLOSED, HELD, OPENED, KnownThing
from kc_vla.planning.execution.finding import Finder
from kc_vla.planning.execution.put_down_places import put_down_places
from kc_vla.planning.execution.results import REPAIR
from kc_vla.planning.execution.robot import ExecutionError, NotFoundError, RememberingRobot
from kc_vla.planning.obstacles import Clearing, Obstacle
from kc_vla.planning.skills import BY_NAME, Call, Skill

_CLEARED = "a clear way"
_MENDS = 2
"""Repairs of one need for one skill that are tried."""
KNIFE = "knife"


class UnmetError(ExecutionError):
    """Something that a skill needs cannot be brought about."""


class Met(Enum):
    """How a need stands."""

    YES = "it holds"
    DONE = "what the skill is for is so already"
    MENDED = "something was done for it: look again"


class PreconditionRepair:
    """Does skills with one robot."""

    def __init__(self, robot: RememberingRobot, finder: Finder) -> None:
        """Prepare to do skills.

        Args:
            robot: that does them.
            finder: of its things.
        """
        self._robot, self._finder = robot, finder

    def do(self, skill: Skill, names: tuple[str, ...]) -> str:
        """Do a skill with things, after what is missing for it; return why it failed."""
        mended, retried = Counter[str](), False
        while True:
            try:
                need, met = self._first_unmet(skill, names)
            except (UnmetError, NotFoundError) as error:
                if retried or names[0] not in self._robot.dropped:
                    return str(error)
                retried = True
                continue
            if met is Met.DONE:
                self._robot.say(REPAIR, f"{skill.name}({', '.join(names)}): so already")
            if met is not Met.MENDED:
                happened = None if met is Met.DONE else self._robot.attempt(skill.name, *names)
                self._finder.note(names[0])
                if happened is None or happened.done:
                    return ""
                if mended[_CLEARED] < _MENDS and self._cleared(happened.obstacle):
                    mended[_CLEARED] += 1
                    continue
                if retried or not self._is_otherwise(skill, names):
                    return happened.reason
                retried = True
                continue
            mended[need] += 1
            if mended[need] > _MENDS:
                return f"{skill.name}({', '.join(names)}) needs {need!r}, which could not be brought about"

    def _cleared(self, obstacle: Obstacle | None) -> bool:
        """Close, or put elsewhere, what a skill failed because of; return whether anything was, and that was done."""
        if obstacle is None or obstacle.object_id not in self._robot.sight:
            return False
        name, before = obstacle.object_id, self._robot.sight[obstacle.object_id].container
        try:
            if obstacle.clearing is Clearing.CLOSE:
                self._act("CloseObject", name)
            elif self._robot.held is None and not self._finder.knows(name):  # what this instruction put there stays
                self._act("PickupObject", name)
                self._put_down(name, {before})
            else:
                return False
        except (UnmetError, NotFoundError):
            return False
        return True

    def _is_otherwise(self, skill: Skill, names: tuple[str, ...]) -> bool:
        """Return whether something that a skill needs looks otherwise now than when it was tried.

        One look may have erred.
        """
        self._robot.look()
        try:
            return self._first_unmet(skill, names)[1] is not Met.YES
        except (UnmetError, NotFoundError):
            return False

    def _first_unmet(self, skill: Skill, names: tuple[str, ...]) -> tuple[str, Met]:
        """Return the first need that does not hold as it is, and how it stands."""
        for need in skill.needs:
            met = _CHECKS[need](self, names)
            if met is not Met.YES:
                return need, met
        return "", Met.YES

    def _act(self, skill: str, *names: str) -> Met:
        """Do another skill first."""
        self._robot.say(REPAIR, f"first {Call(skill, names)}")
        reason = self.do(BY_NAME[skill], names)
        if reason:
            raise UnmetError(reason)
        return Met.MENDED

    def _known(self, object_id: str) -> KnownThing:
        known = self._robot.known(object_id)
        if known is None:
            raise UnmetError(f"{object_id} is out of sight")
        return known

    def _seen(self, object_id: str) -> Met:
        if object_id in self._robot.sight:
            return Met.YES
        if not self._finder.bring(object_id):
            raise UnmetError(f"{object_id} is not where it was seen last")
        return Met.MENDED

    def _reached(self, object_id: str) -> Met:
        known = self._known(object_id)
        if known.relation == HELD or known.area == self._robot.at:
            return Met.YES
        if reason := self._robot.do("GoToObject", object_id):
            raise UnmetError(reason)
        self._robot.at = known.area
        return Met.MENDED

    def take(self, object_id: str) -> Met:
        """Pick up a thing, unless it is in the hand already.

        Raises:
            UnmetError: the thing cannot be picked up.
        """
        return Met.YES if self.holds(object_id) else self._act("PickupObject", object_id)

    def _empty_hand(self) -> Met:
        held = self._robot.held
        if held is None:
            return Met.YES
        place = self._put_down(held.object_id)
        self._robot.say(REPAIR, f"{held.object_id} is put down on or in {place}, to have the hand free")
        return Met.MENDED

    def free_hand(self) -> str:
        """Put down what is in the hand, if anything is, wherever there is room; return why that failed."""
        held = self._robot.held
        try:
            if held is not None:
                self._put_down(held.object_id)
        except (UnmetError, NotFoundError) as error:
            return str(error)
        return ""

    def _put_down(self, object_id: str, without: Collection[str] = ()) -> str:
        """Put a thing down where such things usually are, and near; return on or in what."""
        kind = self._known(object_id).object_type
        self._finder.note(object_id)
        for place in put_down_places(self._robot, self._finder, kind, without):
            if not self.do(BY_NAME["PutObject"], (object_id, place)) or self._robot.held is None:
                return place
        raise UnmetError(f"{object_id} is in the hand, and there is nowhere to put it down")

    def made_room(self, names: tuple[str, ...]) -> bool:
        """Take something out of a holder that seems full; return whether that was done.

        If the thing is too large for the empty holder, nothing is done. Things of the present instruction stay.
        """
        robot, (name, holder) = self._robot, names
        thing, full = robot.sight.get(name), robot.sight.get(holder)
        if thing is None or full is None or sorted(thing.size)[1] > max(full.size) or not self.holds(name):
            return False  # it cannot be that there was no room for what has slipped out of the hand
        try:
            self._reached(holder)
            self._opened(holder)
            inside = [each for each in robot.sight.values() if each.container == holder and each.movable]
            spare = next((each for each in inside if not self._finder.knows(each.object_id)), None)
            if spare is None:
                return False
            robot.say(REPAIR, f"{holder} seems to be full: {spare.object_id} is put elsewhere")
            self._put_down(name, {holder})
            self._act("PickupObject", spare.object_id)
            self._put_down(spare.object_id, {holder})
        except (UnmetError, NotFoundError):
            return False
        return True

    def _knife(self) -> Met:
        held = self._robot.held
        if held is not None and tier_of(read(KNIFE).words, held.object_type):
            return Met.YES
        self._empty_hand()
        return self._act("PickupObject", self._finder.find(KNIFE, tool=True).object_id)

    def open(self, object_id: str) -> None:
        """Open a thing, if it is closed; it is closed again later.

        Raises:
            UnmetError: it cannot be opened.
        """
        self._opened(object_id)

    def _opened(self, object_id: str) -> Met:
        known = self._known(object_id)
        if OPENED in known.states and not known.movable:
            self._finder.doors.opened(object_id)
        if CLOSED not in known.states:
            return Met.YES
        self._act("OpenObject", object_id)
        self._finder.doors.opened(object_id)
        return Met.MENDED

    def _shut(self, object_id: str) -> Met:
        known = self._known(object_id)
        return self._act("CloseObject", object_id) if OPENED in known.states and not known.movable else Met.YES

    def _in(self, state: str, object_id: str) -> bool:
        return state in self._known(object_id).states

    def _surely_in(self, state: str, object_id: str) -> bool:
        """Return whether it is so at two looks: a detector may err, and what is so already is not done."""
        if not self._in(state, object_id):
            return False
        self._robot.look()
        return object_id not in self._robot.sight or self._in(state, object_id)

    def _is_whole(self, object_id: str) -> Met:
        if self._in("broken", object_id):
            raise UnmetError(f"{object_id} is broken")
        return Met.YES

    def _apart(self, names: tuple[str, ...]) -> Met:
        if names[0] == names[1]:
            raise UnmetError(f"{names[0]} cannot be put onto itself")
        return Met.YES

    def holds(self, object_id: str) -> bool:
        """Return whether a thing is in the hand."""
        held = self._robot.held
        return held is not None and held.object_id == object_id


_Check = Callable[[PreconditionRepair, tuple[str, ...]], Met]


def _so_already(state: str) -> _Check:
    return lambda mender, names: Met.DONE if mender._surely_in(state, names[0]) else Met.YES


def _body_knows(mender: PreconditionRepair, names: tuple[str, ...]) -> Met:
    return Met.YES


_CHECKS: Mapping[str, _Check] = {
    "seen": lambda mender, names: mender._seen(names[0]),
    "within reach": lambda mender, names: mender._reached(names[0]),
    "holder seen": lambda mender, names: mender._seen(names[1]),
    "holder within reach": lambda mender, names: mender._reached(names[1]),
    "held": lambda mender, names: mender.take(names[0]),
    "not held": lambda mender, names: Met.DONE if mender.holds(names[0]) else Met.YES,
    "hand empty": lambda mender, names: mender._empty_hand(),
    "holder open": lambda mender, names: mender._opened(names[1]),
    "holder not in it": lambda mender, names: mender._apart(names),
    "closed": _so_already(OPENED),
    "opened": _so_already(CLOSED),
    "on": _so_already("off"),
    "off": _so_already("on"),
    "not sliced": _so_already("sliced"),
    "not at work": lambda mender, names: mender._act("SwitchOff", names[0]) if mender._in("on", names[0]) else Met.YES,
    "not broken": lambda mender, names: mender._is_whole(names[0]),
    "shut if it cooks": lambda mender, names: mender._shut(names[0]),
    "knife in the hand": lambda mender, names: mender._knife(),
    **dict.fromkeys(
        (
            *("an area", "can be picked up", "can be opened", "can be switched", "can be sliced", "can be broken"),
            *("holds nothing", "holder holds things", "holder large enough", "holder has room"),
        ),
        _body_knows,
    ),
}
