"""An episode as every node sees it: which one it is and which frame a time stamp belongs to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Episode:
    """One run of a task.

    Attributes:
        id: unique within a run of the stack.
        task: name in the task table.
        instruction: what the policy is told.
        start_ns: stamp of frame 0, ns of ROS time.
        period_ns: time between two frames, ns.
        running: False once the result is known; everything holds then.
        seed: seed of the simulator, 0 on a real robot.
    """

    id: str
    task: str
    instruction: str
    start_ns: int
    period_ns: int
    running: bool
    seed: int = 0

    def frame_of(self, stamp_ns: int) -> int:
        """Return the frame index nearest to a stamp; negative for one from over half a period before frame 0."""
        return round((stamp_ns - self.start_ns) / self.period_ns)
