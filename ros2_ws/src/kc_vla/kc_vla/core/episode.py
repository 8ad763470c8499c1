"""An episode as every node sees it: which one it is and which frame a time stamp belongs to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Episode:
    """One run of a task.

    Attributes:
        id: unique within a run of the stack.
        task: name in the task table.
        instruction: instruction of the policy.
        start_ns: stamp of frame 0, ns of ROS time.
        period_ns: time between two frames, ns.
        running: False once the result is known; everything holds then.
        seed: seed of the simulator, 0 on a real robot.
        variant: of the simulator's task; empty on a real robot.
    """

    id: str
    task: str
    instruction: str
    start_ns: int
    period_ns: int
    running: bool
    seed: int = 0
    variant: str = ""

    def frame_of(self, stamp_ns: int) -> int:
        """Return the frame index nearest to a stamp; negative for one from over half a period before frame 0."""
        return round((stamp_ns - self.start_ns) / self.period_ns)


def start_in_step(earliest_ns: int, seen_ns: int, period_ns: int) -> int:
    """Return when an episode can begin, from `earliest_ns` on, so that no camera's image falls between two frames.

    Args:
        earliest_ns: ns of ROS time.
        seen_ns: stamp of any image; the camera gives one each period.
        period_ns: time between two frames, ns.

    Returns:
        stamp of frame 0: each image comes a quarter of a period after the stamp of its frame, so that neither the
        first one lies before the episode nor the camera's jitter gives one frame two images and the next none.
    """
    return earliest_ns + (seen_ns - period_ns // 4 - earliest_ns) % period_ns
