"""One arm at its place: does one skill of the planner after the other, and reports what is seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from kc_vla.memory.long_term.nodes import Area
from kc_vla.memory.navigation_map import NavigationMap
from kc_vla.memory.things import DROPPED, HELD, ObservedThing
from kc_vla.perception.front_record import OF_FRONT
from kc_vla.planning.skills import Call
from kc_vla.skills.context import LEAST_M, SkillContext
from kc_vla.skills.hands import yaw_of
from kc_vla.skills.held_thing import between_fingers
from kc_vla.skills.interface import ArmReading, HoldStage, Skill, SkillError, Vector
from kc_vla.skills.perceived import PerceivedThing, is_carried
from kc_vla.skills.placing import SURFACE
from kc_vla.skills.skill_run import LONGEST_GAP, SkillOutcome, SkillRun
from kc_vla.skills.skill_table import SkillWay, begin_skill
from kc_vla.skills.switches import SWITCH

AREA = "workplace"
"""The one area of an arm that stands still."""
SKILL_S = 120.0
"""A skill takes no longer than this, s of the robot's time."""
_KEPT_S = 600.0
"""What was seen so long ago is not reported as seen any more, s."""
_JUST_S = 0.5
"""A report that is no older than this is of now; so long a thing may fall, s."""
_FEEL_S = 1.0
"""So long fingers take to close on what is in the hand, or on nothing, s."""
_OF_MOTION = OF_FRONT | {SWITCH}
"""Attributes for the arm alone, which a memory need not keep."""


