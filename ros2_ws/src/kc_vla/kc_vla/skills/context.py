"""What every skill works with: the arm, what is perceived, paths, and what is in the hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from kc_vla.skills.boxes import named_obstacles
from kc_vla.skills.held_thing import HeldThing
from kc_vla.skills.interface import ArmPath, ArmReading, HoldStage, SkillError, Step, Vector
from kc_vla.skills.perceived import PerceivedScene, PerceivedThing
from kc_vla.skills.tool_path import PathMaker, ToolPose

FRESH_S = 4.0
"""A skill waits so long for a report that is new, s."""
_TIPS_M = 0.004
"""Fingers that are closer together than this have nothing between them, m."""
_SETTLE_S = 0.25
"""The arm is behind its set-points by so much, s."""


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
        held: what is in the hand; None for nothing.
        sent: joint angles (N,) that were sent last, rad; None where nothing was sent yet.
    """

    arm: ArmReading
    scene: PerceivedScene
    paths: PathMaker
    opening: float
    rate: float
    reach: float = 0.7
    held: HeldThing | None = None
    sent: Vector | None = None

    @property
    def tool(self) -> ToolPose:
        """Return where the tool was sent last, or is where nothing was sent yet."""
        return self.paths.tool_at(self.posture)

    @property
    def posture(self) -> Vector:
        """Return the joint angles (N,) that were sent last, rad: a path begins there."""
        return self.arm.joints if self.sent is None else self.sent

    @property
    def grips(self) -> bool:
        """Return whether something is between the fingers."""
        return self.arm.width > _TIPS_M

    def along(self, stage: str, joints: Vector, width: float, slack: float = 0.35) -> ArmPath:
        """Return a step along set-points (T, N), rad, with so much between the fingers, m."""
        return ArmPath(stage, joints, np.full(len(joints), width), slack)

    def straight(self, stage: str, poses: list[ToolPose], width: float, speed: float, slack: float = 0.35) -> ArmPath:
        """Return a step of the tool along straight lines from where it was sent last; `speed` in m/s."""
        return self.along(stage, self.paths.straight(self.posture, poses, speed), width, slack)

    def free(self, stage: str, pose: ToolPose, width: float) -> ArmPath:
        """Return a step to a pose by any way that is free of what was perceived."""
        inside = set() if self.held is None else {self.held.thing.object_id}
        self.paths.avoid(named_obstacles(self.scene, inside), self.held, width)
        return self.along(stage, self.paths.free(self.posture, pose), width)

    def fingers(self, stage: str, width: float, seconds: float = 0.6) -> HoldStage:
        """Return a step in which the fingers move and the arm stays."""
        return HoldStage(stage, self.steps(seconds), width=width)

    def settled(self, stage: str = "settle") -> HoldStage:
        """Return a step in which the arm catches up with its set-points."""
        return HoldStage(stage, self.steps(_SETTLE_S))

    def steps(self, seconds: float) -> int:
        """Return a time in control steps, 1 or more."""
        return max(1, round(seconds * self.rate))

    def look(self, enough: Callable[[float], bool], seconds: float = FRESH_S) -> Iterator[Step]:
        """Yield a step that waits for reports that are new.

        Args:
            enough: whether what was reported after a stamp (s) is enough to go on.
            seconds: to wait at most.

        Raises:
            SkillError: nothing at all was reported meanwhile.
        """
        yield self.settled("look")
        since_s = self.scene.now_s
        yield HoldStage("look", self.steps(seconds), lambda: self.scene.now_s > since_s and enough(since_s))
        if self.scene.now_s <= since_s:
            raise SkillError(
                f"perception has reported nothing for {seconds:g} s: is the node of the detector alive, and does it "
                "see its cameras?"
            )

    def look_for(self, object_id: str, seconds: float = FRESH_S) -> Iterator[Step]:
        """Yield a step that waits until a thing is reported anew, or was not for so long."""
        return self.look(lambda since_s: self.seen_since(object_id, since_s) is not None, seconds)

    def seen_since(self, object_id: str, stamp_s: float) -> PerceivedThing | None:
        """Return a thing that was reported after a stamp, s; None where it was not."""
        found = self.scene.find(object_id)
        return found if found is not None and found.seen_s > stamp_s else None
