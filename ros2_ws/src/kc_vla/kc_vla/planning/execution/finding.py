"""Which thing a plan means, and where it is: in sight, recalled, or found by exploring.

Within one instruction a name stands for one thing throughout, "second mug" for another one, "it" for the last one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from kc_vla.memory.references.fits import fitting
from kc_vla.memory.references.purposes import unknown_purpose
from kc_vla.memory.references.reference import Reference, is_id, read, read_related
from kc_vla.memory.things import CLOSED, KnownThing, ObservedThing
from kc_vla.planning.execution.exploring import LOOKS, Explorer
from kc_vla.planning.execution.guesses import thrown_away, told_of
from kc_vla.planning.execution.opened_doors import OpenedDoors
from kc_vla.planning.execution.relating import ByRelation
from kc_vla.planning.execution.results import RECALL, MemoryLookup
from kc_vla.planning.execution.robot import NotFoundError, RememberingRobot

_TOLD, _DEEP = 10, 4
"""Ids of a recall that are reported, and containers in one another."""


class Finder:
    """Finds things for one robot.

    Attributes:
        recalls: of this instruction, in their order.
        doors: that it opens.
        last_taken: id of what was found last.
        source: id of what was gone to for what is taken next; empty for nothing.
    """

    def __init__(self, robot: RememberingRobot) -> None:
        """Prepare to find things.

        Args:
            robot: that looks for them.
        """
        self._robot = robot
        self._bound: dict[tuple[str, ...], list[str]] = {}
        self._last: dict[str, KnownThing] = {}
        self._spoken_of = ""
        self.doors = OpenedDoors(robot)
        self._explorer = Explorer(robot, self.doors)
        self._by_relation = ByRelation(robot, self._explorer, self._visit, lambda each: self.recalls.append(each))
        self._nowhere: dict[tuple[str, ...], int] = {}
        self.recalls: list[MemoryLookup] = []
        self.last_taken = self.source = ""

    def begin(self) -> None:
        """Begin an instruction, whose names stand for nothing yet."""
        self._bound.clear()
        self._last.clear()
        self.doors.begin()
        self._nowhere.clear()
        self._by_relation.begin()
        self._spoken_of = self.last_taken = self.source = ""
        self.recalls = []

    def find(
        self, text: str, without: Iterable[str] = (), explore: bool = True, carried: bool = False, tool: bool = False
    ) -> ObservedThing:
        """Bring the thing that is meant into sight.

        Args:
            text: the reference.
            without: ids of things that were tried and will not do.
            explore: look for it where nothing of it is remembered.
            carried: it is to be taken into the hand.
            tool: it is only used for something else: any one will do, and rather one that was not thrown away.

        Raises:
            NotFoundError: it is nowhere; the text says how many places were looked at.
            EndedError: see `RememberingRobot.do`.
        """
        self._keep_up()
        reference, left_out = replace(read_related(text), carried=carried), set(without)
        if is_id(text):
            return self._of_id(text, left_out, explore, carried)
        if reference.vague and not reference.done and unknown_purpose(reference.bare.text):
            raise NotFoundError(f"nobody knows which things serve as {text!r}: name the thing")
        pointed = self._pointed_at(text, reference)
        if pointed is not None and pointed.object_id not in left_out:
            seen = self._visit(pointed)
            if seen is not None:
                return self._taken(reference, seen)
        if reference.pronoun and not self._spoken_of:
            raise NotFoundError(f"nobody knows what {text!r} stands for: name the thing")
        if pointed is not None and not reference.words:
            raise NotFoundError(f"{pointed} is not there any more")
        if reference.relation is not None:
            seen = self._by_relation.find(reference, left_out, explore)
            if (wrong := told_of(self._robot, reference.bare, seen, self.source)) and carried:
                raise NotFoundError(f"no {text} was found: {wrong}")
            return self._taken(reference, seen)
        further = self._bound.get(reference.key, [])[: reference.further or None] if reference.further else []
        left_out, before = left_out | set(further), len(self.recalls)
        thrown = set() if reference.done or reference.place else thrown_away(self._robot, self.source, tool) - left_out
        try:
            seen = self._found(reference, left_out | thrown, explore and (tool or not thrown))
        except NotFoundError:
            if not thrown:
                raise
            del self.recalls[before:]
            seen = self._found(reference, left_out, explore)
        return self._taken(reference, seen)

    def _of_id(self, name: str, left_out: set[str], explore: bool, carried: bool) -> ObservedThing:
        """Return the thing of that id, and no other one of its type."""
        reference = replace(read(name.rpartition("_")[0]), carried=carried)
        known = self._thing(name)
        if name in left_out:
            raise NotFoundError(f"{name} will not do, and no other one was meant")
        seen, looked = None if known is None else self._visit(known), self._nowhere.get((name,), 0)
        if seen is None and explore and not looked and (known is None or self._robot.limits.feedback):
            seen, looked = self._explored(reference, left_out, name)
        if seen is None:
            self._nowhere[(name,)] = looked
            raise NotFoundError(f"no {name} was found, in {looked} places that were looked at")
        return self._taken(reference, seen)

    def bring(self, object_id: str) -> bool:
        """Bring a thing that was found before into sight again; whether it is."""
        self._keep_up()
        known = self._last.get(object_id) or self._robot.memory.thing(object_id)
        return known is not None and self._visit(known) is not None

    def look_around(
        self, types: Mapping[str, float], there: Callable[[], ObservedThing | None]
    ) -> ObservedThing | None:
        """Look at one place after the other, where furniture of these types is likely first, until some will do."""
        return self._explorer.explore("where to put it down", types, there)[0]

    def note(self, object_id: str) -> None:
        """Note that a thing is of interest in this instruction: where it is left is not forgotten before it ends."""
        known = self._robot.known(object_id)
        if known is not None:
            self._last[object_id] = known

    def knows(self, object_id: str) -> bool:
        """Return whether a thing is of interest in this instruction."""
        return object_id in self._last

    def stands_for_one(self, text: str) -> bool:
        """Return whether a name of this instruction already stands for a thing."""
        return bool(self._bound.get(read_related(text).key))

    def stands_for(self, text: str, seen: ObservedThing) -> None:
        """Have a name mean a thing that is not looked for: "another" of that name is not it."""
        self._taken(read_related(text), seen)

    def stands_for_none_of(self, text: str, ids: Iterable[str]) -> None:
        """Have a name of this instruction mean none of some things any more: they were tried and will not do."""
        given_up = set(ids)
        key = read_related(text).key
        self._bound[key] = [each for each in self._bound.get(key, []) if each not in given_up]

    def stands_for_another(self, reference: Reference, object_id: str) -> bool:
        """Return whether a name of this instruction already stands for another thing than this one."""
        bound = self._bound.get(reference.key, []) if reference.words else []
        return bool(bound[reference.further :]) and bound[reference.further] != object_id

    def _pointed_at(self, text: str, reference: Reference) -> KnownThing | None:
        """Return the thing of that id, the one that this name stands for already, or that was spoken of last."""
        robot = self._robot
        known = self._thing(text)
        if known is not None:
            return known
        named = reference.words or reference.relation is not None
        bound = self._bound.get(reference.key, []) if named else []
        name = ""
        if reference.pronoun:
            last = robot.memory.last_handled()
            self._spoken_of = name = self._spoken_of or ("" if last is None else last.object_id)
        elif len(bound) > reference.further:
            name = bound[reference.further]
        return self._thing(name)

    def _thing(self, name: str) -> KnownThing | None:
        """Return what is known of the thing of that id: by sight, of this instruction, or remembered."""
        return self._robot.known(name) or self._last.get(name) or self._robot.memory.thing(name)

    def _found(self, reference: Reference, left_out: set[str], explore: bool) -> ObservedThing:
        robot, before = self._robot, self._robot.explorations
        recalled = self._recalled(reference, left_out)
        recalled.sort(key=lambda each: not self.source or each.container != self.source)
        known = [] if reference.indefinite else [each for each in recalled if each.handled and each.movable][:1]
        seen = self._first(known)
        wanted = known[0].object_id if known and seen is None and robot.limits.feedback else ""
        if not wanted:  # or somebody took that one elsewhere: it is looked for before another is taken
            seen = seen or self._in_sight(reference, left_out)
        where = "in sight"
        if seen is None:
            where = "where it was remembered"
            robot.say(RECALL, f"{reference.text!r}: " + ("; ".join(map(str, recalled[:3])) or "nothing is remembered"))
            seen = None if wanted else self._remembered(reference, recalled, left_out)
            explore = explore and (robot.limits.feedback or not recalled)
        looked = self._nowhere.get(reference.key, 0)
        if seen is None and explore and not looked:  # whoever planned anew may want it once more
            where = "by exploring"
            seen, looked = self._explored(reference, left_out, wanted)
            if seen is None:
                self._nowhere[reference.key] = looked
        if seen is None and explore:
            where = "for want of a better one"
            rest = self._recalled(reference, left_out, loose=True)[: robot.limits.recalled]
            seen = (
                self._in_sight(reference, left_out)
                or self._in_sight(reference, left_out, loose=True)
                or self._first(rest)
            )
        if seen is not None and where == "where it was remembered" and not _is_where(seen, recalled):
            where = "on the way there"
        found = tuple(each.object_id for each in recalled[:_TOLD])
        taken = "" if seen is None else seen.object_id
        self.recalls.append(MemoryLookup(reference.text, found, taken, robot.explorations - before))
        if seen is None:
            raise NotFoundError(f"no {reference.text} was found, in {looked} places that were looked at")
        robot.say(RECALL, f"{reference.text!r} is {robot.known(taken)}, found {where}")
        if (wrong := told_of(robot, reference, seen, self.source)) and reference.carried:
            raise NotFoundError(f"no {reference.text} was found, in {looked} places that were looked at: {wrong}")
        return seen

    def _recalled(self, reference: Reference, left_out: set[str], loose: bool = False) -> list[KnownThing]:
        robot, allowed = self._robot, self._robot.areas_on(reference.floor)
        found = robot.memory.recall(reference, loose, lambda each: robot.grounds.distance(robot.at, each.area))
        found = [each for each in found if allowed is None or each.area in allowed]
        return [each for each in found if each.object_id not in left_out]

    def _in_sight(self, reference: Reference, left_out: set[str], loose: bool = False) -> ObservedThing | None:
        """Return the nearest of the things in sight that fit; to an arm that stands still, the higher of two drawers.

        What is in a lower drawer is beneath the bar of the one above it.
        """
        robot, allowed = self._robot, self._robot.areas_on(reference.floor)
        things = [known for name in robot.sight if name not in left_out and (known := robot.known(name)) is not None]
        things = [each for each in things if allowed is None or each.area in allowed]
        named = robot.memory.namer.named(reference, (each.object_type for each in things), loose)
        fit = fitting(iter(things), reference, named, loose)
        weights = named.types if reference.vague or named.by_kind else {}
        best = min(
            fit,
            key=lambda each: (
                -weights.get(each.object_type, 0.0),
                robot.grounds.distance(robot.at, each.area),
                -each.position[2] if robot.stands_still and not each.movable else 0.0,
            ),
            default=None,
        )
        return None if best is None else robot.sight[best.object_id]

    def _remembered(self, reference: Reference, recalled: list[KnownThing], left_out: set[str]) -> ObservedThing | None:
        limits = self._robot.limits
        for each in recalled[: limits.recalled if limits.feedback else 1]:
            seen = self._visit(each) or self._in_sight(reference, left_out)
            if seen is not None:
                return seen
        return None

    def _first(self, known: Iterable[KnownThing]) -> ObservedThing | None:
        return next((seen for each in known if (seen := self._visit(each)) is not None), None)

    def _visit(self, thing: KnownThing) -> ObservedThing | None:
        """Go where a thing is thought to be, open what hides it, and note in the memories whether it is there."""
        robot, name = self._robot, thing.object_id
        if name in robot.sight:
            return robot.sight[name]
        if thing.area in robot.grounds.areas and thing.area != robot.at:
            robot.do("GoToPlace", thing.area)
        elif name in robot.dropped and robot.at:  # it lies somewhere around
            robot.do("Explore", robot.at)
        if name not in robot.sight:
            self._uncover(thing)
        for _ in range(LOOKS - 1):  # a detector may miss it once
            if name not in robot.sight:
                robot.look()
        if name in robot.sight:
            robot.confirm(name)
            return robot.sight[name]
        robot.refute(name)
        self._last.pop(name, None)
        robot.say(RECALL, f"{thing} is not there any more")
        return None

    def _uncover(self, thing: KnownThing) -> None:
        """Open what a thing is in, if that is closed; close it again if the thing is not in there."""
        robot, name = self._robot, thing.container
        for _ in range(_DEEP):
            holder = robot.known(name) or robot.memory.thing(name)
            if holder is None:
                return
            if name in robot.sight and CLOSED in holder.states:
                self._explorer.look_into(name, thing.object_id)
                return
            name = holder.container

    def _explored(self, reference: Reference, left_out: set[str], wanted: str) -> tuple[ObservedThing | None, int]:
        """Look at one place after the other; the thing (that of the id, if one is wanted), and how many there were."""
        robot = self._robot
        known = robot.memory.thing(wanted) or self._last.get(wanted)
        if known is not None:
            types: Mapping[str, float] = {known.object_type: 1.0}
        else:
            types = robot.memory.namer.named(reference, robot.memory.types()).likely
        return self._explorer.explore(
            reference.text,
            types,
            lambda: robot.sight.get(wanted) if wanted else self._in_sight(reference, left_out),
            None if wanted else robot.areas_on(reference.floor),
        )

    def _taken(self, reference: Reference, seen: ObservedThing) -> ObservedThing:
        self.last_taken = seen.object_id
        if (reference.words or reference.relation is not None) and not reference.pronoun:
            ids = self._bound.setdefault(reference.key, [])
            if seen.object_id not in ids:
                ids.append(seen.object_id)
        if seen.movable:
            self._spoken_of = seen.object_id
        self.note(seen.object_id)
        return seen

    def _keep_up(self) -> None:
        """Update where the things of this instruction are, as they are seen now."""
        for name in self._last:
            self.note(name)


def _is_where(seen: ObservedThing, recalled: Iterable[KnownThing]) -> bool:
    """Return whether a thing is in, or on, what was remembered of it."""
    return any(each.object_id == seen.object_id and each.container in ("", seen.container) for each in recalled)
