"""What every skill works with: the arm, what is perceived, paths, and what is in the hand."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from kc_vla.skills.boxes import UprightBox, named_obstacles
from kc_vla.skills.hands import SLOW
from kc_vla.skills.held_thing import DroppedThing, HeldThing
from kc_vla.skills.interface import ArmPath, ArmReading, BlockedStartError, HoldStage, SkillError, Step, Vector
from kc_vla.skills.missed_grasps import MissedGrasps
from kc_vla.skills.perceived import PerceivedThing
from kc_vla.skills.perceived_scene import PerceivedScene
from kc_vla.skills.tool_path import PathMaker, ToolPose

FRESH_S = 4.0
"""A skill waits so long for a report that is new, s."""
_UNSEEN_LOOKS, _UNSEEN_S = 6, 1.0
"""What so many reports in so long do not show is not seen from here, s."""
LEAST_M = 0.004
"""Fingers that are closer together than this have nothing between them, m."""
_HELD_SHARE = 0.3
"""Fingers that are closer together than this share of the width of a thing do not hold it."""
_MOVED_M = 0.04
"""What is seen no further than this from where it was has not been taken, m."""
_SETTLE_S = 0.25
"""The arm is behind its set-points by so much, s."""
_OUT_M = ((0.0, 0.1), (0.1, 0.05), (0.0, 0.2))
"""A hand that is in something, as far as is seen, first goes so far towards the base's axis and up, m ..."""
_BACK_S, _MOST_BACK_S = 1.0, 6.0
"""... or back the way it came, by one or more of the first and no more than the second, s."""
_LEAST_WAY_M = 1e-3
_STOOD_RAD = 1e-3
"""An arm whose joints moved no further than this stood still, rad."""
_EMPTY_S = 0.1
"""The hand is empty once nothing was between its fingers for so long, s."""