class SkillStation:
    """Begins skills, and knows what is in the hand between them.

    Attributes:
        context: of the arm.
        run: the skill that is being done, or was last; None before the first.
        wrong: what was wrong with the newest detections, in one line; empty for nothing.
    """

    def __init__(
        self, context: SkillContext, ways: Mapping[str, SkillWay] | None = None, seconds: float = SKILL_S
    ) -> None:
        """Take the arm.

        Args:
            context: of the arm; its scene is kept up to date by the caller.
            ways: by which way each skill is done.
            seconds: that a skill may take, of the robot's time.
        """
        self.context, self._ways, self._seconds = context, ways, seconds
        self.run: SkillRun | None = None
        self.wrong = ""
        self._fresh, self._unsure = True, False

    def begin(self, call: Call) -> SkillRun:
        """Begin a skill; a call that is none, or that this arm cannot do, is over at once."""
        context = self.context
        if self._unsure:
            context.unknown, self._unsure = True, False
        self._recognize()
        try:
            skill = begin_skill(call, context, self._ways)
        except SkillError as failure:
            self.run = SkillRun(_nothing(), context, 1)
            self.run.outcome = SkillOutcome.of(failure)
            return self.run
        if context.unknown:
            skill = _feeling_first(context, skill)
        self.run = SkillRun(skill, context, context.steps(self._seconds))
        return self.run

    def advance(
        self, reading: ArmReading, horizon: int, newest: Callable[[], ArmReading] | None = None
    ) -> tuple[Vector, Vector]:
        """Go on with the skill that is being done, if one is, and return set-points from a reading of the arm on.

        Args:
            reading: of the arm; one that is older than another before it counts as that one.
            horizon: how many set-points.
            newest: returns the reading at which a path that had to be planned begins; None: the same one.

        Returns:
            From `context.arm` on, angles (horizon, N), rad, and widths between the fingers (horizon,), m.
        """
        context, run = self.context, self.run
        if self._fresh:
            amid = reading.step > LONGEST_GAP
            context.unknown = amid and _may_hold(context, reading)
            self._unsure = not amid and _may_hold(context, reading)  # fingers do not move before a skill is asked for
        if not self._fresh and reading.step < context.arm.step:  # it waited while a way was planned: time went on
            reading = context.arm
        if self._fresh or (context.sent is not None and reading.step - context.arm.step > LONGEST_GAP and _idle(run)):
            context.sent, self._fresh = reading.joints.copy(), False  # it may have been moved meanwhile
        if run is None:
            context.take(reading)
            return np.tile(context.posture, (horizon, 1)), np.full(horizon, context.kept_width)
        run.advance(reading)
        if newest is not None:
            run.start_at(newest())
        return run.set_points(horizon)

    def seen(self) -> tuple[ObservedThing, ...]:
        """Return what is in sight, with the worktop that the arm stands on and what is in the hand.

        What fell out of the hand and was not seen since is reported as `DROPPED`.
        """
        self._recognize()
        return (self._worktop(), *map(self._observed, self._in_sight()))

    def _recognize(self) -> None:
        """Find out what is in the hand since before this began, or is reported with another id now, by what is seen."""
        context, held = self.context, self.context.held
        since_s = context.scene.now_s - _JUST_S
        if held is None and not context.unknown:
            return
        if held is not None and (held.raised or held.turned or context.seen_since(held.thing.object_id, since_s)):
            return
        tool = context.paths.tool_at(context.arm.joints)
        things = [each for each in context.scene.all() if is_carried(each.object_type)]
        found = between_fingers(things, tool.position, yaw_of(tool), context.arm.width, since_s)
        if found is None:
            return
        if held is not None:
            context.scene.same(found.thing.object_id, held.thing)
        else:
            context.held, context.unknown = found, False

    def _in_sight(self) -> Iterable[PerceivedThing]:
        scene = self.context.scene
        held = self.context.held_id
        for each in scene.all():
            shown = scene.now_s - each.seen_s < _KEPT_S and not scene.is_shut_in(each)
            if shown or each.object_id == held or self._is_lost(each):
                yield each

    def _is_lost(self, thing: PerceivedThing) -> bool:
        """Return whether a thing fell out of the hand and was not seen since."""
        dropped = self.context.dropped
        if dropped is None or dropped.object_id != thing.object_id:
            return False
        return thing.seen_s <= dropped.dropped_s + _JUST_S or self.context.scene.is_shut_in(thing)

    def _observed(self, thing: PerceivedThing) -> ObservedThing:
        movable = is_carried(thing.object_type)
        relation, container = thing.container
        held = self.context.held
        if held is not None and held.thing.object_id == thing.object_id:
            relation, container = HELD, ""
        elif self._is_lost(thing):
            relation, container = DROPPED, ""
        elif not movable:
            relation, container = relation or "stands", container
        elif not container:
            relation, container = "on", SURFACE
        x, y, z = thing.position.tolist()
        wide, deep, high = thing.extent.tolist()
        return ObservedThing(
            object_type=thing.object_type,
            object_id=thing.object_id,
            position=(x, y, z),
            size=(wide, deep, high),
            state=thing.state,
            attributes={name: text for name, text in thing.attributes.items() if name not in _OF_MOTION},
            relation=relation,
            container=container,
            area=AREA,
            movable=movable,
            confidence=thing.confidence,
        )

    def _worktop(self) -> ObservedThing:
        reach = self.context.reach
        return ObservedThing(
            SURFACE, SURFACE, (reach / 2, 0.0, -0.01), (reach, 2 * reach, 0.02), "", {}, "stands", "", AREA, False
        )


def _may_hold(context: SkillContext, reading: ArmReading) -> bool:
    """Return whether a hand may hold something as this begins: its fingers are neither open nor closed."""
    return LEAST_M < reading.width < context.opening - LEAST_M


def _feeling_first(context: SkillContext, skill: Skill) -> Skill:
    """Return a skill before which the fingers close: they meet where nothing is between them."""
    yield HoldStage("feel", context.steps(_FEEL_S), lambda: not context.unknown, width=0.0)
    return (yield from skill)


def _idle(run: SkillRun | None) -> bool:
    return run is None or run.outcome is not None


def workplace_map(reach: float = 0.7) -> NavigationMap:
    """Return where an arm that stands still can go: nowhere but its one area."""
    return NavigationMap([Area(AREA, "floor_1", (reach / 2, 0.0, 0.0), {}, AREA)])


def posture_with(joints: Iterable[float], gripper: int, width: float) -> list[float]:
    """Return the positions of all joints, rad and m, for angles of the arm and a width shared by the fingers."""
    return [*joints, *([width / gripper] * gripper)]


def _nothing() -> Skill:
    yield from ()
    return ""
