"""The arm looks on while a second hand moves things: memories and keyframes are filled as in the nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kc_vla.memory.episodic.joining import DetectedScene, KeyframeJoin
from kc_vla.memory.episodic.linked import LinkedKeyframe
from kc_vla.memory.episodic.scenes import placed_in
from kc_vla.memory.long_term.memory import LongTermMemory
from kc_vla.memory.things import ObservedThing
from kc_vla.planning.execution.loop import Loop
from kc_vla_sim.envs.kitchen import kitchen_of
from kc_vla_sim.frame import BASE_FRAME
from kc_vla_sim.kitchen.before.choosing import KeyframeChooser
from kc_vla_sim.kitchen.before.rearrangement import Rearrangement
from kc_vla_sim.kitchen.handling.kitchen_arm import KitchenArm
from kc_vla_sim.robot import CONTROL_RATE

MAP = "kitchen"
_REST = 30
"""Steps before, between and after the moves of the second hand, in which nothing happens."""
_LOOKS = 20
"""The memories of the robot take in what is seen every so many steps."""
_MOST_STEPS = 600
"""For one move of the hand."""
_BEGAN_NS = 1_700_000_000_000_000_000


class RememberingWatch:
    """What a robot remembers of the frames that it looks on in."""

    def __init__(
        self, memory: LongTermMemory, loop: Loop, chooser: KeyframeChooser | None, episode_id: str, source: str = ""
    ) -> None:
        """Begin with an episode.

        Args:
            memory: that keyframes are linked in.
            loop: of the robot, whose memories see what it sees.
            chooser: of keyframes; None: there are none.
            episode_id: of the episode.
            source: name of what chooses.
        """
        self._memory, self._loop, self._chooser = memory, loop, chooser
        self._episode_id, self._source = episode_id, source
        self._join = KeyframeJoin()
        self._phase = 0
        self._looked_s = -1.0

    def take(self, arm: KitchenArm) -> None:
        """Take in the newest frame."""
        scene = self._scene(arm)
        now_ns = stamp_of(arm.frame.index)
        if scene is not None:
            self._join.detected(scene)
        for frame, label in self._chooser.take(arm, scene) if self._chooser is not None else ():
            kept = LinkedKeyframe(
                self._episode_id, frame, stamp_of(frame), self._phase, label, self._source, BASE_FRAME
            )
            self._join.committed(kept, now_ns)
            self._phase += 1
        for linked in self._join.joined(now_ns):
            self._memory.link(MAP, placed_in(self._memory.graph(MAP), linked))
        if arm.frame.index % _LOOKS == 0:
            self._loop.robot.clock.now_s = now_ns / 1e9
            self._loop.robot.look()

    def _scene(self, arm: KitchenArm) -> DetectedScene | None:
        """Return what perception has reported since the last frame; None where it did not look."""
        scene = arm.station.context.scene
        if scene.now_s <= self._looked_s:
            return None
        self._looked_s = scene.now_s
        shown = {each.object_id: each for each in scene.all() if each.seen_s == scene.now_s}
        seen = tuple(
            _as_shown(each, shown[each.object_id].container) for each in arm.station.seen() if each.object_id in shown
        )
        stamp_ns = stamp_of(round(scene.now_s * CONTROL_RATE))
        return DetectedScene(stamp_ns, stamp_ns, self._episode_id, seen)


def watch_rearrangement(arm: KitchenArm, episode: Rearrangement, watches: Sequence[RememberingWatch]) -> None:
    """Let the second hand do its moves, while the arm holds and looks on.

    Args:
        arm: in the kitchen of the episode.
        episode: that is played.
        watches: take in each frame.
    """
    tour = kitchen_of(arm.simulator.environment).tour
    for each in watches:
        each.take(arm)
    _look_on(arm, watches, _REST)
    for move in episode.moves:
        tour.carry(move.thing_id, move.position, move.turn)
        for _ in range(_MOST_STEPS):
            if not tour.hand.busy:
                break
            _look_on(arm, watches, 1)
        _look_on(arm, watches, _REST)


def stamp_of(frame: int) -> int:
    """Return the stamp of a frame, ns."""
    return _BEGAN_NS + round((frame + 1) * 1e9 / CONTROL_RATE)


def _look_on(arm: KitchenArm, watches: Sequence[RememberingWatch], steps: int) -> None:
    for _ in range(steps):
        arm.stay()
        for each in watches:
            each.take(arm)


def _as_shown(thing: ObservedThing, holder: tuple[str, str]) -> ObservedThing:
    """Return a thing with what it was reported to be on or in: the arm takes the worktop where nothing is reported."""
    relation, container = holder
    return replace(thing, relation=relation, container=container) if thing.movable else thing
