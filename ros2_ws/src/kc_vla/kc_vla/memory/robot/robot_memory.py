"""What a robot remembers: both memories, one of them, none, or what other methods have in their place.

One class with different parts; planner and executor ask it and not the parts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kc_vla.memory.embedding.interface import Embedder
from kc_vla.memory.episodic.linked import LinkedKeyframe, LinkedKeyframes
from kc_vla.memory.live_units import LiveUnits
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.navigation_map import NavigationMap
from kc_vla.memory.references.fits import did
from kc_vla.memory.references.naming import Namer
from kc_vla.memory.references.reference import Reference
from kc_vla.memory.robot.history import ContextPart, HistoryPart
from kc_vla.memory.robot.interface import MemoryPart, RobotMemoryError, SceneObservation
from kc_vla.memory.robot.long_term import LongTermPart, OwnScene, SceneMemory
from kc_vla.memory.robot.short_term import MAP_FRAME, ShortTermPart, UnitMemory
from kc_vla.memory.searching.relations import RelationSearch
from kc_vla.memory.short_term.memory import ShortTermMemory
from kc_vla.memory.short_term.unit import states_in
from kc_vla.memory.things import OPENED, KnownThing, ObservedThing

BOTH, LONG, SHORT, NONE, HISTORY, CONTEXT = "both", "long", "short", "none", "history", "context"
_MOST_LOOKED, _RATHER, _MOST_KNOWN = 5000, 0.5, 300
_TRIES = 2
"""One failure may be chance."""
_HANDLED = 0.2
"""What was handled is so much likelier meant by what serves a purpose, in scores of `Kinds`."""


@dataclass(frozen=True)
class Budget:
    """Tokens of a prompt that each memory may take."""

    surroundings: int = 2000
    recalled: int = 500


class RobotMemory:
    """The memory of a robot: several memories behind one interface.

    Attributes:
        name: one of `NAMES`.
        parts: the memories, in the order in which they are queried.
        namer: finds the types that a reference names.
        relations: finds the things that stand in a given relation to others.
        looked: time of the last look at each area and into each container, s. It has only what was given to a memory
            that keeps all that the robot sees.
    """

    def __init__(
        self, name: str, parts: Sequence[MemoryPart], namer: Namer, budget: Budget = Budget()
    ) -> None:  # frozen
        self.name, self.parts, self.namer, self._budget = name, parts, namer, budget
        self.relations = RelationSearch(namer)
        self.looked: dict[str, float] = {}
        self._refused: Counter[str] = Counter()

    @property
    def _keeps_all(self) -> bool:
        """Return whether a part keeps all that it sees."""
        return any(isinstance(part, (LongTermPart, ShortTermPart)) for part in self.parts)

    @property
    def latest_s(self) -> float:
        """Return when the newest of what it knows was seen, s."""
        return max((part.latest_s for part in self.parts if isinstance(part, LongTermPart)), default=0.0)

    def begin(self) -> None:
        """Begin with a robot, or with a sequence of instructions: only what outlives that is kept."""
        self.looked.clear()
        self._refused.clear()
        for part in self.parts:
            part.begin()

    def observe(self, look: SceneObservation) -> list[str]:
        """Take in what is seen and handled; return what was left out and why, a line each.

        Parts behind services take it in at the same time: each gets it before the first is waited for.
        """
        self.namer.notice(look.seen)
        if self._keeps_all:
            self._note(look)
        begun = [part.observe(look) for part in self.parts]
        if look.handled is not None:
            begun += [part.handled(look.handled, look.now_s) for part in self.parts]
        return [line for refusals in begun for line in refusals()]

    def tried_to_open(self, object_id: str, done: bool) -> None:
        """Note that the robot has opened something, or that it would not open."""
        if done:
            del self._refused[object_id]
        elif self._keeps_all:
            self._refused[object_id] += 1

    def stays_shut(self, object_id: str) -> bool:
        """Return whether nobody need try any more to look into it: it would not open again and again."""
        return self._refused[object_id] >= _TRIES

    def handled(self, seen: ObservedThing, now_s: float) -> None:
        """Note that the robot did something with a thing, which is as given now."""
        for refusals in [part.handled(seen, now_s) for part in self.parts]:
            refusals()

    def confirm(self, object_id: str) -> None:
        """Note that a recalled thing was found at its place."""
        for part in self.parts:
            part.confirm(object_id)

    def refute(self, object_id: str, look: SceneObservation) -> None:
        """Note that a look at the place of a recalled thing did not find it."""
        for part in self.parts:
            part.refute(object_id, look)

    def recall(
        self, reference: Reference, loose: bool = False, far: Callable[[KnownThing], float] = lambda thing: 0.0
    ) -> list[KnownThing]:
        """Return the things that a reference may mean: each once, as the first part has it that does.

        How a thing stands to others is not looked at: `relations` does that.

        What may be carried and was handled comes first, the last one of all, unless any will do; then, of a reference
        without a name, the likeliest type; then what is rather there than not, the nearest first.

        Args:
            reference: taken apart.
            loose: also what is meant only perhaps.
            far: how far away something is, m.
        """
        named = self.namer.named(reference, self.types(), loose)
        meant = named.types if reference.vague or named.by_kind else {}
        found: dict[str, KnownThing] = {}
        for part in self.parts:
            for each in part.recall(reference, named, loose):
                found.setdefault(each.object_id, each)

        def order(thing: KnownThing) -> tuple[float, float, bool, float]:
            handled = 0.0 if reference.indefinite or not thing.movable else thing.handled
            if reference.done:
                handled = did(reference, thing)
            elif named.by_kind:
                handled = float(handled > 0)
            preferred = named.by_kind and thing.handled and not reference.indefinite
            likely = meant.get(thing.object_type, 0.0) + (_HANDLED if preferred else 0.0)
            return -handled, -likely, thing.confidence < _RATHER, far(thing)

        return sorted(found.values(), key=order)

    def things(self) -> list[KnownThing]:
        """Return all that is remembered, each once."""
        found: dict[str, KnownThing] = {}
        for part in self.parts:
            for each in part.things():
                found.setdefault(each.object_id, each)
        return list(found.values())

    def thing(self, object_id: str) -> KnownThing | None:
        """Return what is remembered of the thing of that id, by the part that saw it last."""
        found = (each for part in self.parts if (each := part.thing(object_id)) is not None)
        return max(found, key=lambda each: each.seen_s, default=None)

    def linked(self) -> LinkedKeyframes:
        """Return the keyframes that the long-term memory keeps; none without one."""
        return next((part.linked() for part in self.parts if isinstance(part, LongTermPart)), LinkedKeyframes())

    def keep(self, keyframe: LinkedKeyframe) -> str:
        """Have the buffer keep a keyframe for a policy; return why that cannot be, empty where it is kept."""
        parts = (part for part in self.parts if isinstance(part, LongTermPart))
        return next((part.keep(keyframe) for part in parts), "there is no long-term memory")

    def types(self) -> Iterator[str]:
        """Return the types of all that is remembered."""
        return (name for part in self.parts for name in part.types())

    def last_handled(self) -> KnownThing | None:
        """Return what the robot handled last, as far as it remembers."""
        return max((each for each in self.things() if each.handled), key=lambda each: each.handled, default=None)

    def was_handled(self, object_id: str) -> bool:
        """Return whether the robot did something with a thing, as far as it remembers."""
        return any(each is not None and each.handled for each in (part.thing(object_id) for part in self.parts))

    def surroundings(self, instruction: str) -> str:
        """Return what the long-term memory has, as text; empty without one."""
        return self._text(instruction, self._budget.surroundings, lambda part: isinstance(part, LongTermPart))

    def recalled(self, instruction: str) -> str:
        """Return what the others have on an instruction, as text."""
        return self._text(instruction, self._budget.recalled, lambda part: not isinstance(part, LongTermPart))

    def known(self, recalled: str) -> list[KnownThing]:
        """Return what is remembered, bounded: what a text names by its id first, then what was handled or seen last."""
        return sorted(
            self.things(),
            key=lambda each: (each.object_id not in recalled, -each.handled, -each.seen_s, each.object_id),
        )[:_MOST_KNOWN]

    def lines(self, most: int, began_s: float = 0.0) -> list[str]:
        """Return what is remembered of what may be carried, in words, the newest first, by time since `began_s`."""
        newest = sorted((each for each in self.things() if each.movable), key=lambda each: -each.seen_s)
        more = [f"and {len(newest) - most} more, seen before these"] if len(newest) > most else []
        return [f"{each} [{each.source}, {each.seen_s - began_s:.0f} s]" for each in newest[:most]] + more

    def _text(self, instruction: str, most_tokens: int, wanted: Callable[[MemoryPart], bool]) -> str:
        return "\n".join(filter(None, (part.describe(instruction, most_tokens) for part in self.parts if wanted(part))))

    def _note(self, look: SceneObservation) -> None:
        fixed = (each for each in look.seen if not each.movable)
        open_ones = (each.object_id for each in fixed if OPENED in states_in(each.state, each.attributes))
        for place in filter(None, (look.at, *open_ones)):
            self.looked.pop(place, None)
            self.looked[place] = look.now_s
        while len(self.looked) > _MOST_LOOKED:
            del self.looked[next(iter(self.looked))]


def open_robot_memory(
    name: str,
    embedder: Embedder,
    grounds: NavigationMap,
    long_term: LongTermMemory | None = None,
    map_id: str = "home",
    capacity: int = 100,
    policy: str = "adaptive",
    budget: Budget = Budget(),  # frozen
) -> RobotMemory:
    """Return what a robot remembers, by name, all of it in this process.

    Args:
        name: "both", "long", "short", "none" (LoTa-Bench: what is in sight), "history" (HELPER), "context" (CAPEAM).
        embedder: cached.
        grounds: where it can go.
        long_term: for "both" and "long"; the caller closes its store.
        map_id: of the home.
        capacity: units of the short-term memory.
        policy: by which they leave.
        budget: of prompts.

    Raises:
        RobotMemoryError: there is no such memory, or it needs a long-term memory.
        GraphError: the map is of another home.
    """
    scene = None if long_term is None else OwnScene(long_term, map_id)
    units = LiveUnits(ShortTermMemory(capacity, policy), embedder) if SHORT_PART in parts_of(name) else None
    memory = assemble_robot_memory(name, embedder, scene, units, budget)
    if scene is not None and LONG_PART in parts_of(name):
        scene.enter(grounds.areas)
    return memory


def assemble_robot_memory(
    name: str,
    embedder: Embedder,
    scene: SceneMemory | None,
    units: UnitMemory | None,
    budget: Budget = Budget(),  # frozen
    frame: str = MAP_FRAME,
) -> RobotMemory:
    """Return what a robot remembers, by name, in memories that are given; see `open_robot_memory`.

    The positions of the robot's things are in `frame`, that of the units which are given.

    A robot that begins with it enters the scene first, see `SceneMemory.enter`; one that only asks does not.

    Raises:
        RobotMemoryError: there is no such memory, or one that it consists of is not given.
    """
    parts: list[MemoryPart] = []
    for part in parts_of(name):
        if part == LONG_PART:
            if scene is None:
                raise RobotMemoryError(f"the memory {name!r} needs a long-term memory: open a store for it")
            parts.append(LongTermPart(scene))
        elif part == SHORT_PART:
            if units is None:
                raise RobotMemoryError(f"the memory {name!r} needs a short-term memory: give it one")
            parts.append(ShortTermPart(units, frame))
        else:
            parts.append(HistoryPart() if part == HISTORY else ContextPart())
    return RobotMemory(name, parts, Namer(embedder), budget)


def parts_of(name: str) -> Sequence[str]:
    """Return the names of the parts that a memory consists of, the one asked first before the others.

    Raises:
        RobotMemoryError: there is no such memory.
    """
    if name not in NAMES:
        raise RobotMemoryError(f"there is no memory {name[:40]!r}: choose {', '.join(NAMES)}")
    return NAMES[name]


SHORT_PART, LONG_PART = ShortTermPart.name, LongTermPart.name
NAMES: Mapping[str, Sequence[str]] = {
    BOTH: (SHORT_PART, LONG_PART),
    LONG: (LONG_PART,),
    SHORT: (SHORT_PART,),
    NONE: (),
    HISTORY: (HISTORY,),
    CONTEXT: (CONTEXT,),
}