@dataclass
class SkillContext:
    """What a skill works with. `SkillRun` keeps `arm` at the newest reading.

    Attributes:
        arm: the arm now.
        scene: what is perceived.
        paths: makes paths.
        opening: of the gripper when it is wide open, m.
        rate: control steps a second, Hz.
        reach: of the arm from the axis of its base over the surface, m.
        held: what is in the hand; None for nothing, or where it is not known what.
        unknown: something is in the hand, and it is not known what.
        dropped: what fell out of the hand last; None where nothing did.
        sent: joint angles (N,) that were sent last, rad; None where nothing was sent yet.
        stops: how far each drawer was seen open after it was pulled as far as that goes, m, by its id.
        missed: grasps that took nothing.
        keep_clear: nothing is put down on the surface in these boxes: something is about to move there.
    """

    arm: ArmReading
    scene: PerceivedScene
    paths: PathMaker
    opening: float
    rate: float
    reach: float = 0.7
    held: HeldThing | None = None
    unknown: bool = False
    dropped: DroppedThing | None = None
    sent: Vector | None = None
    stops: dict[str, float] = field(default_factory=dict)
    missed: MissedGrasps = field(default_factory=MissedGrasps)
    keep_clear: Sequence[UprightBox] = ()
    _came: deque[tuple[int, Vector]] = field(default_factory=deque)
    _empty_since: int | None = None

    def take(self, reading: ArmReading) -> None:
        """Take in a reading of the arm, and note where what was in the hand is not between the fingers any more."""
        self.arm = reading
        if not self._came or np.abs(self._came[-1][1] - reading.joints).max() > _STOOD_RAD:
            self._came.append((reading.step, reading.joints))
            while len(self._came) > self.steps(_MOST_BACK_S) or reading.step < self._came[0][0]:
                self._came.popleft()
        if self.grips or not self.keeps_grip:
            self._empty_since = None
        elif self._empty_since is None:
            self._empty_since = reading.step
        elif reading.step - self._empty_since >= self.steps(_EMPTY_S):
            self.drop()

    def drop(self) -> None:
        """Note that the hand is empty: what it held fell out."""
        if self.held is not None:
            self.dropped = DroppedThing(self.held.thing.object_id, self.scene.now_s)
        self.held, self.unknown, self._empty_since = None, False, None

    def need_known_hand(self) -> None:
        """Check that what is in the hand is known.

        Raises:
            SkillError: it is not.
        """
        if self.unknown:
            raise SkillError("something is in the hand, and it is not known what: take it out of the fingers by hand")

    @property
    def tool(self) -> ToolPose:
        """Return where the tool was sent last, or is where nothing was sent yet."""
        return self.paths.tool_at(self.posture)

    @property
    def posture(self) -> Vector:
        """Return the joint angles (N,) that were sent last, rad: a path begins there."""
        return self.arm.joints if self.sent is None else self.sent

    @property
    def held_id(self) -> str | None:
        """Return the id of what is in the hand, empty for nothing; None where that is not known."""
        if self.unknown:
            return None
        return "" if self.held is None else self.held.thing.object_id

    @property
    def held_ids(self) -> tuple[str, ...]:
        """Return the id of what is in the hand, if that is known: nothing forgets it, and no way keeps clear of it."""
        return () if self.held is None else (self.held.thing.object_id,)

    @property
    def keeps_grip(self) -> bool:
        """Return whether the fingers have to stay closed on what is in the hand."""
        return self.held is not None or self.unknown

    @property
    def kept_width(self) -> float:
        """Return how wide the fingers stay where nothing moves them, m: closed on what is in the hand."""
        return 0.0 if self.keeps_grip else self.arm.width

    @property
    def now_s(self) -> float:
        """Return the time of the newest that is known, s: a later report was made after the arm was where it is."""
        return max(self.scene.now_s, self.arm.stamp_s)

    @property
    def grips(self) -> bool:
        """Return whether something is between the fingers."""
        return self.arm.width > LEAST_M

    def holds(self, across: float) -> bool:
        """Return whether what is between the fingers can be a thing that is so wide, m."""
        return self.grips and self.arm.width > _HELD_SHARE * across

    def is_still_there(self, thing: PerceivedThing, since_s: float) -> bool:
        """Return whether a thing is reported after a stamp, s, where it was before.

        A report that is older than that may show how it was lifted.
        """
        seen = self.seen_since(thing.object_id, since_s)
        return seen is not None and bool(np.linalg.norm(seen.position - thing.position) < _MOVED_M)

    def along(self, stage: str, joints: Vector, width: float, slack: float = 0.35) -> ArmPath:
        """Return a step along set-points (T, N), rad, with so much between the fingers, m."""
        return ArmPath(stage, joints, np.full(len(joints), width), slack)

    def straight(self, stage: str, poses: list[ToolPose], width: float, speed: float, slack: float = 0.35) -> ArmPath:
        """Return a step of the tool along straight lines from where it was sent last; `speed` in m/s."""
        return self.along(stage, self.paths.straight(self.posture, poses, speed), width, slack)

    def free(
        self,
        stage: str,
        pose: ToolPose,
        width: float,
        around: Sequence[tuple[str, UprightBox]] | None = None,
        then: Sequence[ToolPose] = (),
    ) -> ArmPath:
        """Return a step to a pose by any way that is free, with what is in the hand.

        Args:
            stage: of the skill.
            pose: at the end of the way.
            width: between the fingers, m.
            around: boxes that the way keeps clear of; None: those of all that was perceived.
            then: where the tool goes on to in straight lines, one after the other.
        """
        self._avoid(self._obstacles() if around is None else around, width)
        try:
            return self.along(stage, self.paths.free(self.posture, pose, then), width)
        except BlockedStartError:
            return self.along(stage, self._from_within(pose, then), width)

    def _from_within(self, pose: ToolPose, then: Sequence[ToolPose]) -> Vector:
        """Return set-points (T, N) to a pose, rad, that first lead the arm out of what it seems to be in.

        Raises:
            SkillError: no way out is known, or there is no free way from there.
        """
        failure = SkillError("the arm cannot get out of what it seems to be in")
        for out in self._ways_out():
            try:
                way = self.paths.straight(self.posture, [out], SLOW) if isinstance(out, ToolPose) else out
            except SkillError:
                continue
            try:
                return np.concatenate([way, self.paths.free(way[-1], pose, then)])
            except BlockedStartError as error:
                failure = error
        raise failure

    def _ways_out(self) -> Iterator[ToolPose | Vector]:
        """Yield poses to go to straight, then set-points (T, N), rad, that lead back the way the arm came."""
        tool = self.tool
        axis = float(np.linalg.norm(tool.position[:2]))
        for inwards, up in _OUT_M:
            x, y = -min(inwards / max(axis, inwards, _LEAST_WAY_M), 1.0) * tool.position[:2]
            yield tool.moved(x, y, up)
        back, step = self._way_back(), self.steps(_BACK_S)
        for count in range(step, len(back) + step, step):
            yield back[:count]

    def _way_back(self) -> Vector:
        """Return set-points (T, N), rad, that lead the arm back the way it came, as fast as it came."""
        before = list(self._came)[::-1]
        passed = [min(after[0] - each[0], self.steps(_BACK_S)) for after, each in pairwise(before)]
        at, joints = np.cumsum([0, *passed]), np.array([each[1] for each in before])
        steps = np.arange(1, at[-1] + 1) if passed else np.zeros(1)
        return np.column_stack([np.interp(steps, at, each) for each in joints.T])

    def clear(
        self,
        stage: str,
        start: Vector,
        poses: Sequence[ToolPose],
        width: float,
        speed: float,
        around: Sequence[tuple[str, UprightBox]],
        touch: Collection[str] = (),
    ) -> ArmPath:
        """Return a step of the tool along straight lines on which the arm touches no box but those of `touch`.

        Args:
            stage: of the skill.
            start: joint angles (N,) at its beginning, rad.
            poses: where the tool goes, one after the other.
            width: between the fingers, m.
            speed: of the tool, m/s.
            around: boxes, each with the id of its thing.
            touch: ids of the things that the hand may touch.

        Raises:
            SkillError: the arm cannot go so.
        """
        self._avoid(around, width)
        return self.along(stage, self.paths.clear(start, poses, speed, touch), width)

    def _avoid(self, boxes: Sequence[tuple[str, UprightBox]], width: float) -> None:
        held = self.held
        self.paths.avoid(boxes, held, width if held is None else held.width)

    def _obstacles(self) -> list[tuple[str, UprightBox]]:
        return named_obstacles(self.scene, self.held_ids)

    def fingers(self, stage: str, width: float, seconds: float = 0.6) -> HoldStage:
        """Return a step in which the fingers move and the arm stays."""
        return HoldStage(stage, self.steps(seconds), width=width)

    def settled(self, stage: str = "settle") -> HoldStage:
        """Return a step in which the arm catches up with its set-points."""
        return HoldStage(stage, self.steps(_SETTLE_S))

    def steps(self, seconds: float) -> int:
        """Return a time in control steps, 1 or more."""
        return max(1, round(seconds * self.rate))

    def look(self, enough: Callable[[float], bool], seconds: float = FRESH_S) -> Generator[Step, None, float]:
        """Yield a step that waits for reports that are new, and return the stamp that they are newer than, s.

        It ends when they show enough, and after several that do not.

        Args:
            enough: whether what was reported after a stamp (s) is enough to go on.
            seconds: to wait at most.

        Raises:
            SkillError: nothing at all was reported meanwhile.
        """
        yield self.settled("look")
        since_s, began = self.now_s, self.arm.step

        def is_over() -> bool:
            reports = self.scene.reports_since(since_s)
            waited = self.arm.step - began
            unseen = reports >= _UNSEEN_LOOKS and waited >= self.steps(_UNSEEN_S)
            return unseen or (reports > 0 and enough(since_s))

        yield HoldStage("look", self.steps(seconds), is_over)
        if self.scene.now_s <= since_s:
            raise SkillError(
                f"perception has reported nothing for {seconds:g} s: is the node of the detector alive, and does it "
                "see its cameras?"
            )
        return since_s

    def look_for(self, object_id: str, seconds: float = FRESH_S) -> Generator[Step, None, float]:
        """Yield a step that waits until a thing is reported anew, or was not for so long; see `look`."""
        return self.look(lambda since_s: self.seen_since(object_id, since_s) is not None, seconds)

    def seen_since(self, object_id: str, stamp_s: float) -> PerceivedThing | None:
        """Return a thing that was reported after a stamp, s; None where it was not."""
        found = self.scene.find(object_id)
        return found if found is not None and found.seen_s > stamp_s else None
