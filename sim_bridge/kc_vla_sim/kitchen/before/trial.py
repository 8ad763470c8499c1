"""One episode: a second hand moves things, the arm looks on and then does an instruction, and the truth judges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

import numpy as np

from kc_vla.memory.asking.answering import read_by_grammar
from kc_vla.memory.embedding.interface import Embedder
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.long_term.store import Store
from kc_vla.memory.robot.robot_memory import open_robot_memory
from kc_vla.perception.detectors import TRUTH
from kc_vla.planning.execution.former import FormerThings
from kc_vla.planning.execution.loop import Loop
from kc_vla.planning.execution.questions import open_asker
from kc_vla.planning.execution.robot import NotFoundError
from kc_vla.planning.grammar.planner import GrammarPlanner
from kc_vla.planning.interface import CallResult
from kc_vla.planning.skills import Call
from kc_vla.skills.perceived import PerceivedThing
from kc_vla.skills.station import AREA, workplace_map
from kc_vla_sim.frame import GroundTruthObject
from kc_vla_sim.kitchen.asset_set import AssetSet
from kc_vla_sim.kitchen.before.choosing import CHOOSERS
from kc_vla_sim.kitchen.before.rearrangement import Rearrangement, RearrangementKind
from kc_vla_sim.kitchen.before.watching import MAP, RememberingWatch, watch_rearrangement
from kc_vla_sim.kitchen.handling.kitchen_arm import KitchenArm
from kc_vla_sim.kitchen.placed import KitchenLayout

NO_KEYFRAMES, GUESS = "none", "guess"
"""The same robot without keyframes; and one that does not hear what the instruction says of the time before."""
MEMORIES = (*CHOOSERS, NO_KEYFRAMES, GUESS)
_STAYED_M = 0.05
"""What is nearer than this to where it was has stayed there, m."""
_NEAR_M = 0.1
"""What is perceived no further than this from an object of its type is that object, m."""
_REST = 20
_IMAGE_SIZE = 128
"""Size of the images, px: in smaller ones a salt shaker is not seen."""

Truth = Mapping[str, GroundTruthObject]


@dataclass(frozen=True)
class RearrangementOutcome:
    """What came of an episode.

    Attributes:
        seed: of the episode.
        kind: what the instruction depended on.
        memory: one of `MEMORIES`.
        named: the robot meant the right thing, or the right place.
        done: the right thing is at the right place in the end, and no other candidate was moved.
        said: the robot reported success.
        reason: why it did not, in its words.
        keyframes: that were linked.
        instruction: as it was given.
        meant: id that the robot took the words of the time before for; empty where it did not know.
        detector: that found the things.
    """

    seed: int
    kind: str
    memory: str
    named: bool
    done: bool
    said: bool
    reason: str
    keyframes: int
    instruction: str
    meant: str
    detector: str = TRUTH


class RecordingArm(KitchenArm):
    """An arm that keeps the calls of its episode.

    Attributes:
        calls: so far.
    """

    calls: list[Call]

    def begin(self, seed: int) -> None:
        """Begin another kitchen."""
        self.calls = []
        super().begin(seed)

    def do(self, call: Call) -> CallResult:
        """Do a skill."""
        self.calls.append(call)
        return super().do(call)


@dataclass
class _Robot:
    """A robot with one kind of memory."""

    name: str
    kept: LongTermMemory
    loop: Loop
    watch: RememberingWatch
    instruction: str
    meant: str = ""


class RearrangementTrial:
    """Plays episodes with one arm."""

    def __init__(
        self, embedder: Embedder, detector: str = TRUTH, options: Mapping[str, Any] = MappingProxyType({})
    ) -> None:
        """Keep what the episodes have in common; the arm is made with the first one.

        Args:
            embedder: of the memories.
            detector: name of a row of the detectors, which looks at the images; "truth": the simulator's.
            options: of the detector.
        """
        self._embedder, self._detector, self._options = embedder, detector, options
        self._arm: RecordingArm | None = None
        self._episode: Rearrangement | None = None

    def play(self, episode: Rearrangement, memories: Sequence[str]) -> Iterator[RearrangementOutcome]:
        """Play an episode, and yield what comes of it with each kind of memory.

        All of them look on at once. Those that then mean the same thing share one run of the arm, as the same calls
        have the same outcome; for what another one means, all begins anew.

        Args:
            episode: to be played.
            memories: some of `MEMORIES`.
        """
        arm = self._begun(episode)
        with ExitStack() as stack:
            robots = [self._robot(arm, episode, each, stack) for each in memories]
            watch_rearrangement(arm, episode, [each.watch for each in robots])
            for each in robots:
                each.meant = _meant(each.loop, each.instruction)
            groups: dict[tuple[str, str], list[_Robot]] = {}
            for each in robots:
                groups.setdefault((each.instruction, each.meant), []).append(each)
            untouched = True
            for some in sorted(groups.values(), key=lambda each: bool(each[0].meant)):
                if not untouched:
                    watch_rearrangement(self._begun(episode), episode, ())
                yield from self._acted(arm, episode, some)
                untouched = untouched and not arm.calls

    def close(self) -> None:
        """Release the simulator."""
        if self._arm is not None:
            self._arm.close()

    def _acted(
        self, arm: RecordingArm, episode: Rearrangement, robots: Sequence[_Robot]
    ) -> Iterator[RearrangementOutcome]:
        """Let the first of robots that mean the same do the instruction; yield the outcome for each."""
        before, true_ids = truth_of(arm), true_ids_of(arm)
        result = robots[0].loop.carry_out(robots[0].instruction)
        for _ in range(_REST):
            arm.stay()
        done = is_done(episode, before, truth_of(arm))
        for each in robots:
            meant = _guessed(episode, arm.calls) if each.name == GUESS else each.meant
            meant = true_ids.get(meant, meant)
            yield RearrangementOutcome(
                episode.seed,
                str(episode.kind),
                each.name,
                meant == right_of(episode),
                done,
                result.success,
                result.reason,
                len(each.kept.linked(MAP).keyframes),
                each.instruction,
                meant,
                self._detector,
            )

    def _robot(self, arm: RecordingArm, episode: Rearrangement, name: str, stack: ExitStack) -> _Robot:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        kept = LongTermMemory(stack.enter_context(Store(folder / "memory.db")))
        grounds = workplace_map()
        memories = open_robot_memory("both", self._embedder, grounds, kept, MAP)
        loop = Loop(arm, GrammarPlanner(), memories, grounds, AREA, cancel=arm.cancel)
        chooser = CHOOSERS[name]() if name in CHOOSERS else None
        watch = RememberingWatch(kept, loop, chooser, f"before-{episode.seed}", name)
        return _Robot(name, kept, loop, watch, episode.guess if name == GUESS else episode.instruction)

    def _begun(self, episode: Rearrangement) -> RecordingArm:
        self._episode = episode
        if self._arm is None:
            size = _IMAGE_SIZE if self._detector == TRUTH else 0
            self._arm = RecordingArm(
                episode.seed, size, detector=self._detector, options=self._options, layout=self._layout
            )
        else:
            self._arm.begin(episode.seed)
        return self._arm

    def _layout(self, seed: int, reach: float, assets: AssetSet) -> KitchenLayout:
        assert self._episode is not None
        return self._episode.layout


def right_of(episode: Rearrangement) -> str:
    """Return the id that the words of the time before stand for: of a thing, or of what one is to go back to."""
    return episode.place.split()[1] if episode.kind is RearrangementKind.BACK else episode.thing_id


def is_done(episode: Rearrangement, before: Truth, after: Truth) -> bool:
    """Return whether an instruction is done, by the truth.

    Args:
        episode: with the instruction.
        before: the objects when it was given.
        after: the objects in the end.
    """
    there = after[episode.thing_id].attributes.get("place") == episode.place
    others = [name for name in episode.candidates if name != episode.thing_id]
    ways = (np.linalg.norm(np.subtract(after[name].pose.position, before[name].pose.position)) for name in others)
    return there and all(way < _STAYED_M for way in ways)


def truth_of(arm: KitchenArm) -> Truth:
    """Return the objects as they are now, by id."""
    return {each.object_id: each for each in arm.frame.detections}


def true_ids_of(arm: KitchenArm) -> dict[str, str]:
    """Return the true id of each thing that is perceived: that of the nearest object of its type, if one is near."""
    found = {}
    for each in arm.station.context.scene.all():
        same = [other for other in arm.frame.detections if other.object_type == each.object_type]
        near = min(same, key=lambda other: _gap_m(other, each), default=None)
        if near is not None and _gap_m(near, each) < _NEAR_M:
            found[each.object_id] = near.object_id
    return found


def _gap_m(true: GroundTruthObject, perceived: PerceivedThing) -> float:
    return float(np.linalg.norm(np.subtract(true.pose.position, perceived.position)))


def _meant(loop: Loop, instruction: str) -> str:
    """Return what the robot takes the words of the time before for; empty where it does not know."""
    robot = loop.robot
    try:
        names = FormerThings(robot, lambda: open_asker(robot, read_by_grammar)).read(instruction)
    except NotFoundError:
        return ""
    return ", ".join(names.ids.values())


def _guessed(episode: Rearrangement, calls: Sequence[Call]) -> str:
    """Return what a robot that does not know has taken, or where it has put it."""
    skill, at = ("PutObject", 1) if episode.kind is RearrangementKind.BACK else ("PickupObject", 0)
    return next((each.arguments[at] for each in calls if each.skill == skill), "")
