"""Brings a thing into sight that a plan identifies by others: "apple nearest to sink", "thing left of mug".

The robot goes by what it remembers and sees, looks at the others and at the thing, and then compares how they stand as
it sees them. Left and right are as seen from where it stood when the instruction began. What nobody can tell is not
found, and the reason says what is not known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import replace

from kc_vla.memory.asking.surroundings import HomeSurroundings
from kc_vla.memory.long_term.errors import GraphError
from kc_vla.memory.references.reference import Reference, read
from kc_vla.memory.references.spatial import DIRECTIONAL, Spatial
from kc_vla.memory.searching.relations import RelatedThings
from kc_vla.memory.things import HELD, KnownThing, ObservedThing
from kc_vla.planning.execution.exploring import Explorer
from kc_vla.planning.execution.results import RECALL, MemoryLookup
from kc_vla.planning.execution.robot import NotFoundError, RememberingRobot

NEAR_M = 1.2
"""As far from another thing something is still beside it as people say it, if nothing is nearer, m."""
_MOST_LOOKS = 12
_COMPARES_ALL = frozenset({Spatial.NEAREST, Spatial.FARTHEST})

_Visit = Callable[[KnownThing], ObservedThing | None]


class ByRelation:
    """Finds things by how they stand to others, for one robot."""

    def __init__(
        self, robot: RememberingRobot, explorer: Explorer, visit: _Visit, record: Callable[[MemoryLookup], None]
    ) -> None:
        """Prepare to find things.

        Args:
            robot: that looks for them.
            explorer: of its places.
            visit: brings a thing into sight that is thought to be somewhere.
            record: gets each search.
        """
        self._robot, self._explorer, self._go, self._record = robot, explorer, visit, record
        self._nowhere: dict[tuple[str, ...], int] = {}
        """Places that were looked at for what was not found."""
        self._gone: set[str] = set()
        """Ids of what was not where it was remembered."""

    def begin(self) -> None:
        """Begin an instruction, for which nothing was looked for yet."""
        self._nowhere.clear()

    def find(self, reference: Reference, left_out: Collection[str], explore: bool) -> ObservedThing:
        """Bring the thing that is meant into sight.

        Args:
            reference: with a relation.
            left_out: ids of things that will not do.
            explore: look for it where nothing is remembered that stands so.

        Raises:
            NotFoundError: it is nowhere, or nobody can tell which one is meant.
            EndedError: see `RememberingRobot.do`.
        """
        before, taken, key = self._robot.explorations, "", reference.key
        try:
            seen = self._find(reference, left_out, explore and key not in self._nowhere)
            taken = seen.object_id
        finally:
            explored = self._robot.explorations - before
            if not taken:
                self._nowhere.setdefault(key, explored)
            self._record(MemoryLookup(reference.text, (), taken, explored))
        return seen

    def _find(self, reference: Reference, left_out: Collection[str], explore: bool) -> ObservedThing:
        looked = self._nowhere.get(reference.key, 0)
        self._gone.clear()
        try:
            seen = self._seen(reference, left_out)
            if seen is None and explore and not self._knows_all(reference):
                looked = self._explored(reference, left_out)
                seen = self._seen(reference, left_out)
            if seen is None:
                seen = self._seen(reference, left_out, loose=True)
            if seen is None and (near := _nearest(reference)) is not None:
                seen = self._seen(near, left_out, NEAR_M)
                if seen is not None:
                    self._robot.note(f"{seen.object_id} was taken for {reference.text!r}: nothing is nearer")
            if seen is not None:
                self._tell(reference, seen)
                return seen
            why = self._known(reference, left_out).note or f"nothing of that name is {_said(reference)} that"
        except GraphError as error:
            if (seen := self._only_one(reference)) is not None:
                return seen
            raise NotFoundError(f"nobody can tell which is the {reference.text!r}: {error}") from error
        raise NotFoundError(f"no {reference.text} was found, in {looked} places that were looked at: {why}")

    def _seen(
        self, reference: Reference, left_out: Collection[str], most_m: float = math.inf, loose: bool = False
    ) -> ObservedThing | None:
        """Return the thing that stands so, in sight, once the others were looked at as well; None where none does."""
        robot, looked_at = self._robot, set[str]()
        for _ in range(_MOST_LOOKS):
            found = self._known(reference, left_out, loose)
            best = found.best
            if best is None or best.far_m > most_m:
                unseen = [] if best is not None else self._others(reference, looked_at)
                if not unseen:
                    return None
                looked_at.add(unseen[0].object_id)
                self._visit(unseen[0])
                continue
            if best.thing.object_id not in robot.sight:
                self._visit(best.thing)
                continue
            others = [
                each for name in best.to if name not in looked_at and (each := robot.memory.thing(name)) is not None
            ]
            unseen = [each for each in others if each.object_id not in robot.sight]
            looked_at |= set(best.to)
            if unseen:
                self._visit(unseen[0])
                continue
            if found.rivals:
                names = " and ".join(sorted(each.object_id for each in found.rivals))
                raise NotFoundError(f"{reference.text!r} can be {names}, one as well as the other: say which")
            return robot.sight[best.thing.object_id]
        return None

    def _visit(self, thing: KnownThing) -> ObservedThing | None:
        seen = self._go(thing)
        if seen is None:
            self._gone.add(thing.object_id)
        return seen

    def _only_one(self, reference: Reference) -> ObservedThing | None:
        """Return the only thing of that name that is known, where nobody says what it is "on the left" of."""
        phrase, robot = reference.relation, self._robot
        known = robot.memory.recall(reference.bare)
        if phrase is None or phrase.others or not reference.words or len(known) != 1 or not self._looked_everywhere():
            return None
        robot.note(f"{known[0].object_id} was taken for {reference.text!r}: no other one is known")
        return self._visit(known[0])

    def _known(self, reference: Reference, left_out: Collection[str], loose: bool = False) -> RelatedThings:
        """Return what stands so, as far as is known now."""
        robot = self._robot
        around = HomeSurroundings(robot.grounds.areas, robot.begun_at, robot.now_s)
        gone = self._gone - set(robot.sight)
        known = robot.all_known().values()
        things = [each for each in known if each.relation != HELD and each.object_id not in gone]
        found = robot.memory.relations.find(reference, things, around, loose)
        if found.best is not None and found.best.thing.object_id in left_out:
            raise NotFoundError(f"{found.best.thing.object_id} will not do, and no other one was meant")
        return found

    def _others(self, reference: Reference, looked_at: Collection[str]) -> list[KnownThing]:
        """Return what is known of the others and was not looked at yet, as far as they are not in sight."""
        assert reference.relation is not None
        robot = self._robot
        meant = [read(each) for each in reference.relation.others]
        found = [each for one in meant for each in robot.memory.recall(one)] if robot.limits.feedback else []
        done = {*looked_at, *self._gone, *robot.sight}
        return [each for each in found if each.object_id not in done]

    def _knows_all(self, reference: Reference) -> bool:
        """Return whether the robot has looked everywhere, and knows what is meant by each name."""
        return self._looked_everywhere() and not self._unknown(reference)

    def _looked_everywhere(self) -> bool:
        return not set(self._robot.grounds.areas) - set(self._robot.memory.looked)

    def _unknown(self, reference: Reference) -> list[Reference]:
        assert reference.relation is not None
        names = [reference.bare, *map(read, reference.relation.others)]
        return [each for each in names if each.words and not self._still_known(each)]

    def _still_known(self, reference: Reference) -> bool:
        return any(each.object_id not in self._gone for each in self._robot.memory.recall(reference))

    def _explored(self, reference: Reference, left_out: Collection[str]) -> int:
        """Look at one place after the other until something stands so; return how many there were."""
        robot = self._robot
        names = self._unknown(reference) or [reference.bare]
        types: dict[str, float] = {}
        for each in names:
            types |= robot.memory.namer.named(each, robot.memory.types()).likely

        def there() -> ObservedThing | None:
            best = self._known(reference, left_out).best
            return None if best is None else robot.sight.get(best.thing.object_id)

        return self._explorer.explore(reference.text, types, there, robot.areas_on(reference.floor))[1]

    def _tell(self, reference: Reference, seen: ObservedThing) -> None:
        robot = self._robot
        robot.say(RECALL, f"{reference.text!r} is {robot.known(seen.object_id)}")
        phrase = reference.relation
        if phrase is not None and phrase.relation in DIRECTIONAL and not phrase.viewpoint:
            robot.note(f"{phrase.relation.value!r} was taken as seen from {robot.begun_at}, where the robot stood")
        if phrase is not None and phrase.relation in _COMPARES_ALL and not self._looked_everywhere():
            robot.note(
                f"{seen.object_id} is {reference.text!r} of what was seen so far: the robot has not looked everywhere"
            )


def _nearest(reference: Reference) -> Reference | None:
    """Return a reference to what is nearest to the others, where it is to be next to them; None otherwise."""
    phrase = reference.relation
    if phrase is None or phrase.relation is not Spatial.NEXT_TO or reference.vague:
        return None
    return replace(reference, relation=replace(phrase, relation=Spatial.NEAREST))


def _said(reference: Reference) -> str:
    phrase = reference.relation
    return "" if phrase is None or phrase.relation is None else phrase.relation.value
